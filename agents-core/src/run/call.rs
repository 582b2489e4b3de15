//! One call, as data: what was asked for, how far it has come, and what to do next.

use super::{
    Approval, Attachment, Attempt, Ready, Signed, ToolEnvelope,
    in_place::Before,
    tries::{Given, Unsettled},
};
use crate::{
    Effects, Json,
    error::{Cause, ErrorReceipt, ToolError, escalation::Escalation},
    model::ToolCall,
    recovery::Progress,
    run::Repairs,
    tool::ToolSpec,
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// What is told beside the failure of an execution after which a limiter held the call back.
const HELD_BACK: &str = "it was to run again, and was called too often for that";

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
    /// How the last execution failed, if that is so: when all that follows is held back, this is what there is to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed_run: Option<Box<ToolError>>,
    /// How often it was about to run, and a limiter held it back.
    #[serde(default, skip_serializing_if = "is_zero")]
    held_back: u32,
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
    /// What there was before the arguments that are about to run, if they were given for a failure: if they are denied or
    /// held back, that one is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<Box<Before>>,
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
    /// Running the tool may change something.
    #[serde(skip)]
    pub(crate) writes: bool,
    /// The round that is being prepared, and the tokens that repairs have cost in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accounted: Option<(u32, u64)>,
    /// How many seconds the next execution was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waited: Option<f64>,
    /// How many seconds it took to approve the next execution, if somebody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval: Option<f64>,
    /// Who has decided last whether it may run, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decided_by: Option<String>,
    /// What was decided last is that the call is to be changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) revised: bool,
    /// The version of the tool, if the agent has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The tool's own name, where the model knows it by another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_name: Option<String>,
    /// The tool is running. A run that goes on elsewhere runs it again, as the same attempt.
    #[serde(skip)]
    pub(crate) running: bool,
    /// What the tool has done, if it is one that ends what it is a part of and so never returns.
    #[serde(skip)]
    pub(crate) last_deed: Option<Json>,
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
    /// The tool has to run again, but not before this time. The wait is as it was decided; of a stored call what is left
    /// of it counts.
    BackOff {
        args: Json,
        until: u64,
        #[serde(skip)]
        wait: Option<Duration>,
    },
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
            failed_run: None,
            held_back: 0,
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
            writes: true,
            accounted: None,
            waited: None,
            approval: None,
            decided_by: None,
            revised: false,
            version: None,
            own_name: None,
            running: false,
            last_deed: None,
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
        self.writes = spec.effects == Effects::Writes;
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
    pub(crate) fn settle_as(&mut self, input: Json, result: Result<Json, Cause>) {
        let result = result.map_err(|cause| ToolError::Execution {
            args: input.clone(),
            cause,
        });
        self.stage = Stage::Done { input, result };
    }

    /// Somebody has decided whether the call may run.
    pub(crate) fn decided(&mut self, decided: &Signed, took: Duration) {
        let is_approved = decided.approval == Approval::Approve;
        self.approval = is_approved.then_some(took.as_secs_f64());
        self.decided_by.clone_from(&decided.by);
        self.revised = matches!(decided.approval, Approval::Revise { .. });
    }

    /// Whether somebody has approved the next execution.
    pub(crate) fn is_approved(&self) -> bool {
        self.approval.is_some()
    }

    /// How many times the tool has run.
    pub(crate) fn executions(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// The tool has run, and what it may have done is not to be done again.
    pub(crate) fn is_in_doubt(&self) -> bool {
        !self.repeatable && self.executions() > 0
    }

    /// Which execution comes next, from 1.
    pub(crate) fn attempt(&self) -> u32 {
        self.executions().saturating_add(1)
    }

    /// How often it was about to run: a limiter may have held it back. This is what `retry` bounds.
    pub(crate) fn rounds(&self) -> u32 {
        self.executions().saturating_add(self.held_back)
    }

    /// The round that is under way, from 1: places and moments are named by it, which differ between two rounds.
    pub(crate) fn round(&self) -> u32 {
        self.rounds().saturating_add(1)
    }

    /// The failure of the call as the model made it, or of its execution; not of what was given in its place.
    pub(crate) fn own_failure(&mut self, at_hand: ToolError) -> ToolError {
        let first = self.unsettled.drain(..).next();
        first.map_or(at_hand, |first| first.failure)
    }

    /// Settles the call with an error. Of the arguments its receipt keeps those that ran, else what the
    /// model sent, and not what was given in its place to no avail.
    pub(crate) fn settle(&mut self, error: ToolError) {
        let mut error = self.own_failure(error);
        if let Some(failed) = self.failed_run.take() {
            self.withdraw(&error.to_string());
            if error.is_limited() {
                error = *failed;
                self.remark.get_or_insert_with(|| HELD_BACK.to_owned());
            }
        }
        self.give_up_texts();
        self.remark = self.remark.take().or_else(|| self.progress.cut_short());
        let input = match &error {
            ToolError::Execution { args, .. } => args.clone(),
            _ => self.input(),
        };
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
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

    /// This round has failed: the tool has run, or was held back.
    pub(crate) fn came_to_nothing(&mut self, error: &ToolError) {
        if error.is_limited() {
            self.held_back += 1;
        } else {
            self.ran(Some(error));
            self.failed_run = Some(Box::new(error.clone()));
        }
    }

    /// The tool runs no more: what came of this attempt.
    pub(crate) fn ran(&mut self, error: Option<&ToolError>) {
        self.running = false;
        self.before = None;
        // Mostly the first is the last.
        self.attempts.reserve_exact(1);
        self.attempts.push(Attempt {
            number: self.attempt(),
            error: error.map(|error| Box::new(error.receipt())),
            waited_s: self.waited.take(),
            approved_by: self.approval.and(self.decided_by.take()),
            approval_s: self.approval.take(),
            partial: self.partial,
            effect_unknown: self.writes && error.is_some_and(ToolError::is_cut_off),
        });
    }

    /// What came of the call, once it is settled.
    pub(crate) fn result(&self) -> Option<&Result<Json, ToolError>> {
        match &self.stage {
            Stage::Done { result, .. } => Some(result),
            _ => None,
        }
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
