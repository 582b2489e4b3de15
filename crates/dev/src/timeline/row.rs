use super::escalation::escalated;
use crate::console::{approval, problem};
use agents_core::{
    escalation::EscalationReceipt,
    model::Usage,
    run::{RepairKind, Timestamp, ToolEnvelope},
    screen::{shorten, shown},
};

/// Line of a timeline: one step of a run.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Place of the step in the run.
    pub(super) place: String,
    pub(super) depth: usize,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) start: Timestamp,
    /// End of the step; `None` while it is in progress.
    pub(super) end: Option<Timestamp>,
    /// Facts about the step beside its result, such as `cached`; shown in parentheses.
    pub(super) facts: Vec<String>,
    /// Result of the step in words, or its current activity.
    pub(super) note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Agent,
    Turn,
    Call,
    /// A step of any kind that has failed.
    Failed,
}

/// Note on a turn whose answer was used.
pub(super) const ANSWERED: &str = "answered";
/// Note on a turn whose answer was refused.
pub(super) const REFUSED: &str = "refused";

/// Returns `true` if the first place of a run lies within the second.
pub(super) fn within(inner: &str, outer: &str) -> bool {
    match inner.strip_prefix(outer) {
        Some(rest) => rest.starts_with(['/', '.']) || (outer.is_empty() && !rest.is_empty()),
        None => false,
    }
}

/// Returns the skill that took the work over at this place after an escalation; `None` if none did.
fn taken_over_by(place: &str) -> Option<&str> {
    let last = place.rsplit('/').next()?;
    let (skill, _nth) = last.strip_prefix("skill:")?.rsplit_once('.')?;
    Some(skill)
}

impl Row {
    /// Returns `true` if this row is a turn of the agent at this place.
    pub(super) fn is_turn_of(&self, place: &str) -> bool {
        let turn = self.place.strip_prefix(place);
        turn.is_some_and(|rest| rest.starts_with("/turn") && !rest[1..].contains('/'))
    }

    pub(super) fn agent(place: &str, depth: usize, name: &str, start: Timestamp) -> Row {
        match taken_over_by(place) {
            Some(skill) => Row::new(
                Kind::Agent,
                place,
                depth,
                &format!("{name}: {skill}"),
                start,
            ),
            None => Row::new(Kind::Agent, place, depth, name, start),
        }
    }

    pub(super) fn turn(
        place: &str,
        depth: usize,
        model: &str,
        choosing: bool,
        start: Timestamp,
    ) -> Row {
        match choosing {
            true => Row::new(
                Kind::Turn,
                place,
                depth,
                &format!("{model} chooses a skill"),
                start,
            ),
            false => Row::new(Kind::Turn, place, depth, model, start),
        }
    }

    pub(super) fn call(place: &str, depth: usize, tool: &str, start: Timestamp) -> Row {
        Row::new(Kind::Call, place, depth, tool, start)
    }

    fn new(kind: Kind, place: &str, depth: usize, name: &str, start: Timestamp) -> Row {
        Row {
            place: place.to_owned(),
            depth,
            kind,
            name: shown(name).into_owned(),
            start,
            end: None,
            facts: Vec::new(),
            note: String::new(),
        }
    }

    pub(super) fn done(mut self, ok: bool) -> Row {
        self.note.clear();
        if !ok {
            self.kind = Kind::Failed;
            self.note = "no answer".to_owned();
        }
        self
    }

    /// Marks the row's answer as partial (incomplete), if it is and the row has not failed.
    pub(super) fn partial(mut self, partial: bool) -> Row {
        if partial && self.kind != Kind::Failed {
            self.facts = vec!["partial".to_owned()];
        }
        self
    }

    /// Sets the reason why the agent of this row gave no answer. Has no effect on a row that has not failed.
    pub(super) fn because(mut self, why: String) -> Row {
        if self.kind == Kind::Failed {
            self.note = why;
        }
        self
    }

    /// Adds the model's reply to the row of a turn; `calls` is `None` if the model did not reply and will not.
    pub(super) fn replied(mut self, calls: Option<usize>, usage: Usage) -> Row {
        self.note = match calls {
            None => {
                self.kind = Kind::Failed;
                "did not answer".to_owned()
            }
            Some(0) => ANSWERED.to_owned(),
            Some(1) => "1 call".to_owned(),
            Some(calls) => format!("{calls} calls"),
        };
        if usage.tokens() > 0 {
            self.facts = vec![format!("{} tokens", usage.tokens())];
        }
        self
    }

    /// Adds a note to the row of a turn: what became of the model's answer.
    pub(super) fn answer(mut self, became: &str) -> Row {
        became.clone_into(&mut self.note);
        self
    }

    /// Fills the row of a call from its receipt. `escalations` are the receipts of the run's settled escalations.
    pub(super) fn settled(
        mut self,
        receipt: &ToolEnvelope,
        escalations: &[EscalationReceipt],
    ) -> Row {
        let input = shorten(receipt.input.as_str(), 40);
        self.note = match (&receipt.output, &receipt.error) {
            (Some(output), None) => format!("{input} → {}", shorten(output.as_str(), 60)),
            (_, Some(error)) => {
                self.kind = Kind::Failed;
                match escalated(error, escalations) {
                    Some(escalated) => escalated,
                    None => format!("{input} → {}", problem(error)),
                }
            }
            (None, None) => input,
        };
        self.facts.clear();
        let mut fact = |said: bool, what: String| {
            if said {
                self.facts.push(what);
            }
        };
        fact(receipt.cached, "cached".into());
        fact(receipt.truncated, "cut".into());
        fact(receipt.is_partial(), "partial".into());
        let attempts = receipt.attempts.len();
        fact(attempts > 1, format!("{attempts} attempts"));
        let approval = approval(receipt);
        fact(approval.is_some(), approval.unwrap_or_default());
        let mut changes = receipt.repairs.iter();
        let is_repaired = changes.any(|change| change.kind != RepairKind::Tried);
        fact(is_repaired, "repaired".into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn places_within_each_other() {
        assert!(within("/call0001", ""));
        assert!(within("/call0001.01/agent#ab.01/turn0001", "/call0001"));
        assert!(within("/agent#ab.01/call0000", "/agent#ab.01"));
        assert!(!within("", "") && !within("/call0001", "/call0001"));
        assert!(!within("/call00010", "/call0001"));
    }
}
