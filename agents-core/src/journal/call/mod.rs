//! State machine of a call, as data: its request, its course so far, and its next action.
//!
//! [`Call::next`] returns the next action, and [`Call::on`] applies a fact. Neither waits, calls user code or runs
//! anything.
//!
//! ```text
//! New ► Read ► Approve? ► Execute ► Running ► Done
//!         ▲        │           │        │ fails
//!         │        └───────────┴────────┴──► Arms ► plan ► next candidate
//!         └─────────────────────────────────────────────────────┘
//! ```

mod approval;
mod execution;
mod fact;
mod identity;
mod interruption;
mod recover;
mod repairs;
mod settle;
#[cfg(test)]
mod tests;
mod ticket;
mod tool;
mod wording;

pub(crate) use fact::{
    Accepted, After, CallFact, Called, Doubt, Given, Intent, Interrupted, News, Refused,
};
pub(crate) use repairs::{again, of_answer, of_call};
pub(crate) use ticket::Ticket;

use super::candidates::{By, Candidates, Wait};
use crate::{
    Json,
    error::ToolError,
    escalation::{Escalation, Settlement},
    evidence::Origin,
    media::{Attached, Content},
    model::ToolCall,
    reader::Changes,
    recovery::RepairAgentRef,
    run::{ApprovalReason, Attachment, Attempt, Stop, Timestamp, ToolEnvelope},
    tool::Risk,
};
use approval::Approved;
use execution::Step;
use std::{fmt, sync::Arc, time::Duration};

/// State of one tool call, as the facts about it determine it.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Call {
    pub(crate) call: ToolCall,
    /// Changes that were made to read the call out of the reply; empty for a call that the model made as such.
    pub(crate) changes: Changes,
    /// Number of the call among all calls of its agent, from 0.
    pub(crate) seq: u32,
    pub(crate) stage: Stage,
    /// Texts that were tried as the arguments: the model's own, and repairs.
    pub(crate) candidates: Candidates<ToolError>,
    /// Description of the call's tool; `None` if the agent has no such tool.
    tool: Option<Called>,
    /// Id of the call in its receipt; fixed as soon as arguments are accepted.
    id: Option<Arc<str>>,
    /// Idempotency key of the call. It is set only if the arguments differ from the ones that the call's id was made
    /// from.
    key: Option<Arc<str>>,
    pub(crate) attempts: Vec<Attempt>,
    /// Time at which the tool first began to run with the current arguments.
    begun: Option<Timestamp>,
    /// Failure of the last execution, until another execution begins.
    failed_run: Option<Box<ToolError>>,
    /// Number of times that the process ended while the tool ran, or while it was asked about its effect. A run that was put down
    /// does not count. After too many, the tool runs no more.
    interruptions: u32,
    /// Number of interrupted executions whose repetition belongs to the same round, so that it finds the work that ran
    /// within them.
    repeated: u32,
    /// Number of rounds in which a limiter held the call back.
    held_back: u32,
    /// Is `true` if the effect of an interrupted execution is not known.
    in_doubt: bool,
    /// Arguments that the receipt shows if the call fails: those that ran last or, before any ran, the first that did
    /// not fit. `None` if there are neither; the receipt then shows the model's own text.
    shown: Option<Json>,
    /// Total length of the waits since the last execution; `None` if the call has not waited.
    waited: Option<Duration>,
    /// Reasons why the current arguments need approval.
    pub(crate) reasons: Vec<ApprovalReason>,
    /// Risk of the call with the current arguments, if it differs from the tool's.
    risk: Option<Risk>,
    /// Origins of the known values among the current arguments.
    pub(crate) known: Vec<Origin>,
    /// Id of the request whose approver gave the current arguments, if another approver has to decide about them.
    pub(crate) follows: Option<String>,
    /// Approval of the current arguments, which applies to each execution with them.
    approved: Option<Approved>,
    /// Approval of the arguments that the approver gave in place of the call's, until these arguments are read.
    edited: Option<Box<Approved>>,
    /// Name of the person or program that refused the current arguments, if the approver gave one.
    pub(crate) denied_by: Option<String>,
    /// Is `true` if the approver refused the arguments and asks for a change.
    pub(crate) revised: bool,
    /// Hint that an arm has given for the model, beside the error.
    pub(crate) hint: Option<String>,
    /// Remark that the run itself has for the model, beside the error.
    pub(crate) remark: Option<String>,
    /// Reason for which the call ends the run.
    pub(crate) thrown: Option<String>,
    /// Stop of the whole run that the call causes; `None` if it causes none.
    ends: Option<Box<Stop>>,
    /// Output of the tool, if the tool has ended the work of the agent that made the call. Such a tool never returns.
    final_output: Option<Json>,
    pub(crate) cached: bool,
    pub(crate) partial: bool,
    pub(crate) attachments: Vec<Attachment>,
    /// Images, files and tables that the tool has returned.
    pub(crate) attached: Vec<Attached>,
    /// Message with the call's result for the model; `None` until the call is settled.
    pub(crate) message: Option<String>,
    /// Receipt of the call; `None` until it is settled. Only the receipt and the message are read from then on.
    pub(crate) receipt: Option<Arc<ToolEnvelope>>,
    /// Time at which the call was taken up; `None` before that.
    pub(crate) started: Option<Timestamp>,
    /// Ticket that the model has got in place of the result, if the call goes on in the background.
    pub(crate) ticket: Option<Ticket>,
}

