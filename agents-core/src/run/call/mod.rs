//! One call, as data: what was asked for, how far it has come, and what to do next.

mod act;
mod recovering;
mod tries;

pub(crate) use act::{Act, Event};
pub(crate) use tries::{Given, gave_none, give_up};

use recovering::read_as;

use super::{Approval, Attachment, Attempt, Stop, ToolEnvelope};
use crate::{
    Json,
    error::{Cause, ErrorReceipt, ToolError},
    escalation::Escalation,
    model::ToolCall,
    reader::{ChangeKind, Repairs},
    recovery::Progress,
    tool::ToolSpec,
    turn::args,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
    /// How many of these were made to texts that are no longer at hand.
    #[serde(default)]
    outdated: usize,
    /// The texts at hand that were given in place of the model's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<Given>,
    /// What the receipt shows if the call fails: the arguments that ran last, else the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<Json>,
    #[serde(default)]
    pub(crate) progress: Progress,
    /// What an arm wants the model to be told beside the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The attempt that is being prepared, and the tokens that repairs have cost in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accounted: Option<(u32, u64)>,
    /// How many seconds the next execution was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waited: Option<f64>,
    /// The version of the tool, if the agent has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The tool's own name, where the model knows it by another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_name: Option<String>,
    /// The result came from a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cached: bool,
    /// What belongs to the receipt and lies elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<Attachment>,
    /// What is left of the call, once it is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Arc<ToolEnvelope>>,
    /// Milliseconds since 1970; 0 until the call is taken up.
    #[serde(default)]
    pub(crate) started: u64,
    /// Failures that nobody has been told of.
    #[serde(skip)]
    pub(crate) news: Vec<ErrorReceipt>,
    /// How the arguments were changed that have been accepted, if nobody has been told.
    #[serde(skip)]
    pub(crate) mended: Repairs,
    /// The arguments as the tool will take them: made again from the text after a reload.
    #[serde(skip)]
    prepared: act::Ready,
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
    /// It was given up, and whoever is above is asked.
    Climb { escalation: Box<Escalation> },
    /// Settled.
    Done {
        input: Json,
        result: Result<Json, ToolError>,
    },
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
            outdated: 0,
            given: Vec::new(),
            shown: None,
            progress: Progress::default(),
            hint: None,
            accounted: None,
            waited: None,
            version: None,
            own_name: None,
            cached: false,
            attachments: Vec::new(),
            receipt: None,
            started: 0,
            news: Vec::new(),
            mended: Repairs::default(),
            prepared: act::Ready(None),
        }
    }

    /// The tool that is called is this one.
    pub(crate) fn is_of(&mut self, spec: &ToolSpec) {
        self.version = Some(spec.version.to_string());
        self.own_name = Some(spec.own_name())
            .filter(|own| *own != self.call.name)
            .map(str::to_owned);
    }

    /// The name of the tool, as receipts have it.
    pub(crate) fn tool(&self) -> &str {
        self.own_name.as_ref().unwrap_or(&self.call.name)
    }

    /// The call is refused before anything is read.
    pub(crate) fn refuse(&mut self, error: ToolError) {
        let input = Json::string(&self.call.arguments);
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// This is what comes of the call, whatever would have.
    pub(crate) fn settle_as(&mut self, input: Json, result: Result<Json, Cause>) {
        let result = result.map_err(|cause| ToolError::Execution {
            args: input.clone(),
            cause,
        });
        self.stage = Stage::Done { input, result };
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
                        Ok(args::Accepted {
                            denied: Some(reason),
                            args,
                            ..
                        }) => self.denied(args, Cause::denied(reason)),
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
                Stage::Climb { escalation } => return Act::Climb(escalation.clone()),
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
            denied,
        } = accepted;
        self.repairs.extend(repairs);
        if let Some(reason) = denied {
            return self.denied(args, Cause::denied(reason));
        }
        let changes = self.repairs.iter().skip(self.outdated);
        let changes = changes.filter(|change| change.kind != ChangeKind::Tried);
        self.mended = Repairs(changes.cloned().collect());
        self.outdated = self.repairs.len();
        self.given.clear();
        self.prepared = act::Ready(Some(prepared));
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
        match self.given.last_mut() {
            Some(given) => given.failed(&error.to_string()),
            None => {
                self.shown.get_or_insert_with(|| read_as(&text, &error));
            }
        }
        self.failed(text, error);
    }

    fn failed(&mut self, text: String, error: ToolError) {
        self.news.push(error.receipt());
        self.stage = Stage::Failed { text, error };
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
                self.shown = Some(args.clone());
                match result {
                    Ok(output) => {
                        // Mostly the first is the last.
                        self.attempts.reserve_exact(1);
                        self.attempts.push(Attempt {
                            number,
                            error: None,
                            waited_s: self.waited.take(),
                        });
                        self.stage = Stage::Done {
                            input: args,
                            result: Ok(output),
                        };
                    }
                    Err(cause) => {
                        let text = args.as_str().to_owned();
                        let handed = cause.handed().cloned();
                        let thrown = cause.thrown().map(str::to_owned);
                        let error = ToolError::Execution { args, cause };
                        self.attempts.push(Attempt {
                            number,
                            error: Some(Box::new(error.receipt())),
                            waited_s: self.waited.take(),
                        });
                        if let Some(reason) = thrown {
                            self.failed(text, error);
                            return Some(self.thrown(&reason));
                        }
                        return self.came_back(handed, text, error);
                    }
                }
            }
            (Event::Cached(output), Stage::Execute { args }) => {
                self.cached = true;
                self.stage = Stage::Done {
                    input: args.clone(),
                    result: Ok(output),
                };
            }
            (Event::Woke, Stage::BackOff { args, .. }) => {
                self.stage = Stage::Execute { args: args.clone() }
            }
            (Event::Answered(fixer, answer), Stage::Recover { .. }) => {
                return self.answered(fixer.name(), answer);
            }
            (Event::Climbed(climbed), Stage::Climb { escalation }) => {
                let escalation = (**escalation).clone();
                self.climbed(escalation, climbed);
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

    /// How many times the tool has run.
    pub(crate) fn executions(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// Which execution comes next, from 1.
    pub(crate) fn attempt(&self) -> u32 {
        self.executions().saturating_add(1)
    }

    /// The arguments as they stand: those that are accepted, else what a receipt would show.
    pub(crate) fn input(&self) -> Json {
        match &self.stage {
            Stage::Approve { args } | Stage::Execute { args } | Stage::BackOff { args, .. } => {
                args.clone()
            }
            Stage::Done { input, .. } => input.clone(),
            Stage::Read { .. }
            | Stage::Failed { .. }
            | Stage::Recover { .. }
            | Stage::Climb { .. } => self
                .shown
                .clone()
                .unwrap_or_else(|| Json::string(&self.call.arguments)),
        }
    }

    /// Whether the arguments have been accepted, or never will be: then the id can be settled.
    pub(crate) fn is_identified(&self) -> bool {
        !matches!(
            self.stage,
            Stage::Read { .. } | Stage::Failed { .. } | Stage::Recover { .. } | Stage::Climb { .. }
        )
    }

    /// What came of the call, once it is settled.
    pub(crate) fn result(&self) -> Option<&Result<Json, ToolError>> {
        match &self.stage {
            Stage::Done { result, .. } => Some(result),
            _ => None,
        }
    }
}
