//! What a failed call does next: the arms are asked, and their plan is followed step by step.

use super::{Act, CallState, Stage};
use crate::{
    Json,
    error::{Severity, ToolError},
    reader::{Change, ChangeKind, Repairs},
    recovery::{FixError, Move},
    run::Stop,
    turn::{args, recover},
};

impl CallState {
    /// A new failure: the arms are asked, and what they say is written down.
    pub(super) fn ask_the_arms(&mut self, rules: &args::Rules<'_>) {
        let Stage::Failed { text, error } = &self.stage else {
            return;
        };
        let (text, error) = (text.clone(), error.clone());
        match recover::decide(rules, self, &error) {
            Some(plan) => {
                let message = error.to_string();
                let failed = recover::facts(rules, self, &text, &error, &message);
                self.progress.follow(plan, &failed);
                self.stage = Stage::Recover { text, error };
            }
            None => self.settle(&text, error),
        }
    }

    /// The next step of the plan; `None` when the stage has changed and says what to do.
    pub(super) fn recover(&mut self, rules: &args::Rules<'_>) -> Option<Act> {
        let Stage::Recover { text, error } = &self.stage else {
            return None;
        };
        let (text, error) = (text.clone(), error.clone());
        let message = error.to_string();
        let failed = recover::facts(rules, self, &text, &error, &message);
        match self.progress.next(&failed, rules.chance()) {
            Move::Read { by, text } => self.repaired(&by, text, 0),
            Move::Ask(fixer) => {
                let repair = recover::repair(rules, self, &text, &error);
                return Some(Act::Ask(fixer, Box::new(repair)));
            }
            Move::Retry(wait) => {
                let ToolError::Execution { args, .. } = error else {
                    self.settle(&text, error);
                    return None;
                };
                self.stage = Stage::BackOff {
                    args,
                    until: rules.after(wait),
                };
            }
            Move::Tell(hint) => {
                self.hint = Some(hint);
                self.settle(&text, error);
            }
            Move::Escalate { reason, severity } => {
                let source = self.call.name.clone();
                return self.escalate(source, reason, severity);
            }
            Move::Throw(reason) => return Some(Act::Stop(self.thrown(&reason))),
            Move::Spent => self.settle(&text, error),
        }
        None
    }

    fn repaired(&mut self, by: &str, text: String, tokens: u64) {
        let cost = if tokens > 0 {
            format!(" for {tokens} tokens")
        } else {
            String::new()
        };
        let note = format!("`{by}` gave the arguments anew{cost}");
        self.repairs
            .extend(Repairs::from(Change::new(ChangeKind::Fixed, "", note)));
        self.stage = Stage::Read { raw: text };
    }

    fn escalate(&mut self, source: String, reason: String, severity: Severity) -> Option<Act> {
        let (text, original) = match &self.stage {
            Stage::Recover { text, error } => (text.clone(), Box::new(error.clone())),
            _ => return None,
        };
        if severity == Severity::Critical {
            return Some(Act::Stop(Stop::Escalated {
                source: source.into(),
                reason,
                severity,
            }));
        }
        let attempts = self.executions() + self.progress.tries();
        self.settle(
            &text,
            ToolError::Escalation {
                source,
                reason,
                severity,
                original,
                attempts,
            },
        );
        None
    }

    fn thrown(&self, reason: &str) -> Stop {
        Stop::Thrown {
            source: self.call.name.as_str().into(),
            reason: reason.to_owned(),
        }
    }

    /// Settles the call with an error: the arguments as JSON if that is what they are.
    pub(super) fn settle(&mut self, text: &str, error: ToolError) {
        let input = match &error {
            ToolError::InvalidArgs { .. } => Json::string(text),
            _ => Json::parse(text).unwrap_or_else(|_| Json::string(text)),
        };
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    pub(super) fn answered(&mut self, fixer: &str, repaired: recover::Repaired) -> Option<Stop> {
        let recover::Repaired { answer, spent } = repaired;
        let tokens = self.charge(spent);
        let Stage::Recover { text, .. } = &self.stage else {
            return None;
        };
        match answer {
            Ok(new) => {
                let failed = text.clone();
                if let Some(Move::Read { by, text }) = self.progress.answered(fixer, new, &failed) {
                    self.repaired(&by, text, tokens);
                }
            }
            Err(FixError::Failed(why)) => self.progress.gave_nothing(fixer, &why),
            Err(FixError::Escalated { reason, severity }) => {
                self.progress.gave_nothing(fixer, &reason);
                if let Some(Act::Stop(stop)) = self.escalate(fixer.to_owned(), reason, severity) {
                    return Some(stop);
                }
            }
            Err(FixError::Thrown(reason)) => {
                return Some(Stop::Thrown {
                    source: fixer.into(),
                    reason,
                });
            }
        }
        None
    }

    /// What of the tokens spent within this attempt has not been accounted for.
    fn charge(&mut self, spent: u64) -> u64 {
        let attempt = self.attempt();
        let before = self
            .accounted
            .filter(|(of, _)| *of == attempt)
            .map_or(0, |(_, spent)| spent);
        self.accounted = Some((attempt, spent));
        spent.saturating_sub(before)
    }
}
