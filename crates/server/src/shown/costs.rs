//! Costs: the sums of the log of usage.

use super::models::plane;
use crate::{
    failure::Failure,
    inert,
    room::{Room, Visitor},
    wording,
};
use agents_control::{ControlPlane, UsageBy, UsageFilter, UsageSum};
use agents_core::run::{Cost, Timestamp};
use serde::{Deserialize, Serialize};

/// Number of days that are summed up if no first day is named.
const DAYS: u64 = 30;
/// Number of rows that a page of the costs shows.
const ROWS: u32 = 500;

/// Values by which costs are summed up: the word in the query, and the name for people.
pub(crate) const KINDS: [(&str, &str); 6] = [
    ("day", "Day"),
    ("agent", "Agent"),
    ("purpose", "Purpose"),
    ("model", "Model"),
    ("tenant", "Tenant"),
    ("run", "Run"),
];

#[derive(Default, Deserialize)]
pub(crate) struct Choice {
    /// Word for the value that costs are summed up by.
    by: Option<String>,
    /// First day that is summed up, such as `2026-11-25`.
    since: Option<String>,
    /// Tenant whose costs an operator asks for; all tenants if it is missing.
    tenant: Option<String>,
    purpose: Option<String>,
    limit: Option<u32>,
}

/// Sums of the costs, with their total.
#[derive(Serialize)]
pub(crate) struct Costs {
    pub(crate) by: &'static str,
    pub(crate) since: String,
    pub(crate) tenant: Option<String>,
    pub(crate) purpose: Option<String>,
    pub(crate) rows: Vec<Row>,
    /// Is `true` if there are more rows than these, which are left out.
    pub(crate) more: bool,
    pub(crate) total: Row,
}

/// Row of the costs: the sum of the requests to models that have one value in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    /// Value that the requests of the row have in common; empty for requests without one.
    pub(crate) of: String,
    pub(crate) calls: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost_nanos: u64,
    /// Number of requests of the row whose cost is not known.
    pub(crate) unpriced: u64,
}

impl From<UsageSum> for Row {
    fn from(sum: UsageSum) -> Self {
        Row {
            of: sum.of,
            calls: sum.call_count,
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            cost_nanos: sum.cost_nanos,
            unpriced: sum.unpriced,
        }
    }
}

fn kind(word: Option<&str>) -> Result<(&'static str, UsageBy), Failure> {
    Ok(match word.unwrap_or("day") {
        "" | "day" => ("day", UsageBy::Day),
        "agent" => ("agent", UsageBy::Agent),
        "purpose" => ("purpose", UsageBy::Purpose),
        "model" => ("model", UsageBy::Model),
        "tenant" => ("tenant", UsageBy::Org),
        "run" => ("run", UsageBy::Run),
        other => return Err(Failure::invalid(wording::unknown_sum(other))),
    })
}

/// Returns the first day that is summed up.
fn since(word: Option<&str>) -> Result<String, Failure> {
    match word.filter(|word| !word.is_empty()) {
        Some(day) if is_day(day) => Ok(day.to_owned()),
        Some(other) => Err(Failure::invalid(wording::no_day(other))),
        None => {
            let ago = (DAYS - 1) * 86_400_000;
            let then = Timestamp::now().as_millis().saturating_sub(ago);
            Ok(Timestamp::from_millis(then).to_string()[..10].to_owned())
        }
    }
}

fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    bytes.len() == 10 && bytes.iter().enumerate().all(is_digit)
}

/// Reads the sums of the costs that a visitor has chosen.
pub(crate) async fn costs(
    room: &Room,
    visitor: &Visitor,
    choice: &Choice,
    most: Option<u32>,
) -> Result<Costs, Failure> {
    let control = plane(room)?;
    let (by, column) = kind(choice.by.as_deref())?;
    let given = |word: &Option<String>| word.clone().filter(|word| !word.is_empty());
    let tenant = visitor.tenant().or_else(|| given(&choice.tenant));
    let filter = UsageFilter {
        org_id: tenant.clone(),
        purpose: given(&choice.purpose),
        since: Some(since(choice.since.as_deref())?),
        ..UsageFilter::default()
    };
    let limit = match (most, choice.limit.unwrap_or(0)) {
        (Some(most), _) => most,
        (None, 0) => ROWS,
        (None, limit) => limit.min(10 * ROWS),
    };
    let mut rows = sums(control, &filter, column, limit.saturating_add(1)).await?;
    let more = rows.len() > limit as usize;
    // Rows that were left out count in the total.
    let parts = match more {
        true => &sums(control, &filter, UsageBy::Purpose, u32::MAX).await?,
        false => &rows,
    };
    let total = parts.iter().fold(Row::default(), |all, one| Row {
        of: String::new(),
        calls: all.calls + one.calls,
        input_tokens: all.input_tokens.saturating_add(one.input_tokens),
        output_tokens: all.output_tokens.saturating_add(one.output_tokens),
        cost_nanos: all.cost_nanos.saturating_add(one.cost_nanos),
        unpriced: all.unpriced + one.unpriced,
    });
    rows.truncate(limit as usize);
    if by == "day" {
        rows.sort_by(|a, b| b.of.cmp(&a.of));
    }
    Ok(Costs {
        by,
        since: filter.since.unwrap_or_default(),
        tenant,
        purpose: filter.purpose,
        rows,
        more,
        total,
    })
}

async fn sums(
    control: &ControlPlane,
    filter: &UsageFilter,
    by: UsageBy,
    limit: u32,
) -> Result<Vec<Row>, Failure> {
    let filter = UsageFilter {
        limit: Some(limit),
        ..filter.clone()
    };
    let sums = control.usage_sums(&filter, by).await?;
    Ok(sums.into_iter().map(Row::from).collect())
}

impl Costs {
    /// Returns the rows as CSV, below a line with the names of the columns.
    pub(crate) fn csv(&self) -> String {
        let mut text = format!(
            "{},calls,input_tokens,output_tokens,cost,unpriced\r\n",
            self.by
        );
        for row in &self.rows {
            let Row {
                of,
                calls,
                input_tokens,
                output_tokens,
                cost_nanos,
                unpriced,
            } = row;
            let (of, cost) = (cell(of), Cost::of_nanos(*cost_nanos));
            text.push_str(&format!(
                "{of},{calls},{input_tokens},{output_tokens},{cost},{unpriced}\r\n"
            ));
        }
        text
    }
}

/// Returns a text as a cell of CSV. A text that a spreadsheet would take for a formula begins with an apostrophe.
fn cell(text: &str) -> String {
    let text = inert::text(text);
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t']);
    let text = if is_formula { format!("'{text}") } else { text };
    match text.contains(['"', ',', '\n', '\r']) || is_formula {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_cell_and_no_formula() {
        for (text, expect) in [
            ("acme", "acme"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("=HYPERLINK(1)", "\"'=HYPERLINK(1)\""),
            ("-1", "\"'-1\""),
            ("\u{202e}a", "⟨U+202E⟩a"),
        ] {
            assert_eq!(cell(text), expect);
        }
    }

    #[test]
    fn a_day_is_written_with_digits() {
        assert!(is_day("2026-11-26"));
        for text in ["2026-1-26", "26.11.2026", "2026-11-2a", ""] {
            assert!(!is_day(text), "{text}");
        }
        let day = since(None).unwrap();
        assert!(is_day(&day), "{day}");
    }
}