/// Stage of a call: what has to happen to it next.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) enum Stage {
    /// The call has to be taken up: its tool is looked up.
    New,
    /// The arguments that are tried now have to be read.
    Read,
    /// A person has to approve these arguments, and was first asked at this time.
    Approve {
        args: Json,
        asked: Option<Timestamp>,
    },
    /// The tool has to run with these arguments.
    Execute { args: Json },
    /// The tool runs with these arguments.
    Running { args: Json },
    /// The process ended while the tool ran, or it is too late to run the tool again: the tool may have taken effect,
    /// and may not simply run again.
    Interrupted { args: Json },
    /// The call is to be executed again, with the same arguments, after a wait. The time at which the wait ends is
    /// chosen next.
    BackOff { args: Json, wait: Wait },
    /// The call waits until this time, in milliseconds since 1970, and is executed again then.
    Sleep {
        args: Json,
        until: u64,
        wait: Duration,
    },
    /// The arms have to be asked, since the call failed.
    Arms,
    /// The repair agent has to be asked for other arguments.
    Repair(RepairAgentRef),
    /// The failure was escalated, and an agent above has to decide.
    Climb { escalation: Box<Escalation> },
    /// The call has to end the run of its agent.
    EndsRun,
    /// The call is settled: its result is final.
    Done {
        input: Json,
        result: Result<Json, ToolError>,
    },
}

/// Action that a call needs next, which the engine carries out.
pub(crate) enum Action {
    TakeUp,
    Read,
    Approve(Json),
    Execute(Json),
    /// Find out what an interrupted execution with these arguments has done.
    FindOut(Json),
    /// Ask nobody: the effect of an interrupted execution stays unknown.
    LeaveInDoubt,
    BackOff(Wait),
    Sleep {
        until: u64,
        wait: Duration,
    },
    AskArms,
    AskFixer(RepairAgentRef),
    Climb(Box<Escalation>),
    /// End the run as the call demands. This happens in a run that goes on, if the earlier process ended before the end
    /// of the run was stored.
    End(Box<Stop>),
    /// Wait: the run is ending, and the call is not carried on.
    Wait,
    /// The call is settled, and needs no action.
    Done,
}

impl Call {
    pub(crate) fn new(seq: u32, call: ToolCall) -> Call {
        Call {
            candidates: Candidates::of(call.arguments.clone()),
            call,
            changes: Changes::default(),
            seq,
            stage: Stage::New,
            tool: None,
            id: None,
            key: None,
            attempts: Vec::new(),
            begun: None,
            failed_run: None,
            interruptions: 0,
            repeated: 0,
            held_back: 0,
            in_doubt: false,
            shown: None,
            waited: None,
            reasons: Vec::new(),
            risk: None,
            known: Vec::new(),
            follows: None,
            approved: None,
            edited: None,
            denied_by: None,
            revised: false,
            hint: None,
            remark: None,
            thrown: None,
            ends: None,
            final_output: None,
            cached: false,
            partial: false,
            attachments: Vec::new(),
            attached: Vec::new(),
            message: None,
            receipt: None,
            started: None,
            ticket: None,
        }
    }

    /// Creates a placeholder that needs no action, for a call that is no longer under way.
    pub(crate) fn closed(seq: u32) -> Call {
        let call = ToolCall {
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
        };
        Call {
            stage: Stage::EndsRun,
            ..Call::new(seq, call)
        }
    }

    /// Returns the text of the arguments that are tried now, and the changes with which this text was read out of the
    /// reply. There are none if somebody else than the model gave the text.
    pub(crate) fn tried(&self) -> (&str, Changes) {
        let candidate = self.candidates.at_hand();
        match candidate.by {
            By::Model => (candidate.text(), self.changes.clone()),
            _ => (candidate.text(), Changes::default()),
        }
    }

