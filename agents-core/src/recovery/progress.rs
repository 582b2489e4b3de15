//! How far recovery has come with one call, or with one answer: what was tried, and what is left.
//!
//! The plan is an arm's answer, written down: a stored call goes on with it and asks no arm again.
//! A *new* failure asks again; what has been spent stays spent. Where that comes to nothing, the plan before
//! it goes on.

use super::{Backoff, FailedRepair, FixError, FixerRef, Plan, Severity, Step, put_at};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// By whom a text was given that differs in one value.
pub(crate) const SANITIZE: &str = "sanitize";

/// By whom the text is that was to be repaired.
pub(super) const THE_MODEL: &str = "the model";

/// What is wrong with a text that was tried before.
pub(crate) const FAILED_ALREADY: &str = "this is what failed already";

/// Texts that may be tried for one call before recovery gives up on it.
const MOST_REPAIRS: usize = 8;

/// What was tried for a call, and what is being tried.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    plan: Plan,
    at: usize,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    asked: BTreeMap<String, u32>,
    /// Repair agents that cannot be asked.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unable: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tried: Vec<FailedRepair>,
    /// Which of these has failed in the way that is at hand; none if it is what the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_hand: Option<usize>,
    /// What the model wrote, and how that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Box<FailedRepair>>,
    /// Something was left untried, since there may not be more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut_short: bool,
}

/// A plan, how far it has come, and the try whose failure it deals with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    plan: Plan,
    at: usize,
    /// A run that an earlier version has stored does not say it; that is told by the version.
    #[serde(default)]
    at_hand: Option<usize>,
}

/// What recovery has to know of the failure at hand.
#[derive(Default)]
pub(crate) struct Failed<'a> {
    /// The text that failed.
    pub(crate) text: &'a str,
    /// Where in it; empty for the whole.
    pub(crate) path: &'a str,
    /// What was wrong.
    pub(crate) error: &'a str,
    /// How often the call was about to run: executions, and those that a limiter held back.
    pub(crate) rounds: u32,
    /// Running it again cannot do anything twice.
    pub(crate) repeatable: bool,
    /// It may have done already what it must not do twice, whatever the arguments.
    pub(crate) in_doubt: bool,
    /// What the failure itself says about when to come back.
    pub(crate) retry_after: Option<Duration>,
}

/// What recovery does next.
#[derive(Debug, PartialEq)]
pub(crate) enum Move {
    /// Read this text.
    Read { by: String, text: String },
    /// Ask this repair agent.
    Ask(FixerRef),
    /// Say that whoever this is, is not asked, or that this text is not used: nothing may run again.
    Withhold { by: String, text: Option<String> },
    /// Wait, and run the same call again.
    Retry(Duration),
    /// Settle it, with this hint for the model.
    Tell(String),
    /// Hand it up.
    Escalate { reason: String, severity: Severity },
    /// End the run.
    Throw(String),
    /// Nothing is left.
    Spent,
}

impl Progress {
    /// An arm has answered a new failure.
    pub(crate) fn follow(&mut self, plan: Plan, failed: &Failed<'_>) {
        self.plan = plan;
        self.at = 0;
        self.failed(failed.error);
        if self.at_hand.is_none() {
            self.written = Some(Box::new(FailedRepair {
                by: THE_MODEL.to_owned(),
                text: failed.text.to_owned(),
                error: failed.error.to_owned(),
            }));
        }
    }

    /// What was tried last, if it has not failed before, has failed for this reason.
    pub(crate) fn failed(&mut self, why: &str) {
        if let Some(last) = self.tried.last_mut()
            && last.error.is_empty()
        {
            last.error = why.to_owned();
        }
    }

    /// What an arm said of the text at hand, which a repair has given: whoever gives the next reads it there.
    pub(crate) fn remark(&mut self, said: &str) {
        let at_hand = self.at_hand.and_then(|at| self.tried.get_mut(at));
        if let Some(tried) = at_hand {
            tried.error.push_str("; ");
            tried.error.push_str(said);
        }
    }

    /// The text that was given last is the one at hand: the plan stands where it has come to, for the text before it.
    pub(crate) fn set_aside(&mut self) -> Standing {
        let at_hand = std::mem::replace(&mut self.at_hand, self.tried.len().checked_sub(1));
        Standing {
            plan: self.plan.clone(),
            at: self.at,
            at_hand,
        }
    }

    /// An earlier plan goes on where it stood.
    pub(crate) fn go_on_with(&mut self, standing: Standing) {
        let Standing { plan, at, at_hand } = standing;
        self.plan = plan;
        self.at = at;
        self.at_hand = at_hand;
    }

