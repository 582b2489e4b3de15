//! What a failed call does next: the arms are asked, and their plan is followed step by step.

use super::Act;
use crate::{
    error::{
        ErrorReceipt, Handed, Severity, ToolError,
        escalation::{Escalation, Raised},
    },
    recovery::{FAILED_ALREADY, FixError, Move, text_at},
    run::{CallState, Given, Stage, Stop, Unsettled, climb::Climbed, gave_none, withheld},
    secret::Masker,
    turn::{args, recover},
};
use serde_json::Value;
use std::time::Duration;

/// What a model is told whose call was given up, and nobody has settled that.
const UNSETTLED: &str = "nobody above could settle it, so decide yourself how to go on";

/// What a model is told that takes over from the one that made the call.
const TAKEN_OVER: &str = "you take over from the model that failed here: make the call again, correctly, if it is still \
    needed";

/// The same, where the tool has run and must not do twice what it may have done.
const TAKEN_OVER_IN_DOUBT: &str = "you take over from the model that failed here: the tool has run, and may have taken \
    effect though it failed, so find that out before making the call again";

/// What a model is told whose call an arm would have changed, if it had not run.
const WITHHELD: &str =
    "it was not run again with other arguments, since that could have done it twice";

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
            None => self.go_back(error),
        }
    }

    /// What was given does not fit either. An object is a failure of its own, about which the arms are asked: a value
    /// put into the model's text has settled its field if another is at fault now, and all else may be mended
    /// further. A text without an object in it was a try.
    pub(super) fn refused_again(&mut self, text: String, error: ToolError) {
        self.progress.failed(&error.to_string());
        let before = self.unsettled.last();
        match &error {
            ToolError::Deserialization { path, .. } => {
                let settled = self.given.last().is_some_and(Given::is_one_value)
                    && before.is_some_and(|before| is_elsewhere(path, &before.failure));
                if settled {
                    self.unsettled.pop();
                }
                self.failed(text, error);
            }
            _ => {
                self.news.push(error.receipt());
                self.go_back(error);
            }
        }
    }

    /// What was given may not run.
    pub(super) fn refused_text(&mut self, error: ToolError) {
        let why = error.to_string();
        self.progress.failed(&why);
        if let Some(given) = self.given.last_mut() {
            given.failed(&why);
        }
        self.news.push(error.receipt());
        self.go_back(error);
    }

    /// Nothing is left to be done about this failure. If it is one of what was given for another, that one is still
    /// there, and its plan goes on.
    fn go_back(&mut self, error: ToolError) {
        let Some(before) = self.unsettled.pop() else {
            return self.settle(error);
        };
        before.give_up_since(&mut self.repairs, &mut self.given);
        let Unsettled {
            text,
            failure: error,
            plan,
            ..
        } = before;
        self.progress.go_on_with(plan);
        self.stage = Stage::Recover { text, error };
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
            Move::Read { by, text } => self.repaired(&by, text, 0, rules.cx().masker()),
            Move::Ask(fixer) => {
                let repair = recover::repair(&fixer, rules, self, &text, &error);
                self.asked = Some(fixer.name().into());
                return Some(Act::Ask(fixer, Box::new(repair)));
            }
            Move::Withhold { by, text } => {
                let text = text.map(|text| rules.cx().masker().text(&text).into_owned());
                self.repairs.extend(withheld(&by, text.as_deref()));
                self.remark.get_or_insert_with(|| WITHHELD.to_owned());
            }
            Move::Retry(wait) => {
                let ToolError::Execution { args, .. } = error else {
                    self.settle(error);
                    return None;
                };
                let wait = whole_millis(wait);
                if !wait.is_zero() {
                    *self.waited.get_or_insert_default() += wait.as_secs_f64();
                }
                self.stage = Stage::BackOff {
                    args,
                    until: rules.after(wait),
                    wait: Some(wait),
                };
            }
            // What is said of a text that the model did not write is not for the model, nor for whoever is above.
            Move::Tell(said) | Move::Escalate { reason: said, .. }
                if !self.unsettled.is_empty() =>
            {
                self.progress.remark(&said);
                if let Some(given) = self.given.last_mut() {
                    given.remark(&said);
                }
                self.go_back(error);
            }
            Move::Tell(hint) => {
                self.hint = Some(hint);
                self.settle(error);
            }
            Move::Escalate { reason, severity } => {
                let source = self.call.name.clone();
                self.give_up(error, source, reason, severity);
            }
            Move::Throw(reason) => return Some(Act::Stop(self.thrown(&reason))),
            Move::Spent => self.go_back(error),
        }
        None
    }

    /// This text is read in place of what failed. What is told of the two is cut, so what is to be hidden in them is
    /// hidden before.
    fn repaired(&mut self, by: &str, text: String, tokens: u64, masker: &Masker) {
        let given = Given::new(by, &masker.text(&text), tokens);
        if let Stage::Recover { text, error } = &self.stage {
            let used = match error.field() {
                Some(field) if given.is_one_value() => {
                    let was = text_at(text, field).map(|was| masker.text(was));
                    given.used_at(field, was.as_deref())
                }
                _ => given.used("the arguments", &masker.text(text)),
            };
            let (text, error) = (text.clone(), error.clone());
            let (progress, given) = (&mut self.progress, &self.given);
            let unsettled = Unsettled::new(text, error, progress, given, &self.repairs);
            self.unsettled.push(unsettled);
            self.repairs.extend(used);
        }
        self.given.push(given);
        self.stage = Stage::Read { raw: text };
    }

    /// The failure is handed up: whoever is above is asked next.
    pub(super) fn give_up(
        &mut self,
        original: ToolError,
        source: String,
        reason: String,
        severity: Severity,
    ) {
        let original = self.own_failure(original);
        let escalation = Box::new(Escalation {
            source,
            reason,
            severity,
            original,
            attempts: self.executions() + self.progress.tries(),
            repairs: self.progress.tries(),
            raised: Vec::new(),
            path: Vec::new(),
            refused: Vec::new(),
        });
        self.stage = Stage::Climb { escalation };
    }

    /// The tool has failed; if it was an agent, it may have said more than that.
    pub(super) fn came_back(
        &mut self,
        handed: Option<Handed>,
        text: String,
        error: ToolError,
    ) -> Option<Stop> {
        match handed {
            None => self.failed(text, error),
            Some(Handed::Up(escalation)) => {
                self.news.push(error.receipt());
                let escalation = Box::new(Escalation {
                    original: error,
                    attempts: self.executions() + self.progress.tries(),
                    repairs: self.progress.tries(),
                    ..escalation
                });
                self.stage = Stage::Climb { escalation };
            }
            Some(Handed::Back(escalation)) => {
                let told = Climbed::Unhandled(Box::new(escalation.clone()));
                self.climbed(escalation, told);
            }
            Some(Handed::Unfit(reason)) => {
                let agent = self.call.name.as_str().into();
                return Some(Stop::Unfit { agent, reason });
            }
        }
        None
    }

    /// The agent goes on: with another model, or told that nobody could help.
    pub(super) fn climbed(&mut self, raised: Escalation, climbed: Climbed) {
        let (escalation, remark) = match climbed {
            Climbed::Unhandled(escalation) => (*escalation, UNSETTLED),
            Climbed::Continues if self.is_in_doubt() => (raised, TAKEN_OVER_IN_DOUBT),
            Climbed::Continues => (raised, TAKEN_OVER),
        };
        let above = escalation.raised.iter().skip(1).map(Raised::passed_on);
        let remarks: Vec<_> = above.chain([remark.to_owned()]).collect();
        self.remark = Some(remarks.join("; "));
        self.settle(escalation.into());
    }

    /// The run ends because of this call.
    pub(super) fn thrown(&mut self, reason: &str) -> Stop {
        self.thrown_by(self.call.name.clone(), reason)
    }

    fn thrown_by(&mut self, source: String, reason: &str) -> Stop {
        self.thrown = Some(reason.to_owned());
        Stop::Thrown {
            source: source.into(),
            reason: reason.to_owned(),
        }
    }

    pub(super) fn answered(
        &mut self,
        fixer: &str,
        repaired: recover::Repaired,
        masker: &Masker,
    ) -> Option<Stop> {
        let recover::Repaired { answer, spent, .. } = repaired;
        self.asked = None;
        let tokens = self.charge(spent);
        let Stage::Recover { text, error } = &self.stage else {
            return None;
        };
        let none = match answer {
            Ok(new) => {
                let mut given = Given::new(fixer, &masker.text(&new), tokens);
                let failed = text.clone();
                match self.progress.answered(fixer, new.clone(), &failed) {
                    Some(Move::Read { by, text }) => self.repaired(&by, text, tokens, masker),
                    _ => {
                        given.failed(FAILED_ALREADY);
                        let in_vain = given.in_vain();
                        let again = ToolError::InvalidArgs {
                            raw_args: new,
                            parse_error: FAILED_ALREADY.to_owned(),
                            expected_schema: Value::Null,
                        };
                        self.news.push(ErrorReceipt {
                            message: in_vain.to_string(),
                            ..again.receipt()
                        });
                        self.repairs.extend(in_vain);
                    }
                }
                return None;
            }
            Err(none) => none,
        };
        self.repairs.extend(gave_none(fixer, &none, tokens));
        self.progress.gave_none(fixer, &none);
        match none {
            FixError::Failed(_) | FixError::Unable(_) => None,
            FixError::Escalated { reason, severity } => {
                let error = error.clone();
                self.give_up(error, fixer.to_owned(), reason, severity);
                None
            }
            FixError::Thrown(reason) => Some(self.thrown_by(fixer.to_owned(), &reason)),
        }
    }

    /// What of the tokens spent within this round has not been accounted for.
    fn charge(&mut self, spent: u64) -> u64 {
        let round = self.round();
        let before = self
            .accounted
            .filter(|(of, _)| *of == round)
            .map_or(0, |(_, spent)| spent);
        self.accounted = Some((round, spent));
        spent.saturating_sub(before)
    }
}

/// A wait as it is told: everybody has the same figure.
fn whole_millis(wait: Duration) -> Duration {
    let millis = wait.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// Whether a path is of another field than the one at fault, and not within it.
fn is_elsewhere(path: &str, failure: &ToolError) -> bool {
    let Some(field) = failure.field() else {
        return false;
    };
    let within = path.strip_prefix(field);
    !path.is_empty()
        && within.is_none_or(|rest| !matches!(rest.bytes().next(), None | Some(b'.' | b'[')))
}