    /// Takes the message for the model, with the images and files of the output; `None` before the call is settled, or
    /// if the message was taken already.
    pub(crate) fn take_content(&mut self) -> Option<Content> {
        let text = self.message.take()?;
        let attached = std::mem::take(&mut self.attached).into_iter();
        let failed = self
            .receipt
            .as_ref()
            .is_some_and(|receipt| !receipt.is_ok());
        let mut content = match failed {
            true => Content::told(text),
            false => Content::from(text),
        };
        content.media = attached.filter_map(|one| one.media).collect();
        Some(content)
    }

    /// Returns the action that the stage of the call asks for.
    pub(crate) fn next(&self) -> Action {
        match &self.stage {
            Stage::New => Action::TakeUp,
            Stage::Read => Action::Read,
            Stage::Approve { args, .. } => Action::Approve(args.clone()),
            Stage::Execute { args } | Stage::Running { args } => Action::Execute(args.clone()),
            Stage::Interrupted { .. } if self.ends_its_process() => Action::LeaveInDoubt,
            Stage::Interrupted { args } => Action::FindOut(args.clone()),
            Stage::BackOff { wait, .. } => Action::BackOff(*wait),
            Stage::Sleep { until, wait, .. } => Action::Sleep {
                until: *until,
                wait: *wait,
            },
            Stage::Arms => Action::AskArms,
            Stage::Repair(fixer) => Action::AskFixer(fixer.clone()),
            Stage::Climb { escalation } => Action::Climb(escalation.clone()),
            Stage::EndsRun => match &self.ends {
                Some(stop) => Action::End(stop.clone()),
                None => Action::Wait,
            },
            Stage::Done { .. } => Action::Done,
        }
    }

    /// Applies a fact of this time; `place` is the place of the calling agent. A fact that does not belong to the stage
    /// changes nothing.
    pub(crate) fn on(&mut self, fact: CallFact, at: Timestamp, place: &impl fmt::Display) -> After {
        let was_settled = self.result().is_some();
        let step = Step::of(&fact);
        let executions = self.executions();
        let is_accepted = matches!((&fact, &self.stage), (CallFact::Read(Ok(_)), Stage::Read));
        let denial = self.denial(&fact, at);
        let mut after = self.apply(fact, at);
        if !was_settled && let Some(result) = self.result() {
            let in_doubt = result.is_err() && self.in_doubt;
            after.doubt = in_doubt.then(|| self.doubt());
            self.tell_of_effects();
        }
        match &self.id {
            None if self.is_identified() => self.id = Some(self.digest(place)),
            Some(id) if is_accepted => {
                let digest = self.digest(place);
                self.key = (digest != *id).then_some(digest);
            }
            _ => {}
        }
        if !after.ignored
            && let Some(step) = step.filter(|_| self.is_executed_once())
        {
            after.execution = self.execution_news(step, executions, at);
        }
        if !after.ignored && denial.is_some() {
            after.execution = denial;
        }
        after
    }

