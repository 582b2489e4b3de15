//! One call, as data: what was asked for, how far it has come, and what to do next.

use super::{
    Approval, ApprovalReceipt, Attachment, Attempt, Ready, ToolEnvelope,
    tries::{Given, Unsettled, cut_off_at_work, give_up, give_up_replaced},
};
use crate::{
    Json,
    error::{Cause, Code, ErrorReceipt, ToolError, escalation::Escalation},
    model::ToolCall,
    reader::Repairs,
    recovery::Progress,
    tool::ToolSpec,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is known of an execution that was begun and did not end, within which so many calls were made.
fn cut_off(calls: usize) -> String {
    let known = match calls {
        0 => ", and whether it took effect is not known".to_owned(),
        1 => "; the call within it has a receipt, the rest is not known".to_owned(),
        calls => format!("; the {calls} calls within it have receipts, the rest is not known"),
    };
    format!("it was cut off while it ran{known}")
}

/// Where one call stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallState {
    pub(crate) call: ToolCall,
    /// Which call of its agent this is, from 0.
    pub(crate) seq: u32,
    pub(crate) stage: Stage,
    /// The id in the receipt; settled when the arguments are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Arc<str>>,
    pub(crate) attempts: Vec<Attempt>,
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub(crate) repairs: Repairs,
    /// How many of these were made to texts that are no longer at hand.
    #[serde(default)]
    pub(crate) outdated: usize,
    /// The texts at hand that were given in place of the model's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) given: Vec<Given>,
    /// The failures for which these were given: the first is of the model's own arguments or of an execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unsettled: Vec<Unsettled<ToolError>>,
    /// What there was before the arguments that wait for approval, if they were given for a failure: if they are denied,
    /// that one is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Box<Before>>,
    /// What the receipt shows if the call fails: the arguments that ran last, else the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<Json>,
    #[serde(default)]
    pub(crate) progress: Progress,
    /// The repair agent that is at work.
    #[serde(skip)]
    pub(crate) asked: Option<Box<str>>,
    /// What an arm wants the model to be told beside the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// What the run itself has to say to the model beside what came of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remark: Option<String>,
    /// Why the run is ended because of this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thrown: Option<String>,
    /// Running the tool twice does no more than running it once.
    #[serde(skip)]
    pub(crate) repeatable: bool,
    /// The attempt that is being prepared, and the tokens that repairs have cost in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accounted: Option<(u32, u64)>,
    /// How many seconds the next execution was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waited: Option<f64>,
    /// What was decided about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) approvals: Vec<ApprovalReceipt>,
    /// How many seconds it took to approve the next execution, if somebody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval: Option<f64>,
    /// The version of the tool, if the agent has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The tool's own name, where the model knows it by another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_name: Option<String>,
    /// The tool is running. A run that goes on elsewhere runs it again, as the same attempt.
    #[serde(skip)]
    pub(crate) running: bool,
    /// The result came from a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cached: bool,
    /// The result is not all that was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partial: bool,
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
    pub(crate) prepared: Ready,
}

