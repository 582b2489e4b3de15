//! `agents audit`, `agents heads` and `agents verify`.

use super::{read, seconds};
use crate::{args::AuditArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_runtime::{AuditRecord, Head};
use agents_store::{AuditFilter, AuditKind, PLATFORM};
use std::path::Path;

/// Prints the events of the audit trail. The table has no reasons, which may be long; with `--json`, the events have
/// them. The table marks an approval with edited arguments.
pub(crate) async fn audit(
    session: &Session,
    asked: &AuditArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    if let Some(run) = asked.run.as_ref().filter(|run| *run != PLATFORM) {
        session.run(run).await?;
    }
    let audit = session.client().audit();
    let mut filter = AuditFilter {
        tenant: session.tenant.clone(),
        run: asked.run.clone(),
        after: asked.after,
        limit: 1000,
        ..AuditFilter::default()
    };
    loop {
        let page = match out.is_json() {
            // Reasons are encrypted.
            true => session.with_keys()?.audit().events(&filter).await?,
            false => audit.events(&filter).await?,
        };
        let Some(last) = page.last() else {
            return Ok(());
        };
        filter.after = last.number;
        match out.is_json() {
            true => page.iter().try_for_each(|record| out.object(record))?,
            false => print(&page, out)?,
        }
    }
}

fn print(page: &[AuditRecord], out: &mut Out) -> Result<(), Failure> {
    let mut table = Table::new(&["EVENT", "AT", "KIND", "RUN", "SEQ", "BY", "TOOL", "ABOUT"]);
    for record in page {
        let mut about = record.subject.clone().unwrap_or_default();
        if record.kind == AuditKind::Approved && record.reason.is_some() {
            about += crate::wording::EDITED;
        }
        table.row([
            &record.number.to_string(),
            &seconds(record.at),
            record.kind.as_str(),
            &record.run_id,
            &record.seq.to_string(),
            record.actor.as_deref().unwrap_or_default(),
            record.tool_name.as_deref().unwrap_or_default(),
            &about,
        ]);
    }
    table.print(out)
}

/// Prints the last event of each run's audit trail as lines of JSON, which `agents verify --heads` reads.
pub(crate) async fn heads(session: &Session, out: &mut Out) -> Result<(), Failure> {
    let heads = session.client().audit().heads().await?;
    heads.iter().try_for_each(|head| out.object(head))
}

/// Checks the audit trail for changes. If it was changed, the command ends with the exit code 1.
pub(crate) async fn verify(
    session: &Session,
    heads: Option<&Path>,
    out: &mut Out,
) -> Result<(), Failure> {
    let audit = session.with_keys()?.audit();
    let verdict = match heads {
        None => audit.verify().await?,
        Some(path) => audit.verify_from(&heads_of(path)?).await?,
    };
    match out.is_json() {
        true => out.object(&verdict)?,
        false => verdict
            .to_string()
            .lines()
            .try_for_each(|line| out.line(line))?,
    }
    match verdict.is_intact() {
        true => Ok(()),
        false => Err(Failure::No),
    }
}

fn heads_of(path: &Path) -> Result<Vec<Head>, Failure> {
    let text = read(path)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let heads = lines.enumerate().map(|(n, line)| {
        serde_json::from_str(line).map_err(|error| crate::wording::no_head(n + 1, path, &error))
    });
    heads.collect()
}
