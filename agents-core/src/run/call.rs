//! One call, as data: what was asked for, how far it has come, and what to do next.

use super::{Approval, Attempt, Stop, ToolEnvelope};
use crate::{
    Json,
    error::{Cause, Code, ErrorReceipt, Severity, ToolError},
    model::ToolCall,
    reader::{Change, ChangeKind, Repairs},
    recovery::{FixError, FixerRef, Move, Progress, Repair},
    tool::Prepared,
    turn::{args, recover},
};
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc, time::Duration};

/// Where one call stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallState {
    pub(crate) call: ToolCall,
    /// Which call of its agent this is, from 0.
    pub(crate) seq: u32,
    stage: Stage,
    /// The id in the receipt; settled when the arguments are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Arc<str>>,
    pub(crate) attempts: Vec<Attempt>,
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub(crate) repairs: Repairs,
    #[serde(default)]
    pub(crate) progress: Progress,
    /// What an arm wants the model to be told beside the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The attempt that is being prepared, and the tokens that repairs have cost in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accounted: Option<(u32, u64)>,
    /// The version of the tool, once the call has been admitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// What is left of the call, once it is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Arc<ToolEnvelope>>,
    /// Milliseconds since 1970; 0 until the call is taken up.
    #[serde(default)]
    pub(crate) started: u64,
    /// Failures that nobody has been told of.
    #[serde(skip)]
    pub(crate) news: Vec<ErrorReceipt>,
    /// The arguments as the tool will take them: made again from the text after a reload.
    #[serde(skip)]
    prepared: Ready,
}

/// How far a call has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stage {
    /// The arguments have to be read.
    Read { raw: String },
    /// Somebody has to approve.
    Approve { args: Json },
    /// The tool has to run.
    Execute { args: Json },
    /// The tool has to run again, but not before this time.
    BackOff { args: Json, until: u64 },
    /// It failed, and nobody has been asked what to do.
    Failed { text: String, error: ToolError },
    /// It failed, and an arm has said what to do; the plan is in `progress`.
    Recover { text: String, error: ToolError },
    /// Settled.
    Done {
        input: Json,
        result: Result<Json, ToolError>,
    },
}

/// What to do next.
pub(crate) enum Act {
    /// Ask whether it may run.
    Approve(Json),
    /// Run it.
    Execute(Prepared),
    /// Wait.
    Sleep(Duration),
    /// Ask a repair agent.
    Ask(FixerRef, Box<Repair>),
    /// End the whole run.
    Stop(Stop),
    /// Nothing: it is settled.
    Done,
}

/// What has happened.
pub(crate) enum Event {
    /// Somebody decided.
    Decided(Approval),
    /// It ran.
    Executed(Result<Json, Cause>),
    /// The wait is over.
    Woke,
    /// A repair agent answered.
    Answered(FixerRef, recover::Repaired),
}

impl CallState {
    pub(crate) fn new(seq: u32, call: ToolCall) -> CallState {
        CallState {
            stage: Stage::Read {
                raw: call.arguments.clone(),
            },
            call,
            seq,
            id: None,
            attempts: Vec::new(),
            repairs: Repairs::default(),
            progress: Progress::default(),
            hint: None,
            accounted: None,
            version: None,
            receipt: None,
            started: 0,
            news: Vec::new(),
            prepared: Ready(None),
        }
    }