    fn apply(&mut self, fact: CallFact, at: Timestamp) -> After {
        match (fact, &self.stage) {
            (CallFact::TakenUp { tool }, Stage::New) => {
                self.started = Some(at);
                self.tool = tool;
                self.stage = Stage::Read;
                After::default()
            }
            // A settled call stays as it is.
            (
                CallFact::Refused(_)
                | CallFact::Panicked(_)
                | CallFact::FinalOutput(_)
                | CallFact::Abandoned { .. },
                Stage::Done { .. },
            ) => After::ignored(),
            (CallFact::Refused(error), _) => self.refuse(*error),
            (CallFact::Panicked(panic), _) => {
                self.abandon(wording::NOT_DEALT_WITH, 0);
                self.remark = Some(wording::dealing_panicked(&panic));
                After::default()
            }
            (CallFact::Read(Ok(accepted)), Stage::Read | Stage::Execute { .. }) => {
                self.accepted(accepted)
            }
            (CallFact::Read(Err(refused)), Stage::Read | Stage::Execute { .. }) => {
                self.misread(*refused)
            }
            (
                CallFact::Decided {
                    decided,
                    took,
                    reason,
                },
                Stage::Approve { args, .. },
            ) => {
                let args = args.clone();
                self.decided(args, decided, took, reason)
            }
            (CallFact::Asked, Stage::Approve { args, asked }) => {
                let (args, asked) = (args.clone(), Some(asked.unwrap_or(at)));
                self.stage = Stage::Approve { args, asked };
                After::default()
            }
            (CallFact::Interrupted(known), Stage::Interrupted { args }) => {
                let args = args.clone();
                self.interrupted(args, known)
            }
            // The check whether the tool may run again is made before. A journal may hold an execution that an earlier
            // rule allowed.
            (CallFact::Begun { .. }, Stage::Execute { args } | Stage::Interrupted { args }) => {
                self.begun.get_or_insert(at);
                // What an execution had attached before it was interrupted is not what this one attaches.
                self.attached.clear();
                self.stage = Stage::Running { args: args.clone() };
                After::default()
            }
            (CallFact::Withdrawn, Stage::Running { args }) => {
                self.begun.take_if(|_| self.attempts.is_empty());
                self.stage = Stage::Execute { args: args.clone() };
                After::default()
            }
            (CallFact::TooLate, Stage::Execute { args }) => {
                self.stage = Stage::Interrupted { args: args.clone() };
                After::default()
            }
            (
                CallFact::Ended { result, partial },
                Stage::Execute { args } | Stage::Running { args },
            ) => {
                let args = args.clone();
                self.ended(args, result, partial)
            }
            (CallFact::Cached(output), Stage::Execute { args }) => {
                self.cached = true;
                self.stage = Stage::Done {
                    input: args.clone(),
                    result: Ok(output),
                };
                After::default()
            }
            (CallFact::Waits { until, wait }, Stage::BackOff { args, .. }) => {
                if !wait.is_zero() {
                    let waited = self.waited.get_or_insert_default();
                    *waited = waited.saturating_add(wait);
                }
                let args = args.clone();
                self.stage = Stage::Sleep { args, until, wait };
                After::default()
            }
            (CallFact::Woke, Stage::Sleep { args, .. }) => {
                self.stage = Stage::Execute { args: args.clone() };
                After::default()
            }
            (CallFact::Planned(plan), Stage::Arms) => self.planned(plan),
            (CallFact::Repairing, Stage::Repair(_)) => After::default(),
            (CallFact::Repaired { answer, tokens, .. }, Stage::Repair(fixer)) => {
                let fixer = fixer.name().to_owned();
                self.repaired(&fixer, answer, tokens)
            }
            (CallFact::Climbed(receipt), Stage::Climb { escalation }) => {
                let raised = (**escalation).clone();
                match receipt.settled {
                    Settlement::RetriedWithModel { .. } => self.taken_over(raised),
                    _ => self.unhandled(receipt.escalation),
                }
                After::default()
            }
            (CallFact::Abandoned { why, calls }, _) => {
                self.started.get_or_insert(at);
                self.abandon(&why, calls);
                After::default()
            }
            (CallFact::FinalOutput(output), _) => {
                self.final_output = Some(output);
                After::default()
            }
            // This fact is only for subscribers and readers of the journal.
            (CallFact::Secret { .. }, _) => After::default(),
            (
                CallFact::Attached(attached),
                Stage::Execute { .. } | Stage::Running { .. } | Stage::Interrupted { .. },
            ) => {
                self.attached = attached;
                After::default()
            }
            (CallFact::Kept(attachment), _) => {
                self.attachments.push(attachment);
                After::default()
            }
            _ => After::ignored(),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running { .. })
    }

    /// Returns the current arguments: the accepted ones, or else the ones that a receipt would show.
    pub(crate) fn input(&self) -> Json {
        match &self.stage {
            Stage::Approve { args, .. }
            | Stage::Execute { args }
            | Stage::Running { args }
            | Stage::Interrupted { args }
            | Stage::BackOff { args, .. }
            | Stage::Sleep { args, .. } => args.clone(),
            Stage::Done { input, .. } => input.clone(),
            Stage::New
            | Stage::Read
            | Stage::Arms
            | Stage::Repair(_)
            | Stage::Climb { .. }
            | Stage::EndsRun => self.shown(),
        }
    }

    /// Returns the arguments that a receipt shows if the call fails: those of the field `shown`, or else the model's
    /// own text as a JSON string.
    fn shown(&self) -> Json {
        let shown = self.shown.clone();
        shown.unwrap_or_else(|| Json::string(&self.call.arguments))
    }

    /// Returns the result of the call; `None` until it is settled.
    pub(crate) fn result(&self) -> Option<&Result<Json, ToolError>> {
        match &self.stage {
            Stage::Done { result, .. } => Some(result),
            _ => None,
        }
    }
}