    /// The next step that is not spent. `chance`, from 0 to 1, places a wait within its bounds.
    pub(crate) fn next(&mut self, failed: &Failed<'_>, chance: f64) -> Move {
        while let Some(step) = self.plan.0.get(self.at).cloned() {
            if failed.in_doubt
                && let Some(withheld) = withheld(&step)
            {
                self.at += 1;
                return withheld;
            }
            let taken = match step {
                Step::Fix(text) => text.and_then(|text| self.read("fix", text, failed.text)),
                // Where no field is at fault, what is put in its place is the whole of the arguments.
                Step::Sanitize(value) => value
                    .filter(|value| !failed.path.is_empty() || value.is_object())
                    .and_then(|value| put_at(failed.text, failed.path, &value))
                    .and_then(|text| self.read(SANITIZE, text, failed.text)),
                Step::Ask { fixer, retries } => {
                    self.may_ask(&fixer, retries).then_some(Move::Ask(fixer))
                }
                Step::Retry {
                    max_attempts,
                    backoff,
                } => retry(max_attempts, backoff, failed, chance),
                Step::Feedback(hint) => Some(Move::Tell(hint)),
                Step::Escalate { reason, severity } => Some(Move::Escalate { reason, severity }),
                Step::Throw { reason } => Some(Move::Throw(reason)),
                // The layers have put the next one's steps in its place.
                Step::Inherit => None,
            };
            match taken {
                Some(next) => return next,
                None => self.at += 1,
            }
        }
        Move::Spent
    }

    /// Text that failed before is no repair: with it the call would never end.
    fn read(&mut self, by: &str, text: String, failed: &str) -> Option<Move> {
        let mut before = self.written.iter().map(|written| &**written);
        let again = text == failed
            || before.any(|written| written.text == text)
            || self.tried.iter().any(|tried| tried.text == text);
        if again || !self.may_try() {
            return None;
        }
        self.tried.push(FailedRepair {
            by: by.to_owned(),
            text: text.clone(),
            error: String::new(),
        });
        Some(Move::Read {
            by: by.to_owned(),
            text,
        })
    }

    fn may_ask(&mut self, fixer: &FixerRef, retries: u32) -> bool {
        self.asked(fixer.name()) < retries && !self.unable.contains(fixer.name()) && self.may_try()
    }

    /// Whether there may be one more. That there may not is remembered: somebody is to be told.
    fn may_try(&mut self) -> bool {
        let may = self.tried.len() < MOST_REPAIRS;
        self.cut_short |= !may;
        may
    }

    /// What is told where something was left untried.
    pub(crate) fn cut_short(&self) -> Option<String> {
        self.cut_short.then(|| {
            format!("{MOST_REPAIRS} repairs were tried, and there may not be more of them")
        })
    }

    /// How often this repair agent has been asked.
    pub(crate) fn asked(&self, fixer: &str) -> u32 {
        self.asked.get(fixer).copied().unwrap_or(0)
    }

    /// A repair agent was asked and gave this text: whether it can be read.
    pub(crate) fn answered(&mut self, fixer: &str, text: String, failed: &str) -> Option<Move> {
        *self.asked.entry(fixer.to_owned()).or_default() += 1;
        let next = self.read(fixer, text.clone(), failed);
        if next.is_none() && self.tried.len() < MOST_REPAIRS {
            self.tried.push(FailedRepair {
                by: fixer.to_owned(),
                text,
                error: FAILED_ALREADY.to_owned(),
            });
        }
        next
    }

    /// A repair agent was asked and gave no text: that uses up a try. One that could not even be asked has
    /// tried nothing, and is not asked again.
    pub(crate) fn gave_none(&mut self, fixer: &str, why: &FixError) {
        let error = match why {
            FixError::Unable(_) => {
                self.unable.insert(fixer.to_owned());
                return;
            }
            FixError::Failed(reason)
            | FixError::Escalated { reason, .. }
            | FixError::Thrown(reason) => reason.clone(),
        };
        *self.asked.entry(fixer.to_owned()).or_default() += 1;
        self.tried.push(FailedRepair {
            by: fixer.to_owned(),
            text: String::new(),
            error,
        });
    }

    /// What failed before the text at hand: what the model wrote, and what was tried since.
    pub(crate) fn before(&self) -> Vec<FailedRepair> {
        let written = self.written.as_deref().filter(|_| self.at_hand.is_some());
        let tried = self.tried.iter().enumerate();
        let others = tried.filter(|(at, _)| Some(*at) != self.at_hand);
        let others = others.map(|(_, tried)| tried);
        written.into_iter().chain(others).cloned().collect()
    }

    /// What was tried so far.
    pub(crate) fn tried(&self) -> &[FailedRepair] {
        &self.tried
    }

    /// How many tries repair agents have had.
    pub(crate) fn tries(&self) -> u32 {
        self.asked.values().sum()
    }
}

/// What a step would give for another execution, if that is what it does with other arguments.
fn withheld(step: &Step) -> Option<Move> {
    let (by, text) = match step {
        Step::Fix(Some(text)) => ("fix", Some(text.clone())),
        Step::Ask { fixer, .. } => (fixer.name(), None),
        _ => return None,
    };
    let by = by.to_owned();
    Some(Move::Withhold { by, text })
}

fn retry(max_attempts: u32, backoff: Backoff, failed: &Failed<'_>, chance: f64) -> Option<Move> {
    if failed.rounds >= max_attempts || !failed.repeatable {
        return None;
    }
    Some(Move::Retry(backoff.wait(
        failed.rounds,
        failed.retry_after,
        chance,
    )))
}

#[cfg(test)]
mod tests {
    use super::Standing;

    #[test]
    fn what_an_earlier_version_stored_is_read_so_far_that_its_version_can_be_told() {
        let stored = r#"[[{"feedback": "no"}], 1]"#;
        let standing: Standing = serde_json::from_str(stored).expect("a plan and a place in it");
        assert_eq!((standing.at, standing.at_hand), (1, None));
    }
}