    /// The call is refused before anything is read.
    pub(crate) fn refuse(&mut self, error: ToolError) {
        let input = Json::string(&self.call.arguments);
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// What to do next, as far as reading and the arms decide it.
    pub(crate) fn next(&mut self, rules: &args::Rules<'_>) -> Act {
        loop {
            match &self.stage {
                Stage::Read { raw } => match args::read(rules, raw) {
                    Ok(accepted) => self.accepted(accepted),
                    Err(refused) => self.refused(*refused),
                },
                Stage::Approve { args } => return Act::Approve(args.clone()),
                Stage::Execute { args } => match self.prepared.0.take() {
                    Some(prepared) => return Act::Execute(prepared),
                    // For another attempt, or after a reload: the accepted text is read again.
                    None => match args::read(rules, args.as_str()) {
                        Ok(accepted) => return Act::Execute(accepted.prepared),
                        Err(refused) => self.refused(*refused),
                    },
                },
                Stage::BackOff { until, .. } => return Act::Sleep(rules.until(*until)),
                Stage::Failed { .. } => self.ask_the_arms(rules),
                Stage::Recover { .. } => {
                    if let Some(act) = self.recover(rules) {
                        return act;
                    }
                }
                Stage::Done { .. } => return Act::Done,
            }
        }
    }

    fn accepted(&mut self, accepted: args::Accepted) {
        let args::Accepted {
            args,
            prepared,
            repairs,
            approval,
        } = accepted;
        self.repairs.extend(repairs);
        self.prepared = Ready(Some(prepared));
        self.stage = if approval {
            Stage::Approve { args }
        } else {
            Stage::Execute { args }
        };
    }

    fn refused(&mut self, refused: args::Refused) {
        let args::Refused {
            error,
            text,
            repairs,
        } = refused;
        self.repairs.extend(repairs);
        self.failed(text, error);
    }

    fn failed(&mut self, text: String, error: ToolError) {
        self.news.push(error.receipt());
        self.stage = Stage::Failed { text, error };
    }

    /// A new failure: the arms are asked, and what they say is written down.
    fn ask_the_arms(&mut self, rules: &args::Rules<'_>) {
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
    fn recover(&mut self, rules: &args::Rules<'_>) -> Option<Act> {
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
    fn settle(&mut self, text: &str, error: ToolError) {
        let input = match &error {
            ToolError::InvalidArgs { .. } => Json::string(text),
            _ => Json::parse(text).unwrap_or_else(|_| Json::string(text)),
        };
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// What has happened. An event that does not belong to the stage changes nothing.
    pub(crate) fn on(&mut self, event: Event) -> Option<Stop> {
        match (event, &self.stage) {
            (Event::Decided(Approval::Approve), Stage::Approve { args }) => {
                self.stage = Stage::Execute { args: args.clone() };
            }
            (Event::Decided(Approval::Deny { reason }), Stage::Approve { args }) => {
                let cause = Cause::denied(format!("not approved: {reason}"));
                self.denied(args.clone(), cause);
            }
            (Event::Decided(Approval::Revise { note }), Stage::Approve { args }) => {
                let cause = Cause::denied(format!(
                    "not approved as it is: {note}; change the call and make it again"
                ));
                self.denied(args.clone(), cause);
            }
            (Event::Executed(result), Stage::Execute { args }) => {
                let (number, args) = (self.attempt(), args.clone());
                match result {
                    Ok(output) => {
                        self.attempts.push(Attempt {
                            number,
                            error: None,
                        });
                        self.stage = Stage::Done {
                            input: args,
                            result: Ok(output),
                        };
                    }
                    Err(cause) => {
                        let text = args.as_str().to_owned();
                        let error = ToolError::Execution { args, cause };
                        self.attempts.push(Attempt {
                            number,
                            error: Some(error.receipt()),
                        });
                        self.failed(text, error);
                    }
                }
            }
            (Event::Woke, Stage::BackOff { args, .. }) => {
                self.stage = Stage::Execute { args: args.clone() }
            }
            (Event::Answered(fixer, answer), Stage::Recover { .. }) => {
                return self.answered(fixer.name(), answer);
            }
            _ => {}
        }
        None
    }

    fn denied(&mut self, args: Json, cause: Cause) {
        let error = ToolError::Execution {
            args: args.clone(),
            cause,
        };
        self.stage = Stage::Done {
            input: args,
            result: Err(error),
        };
    }

    fn answered(&mut self, fixer: &str, repaired: recover::Repaired) -> Option<Stop> {
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

    /// How many times the tool has run.
    pub(crate) fn executions(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// Which execution comes next, from 1.
    pub(crate) fn attempt(&self) -> u32 {
        self.executions().saturating_add(1)
    }

    /// The arguments as they stand.
    pub(crate) fn input(&self) -> Json {
        match &self.stage {
            Stage::Read { raw } => Json::string(raw),
            Stage::Approve { args } | Stage::Execute { args } | Stage::BackOff { args, .. } => {
                args.clone()
            }
            Stage::Failed { text, .. } | Stage::Recover { text, .. } => Json::string(text),
            Stage::Done { input, .. } => input.clone(),
        }
    }

    /// Whether the arguments have been accepted, or never will be: then the id can be settled.
    pub(crate) fn is_identified(&self) -> bool {
        !matches!(
            self.stage,
            Stage::Read { .. } | Stage::Failed { .. } | Stage::Recover { .. }
        )
    }

    /// What the call is a part of ends before the call is settled: it ends with the failure that was being dealt with,
    /// or with having been left undone.
    pub(crate) fn abandon(&mut self, why: &str) {
        if self.result().is_some() {
            return;
        }
        let (text, error) = match &self.stage {
            Stage::Failed { text, error } | Stage::Recover { text, error } => {
                (text.clone(), error.clone())
            }
            stage => {
                let args = match stage {
                    Stage::Approve { args }
                    | Stage::Execute { args }
                    | Stage::BackOff { args, .. } => args.clone(),
                    _ => Json::string(&self.call.arguments),
                };
                let cause = Cause::text(Code::Unknown, why);
                (
                    args.as_str().to_owned(),
                    ToolError::Execution { args, cause },
                )
            }
        };
        self.settle(&text, error);
    }

    /// What came of the call, once it is settled.
    pub(crate) fn result(&self) -> Option<&Result<Json, ToolError>> {
        match &self.stage {
            Stage::Done { result, .. } => Some(result),
            _ => None,
        }
    }
}

/// Prepared arguments are live values: a copy of the state has none.
#[derive(Default)]
struct Ready(Option<Prepared>);

impl Clone for Ready {
    fn clone(&self) -> Self {
        Ready(None)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "prepared"
        } else {
            "not prepared"
        })
    }
}