/// How far a call has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Stage {
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
            unsettled: Vec::new(),
            before: None,
            shown: None,
            progress: Progress::default(),
            asked: None,
            hint: None,
            remark: None,
            thrown: None,
            repeatable: false,
            accounted: None,
            waited: None,
            approvals: Vec::new(),
            approval: None,
            version: None,
            own_name: None,
            running: false,
            cached: false,
            partial: false,
            attachments: Vec::new(),
            receipt: None,
            started: 0,
            news: Vec::new(),
            mended: Repairs::default(),
            prepared: Ready(None),
        }
    }

    /// The tool that is called is this one.
    pub(crate) fn is_of(&mut self, spec: &ToolSpec) {
        self.version = Some(spec.version.to_string());
        self.repeatable = spec.is_repeatable();
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
        let sent = &self.call.arguments;
        let input = Json::parse(sent.as_str()).unwrap_or_else(|_| Json::string(sent));
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// This is what comes of the call, whatever would have.
    pub(crate) fn settle_as(&mut self, input: Json, result: Result<Json, Cause>, partial: bool) {
        self.partial = partial;
        let result = result.map_err(|cause| ToolError::Execution {
            args: input.clone(),
            cause,
        });
        self.stage = Stage::Done { input, result };
    }

    /// Somebody has decided whether the call may run.
    pub(crate) fn decided(&mut self, decided: ApprovalReceipt) {
        self.approval = (decided.approval == Approval::Approve).then_some(decided.took_s);
        self.approvals.push(decided);
    }

    /// How many times the tool has run.
    pub(crate) fn executions(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// The tool has run, and what it may have done is not to be done again.
    pub(crate) fn is_in_doubt(&self) -> bool {
        !self.repeatable && self.attempts.iter().any(|attempt| !attempt.refused)
    }

    /// Which execution comes next, from 1.
    pub(crate) fn attempt(&self) -> u32 {
        self.executions().saturating_add(1)
    }

    /// The failure of the call as the model made it, or of its execution; not of what was given in its place.
    pub(crate) fn own_failure(&mut self, at_hand: ToolError) -> ToolError {
        let first = self.unsettled.drain(..).next();
        first.map_or(at_hand, |first| first.failure)
    }

    /// Settles the call with an error. Of the arguments its receipt keeps those that ran, else what the
    /// model sent, and not what was given in its place to no avail.
    pub(crate) fn settle(&mut self, error: ToolError) {
        let error = self.own_failure(error);
        self.give_up_texts();
        let input = match &error {
            ToolError::Execution { args, .. } => args.clone(),
            _ => self.input(),
        };
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// Nothing of what was given and is at hand is used.
    fn give_up_texts(&mut self) {
        let given = std::mem::take(&mut self.given);
        give_up(&mut self.repairs, self.outdated, given);
        self.outdated = self.repairs.len();
    }

    /// The text at hand is used, and not those that it has replaced; unless somebody is asked, and denies it.
    pub(crate) fn use_text(&mut self, asked: bool) {
        let unsettled = std::mem::take(&mut self.unsettled);
        self.before = (asked && !unsettled.is_empty()).then(|| {
            Box::new(Before {
                unsettled,
                given: self.given.clone(),
                repairs: self.repairs.clone(),
                outdated: self.outdated,
            })
        });
        let begins = give_up_replaced(&mut self.repairs, self.outdated, &mut self.given);
        self.outdated = begins.unwrap_or(self.outdated);
    }

    /// They are approved.
    pub(crate) fn approved(&mut self) {
        self.before = None;
    }

    /// They are denied: if they were given for a failure, they were a try.
    pub(crate) fn unapproved(&mut self) {
        if let Some(before) = self.before.take() {
            let Before {
                unsettled,
                given,
                repairs,
                outdated,
            } = *before;
            self.unsettled = unsettled;
            self.given = given;
            self.repairs = repairs;
            self.outdated = outdated;
        }
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

    /// The tool runs no more: what came of this attempt.
    pub(crate) fn ran(&mut self, error: Option<&ToolError>) {
        self.running = false;
        // Mostly the first is the last.
        self.attempts.reserve_exact(1);
        self.attempts.push(Attempt {
            number: self.attempt(),
            error: error.map(|error| Box::new(error.receipt())),
            refused: error.is_some_and(ToolError::is_limited),
            waited_s: self.waited.take(),
            approval_s: self.approval.take(),
        });
    }

    /// What the call is a part of ends before the call is settled: it ends with the failure that was being dealt with,
    /// with having been cut off while it ran, or with having been left undone. So many calls were made within it.
    pub(crate) fn abandon(&mut self, why: &str, calls: usize) {
        if self.result().is_some() {
            return;
        }
        let error = match &self.stage {
            Stage::Failed { error, .. } | Stage::Recover { error, .. } => error.clone(),
            Stage::Climb { escalation } => ToolError::from((**escalation).clone()),
            _ => ToolError::Execution {
                args: self.input(),
                cause: Cause::text(
                    Code::Unknown,
                    match self.running {
                        true => format!("{why}: {}", cut_off(calls)),
                        false => why.to_owned(),
                    },
                ),
            },
        };
        if self.running {
            self.ran(Some(&error));
        }
        self.settle(error);
        if let Some(fixer) = self.asked.take() {
            self.repairs.extend(cut_off_at_work(&fixer));
        }
    }

    /// What came of the call, once it is settled.
    pub(crate) fn result(&self) -> Option<&Result<Json, ToolError>> {
        match &self.stage {
            Stage::Done { result, .. } => Some(result),
            _ => None,
        }
    }
}

/// A call as it was before arguments that were given for a failure took the place of those that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Before {
    unsettled: Vec<Unsettled<ToolError>>,
    given: Vec<Given>,
    repairs: Repairs,
    outdated: usize,
}
