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

mod fact;
mod recover;
mod repairs;
mod settle;
#[cfg(test)]
mod tests;
mod wording;

pub(crate) use fact::{
    Accepted, After, CallFact, Called, Doubt, Given, Intent, Interrupted, News, Refused,
};
pub(crate) use repairs::{again, of_answer, of_call};

use super::{
    RunKey,
    candidates::{Candidates, Wait},
    executions::{Executed, ExecutionNews, args_digest},
};
use crate::{
    Json,
    error::{Cause, DenialReason, ToolError},
    escalation::{Escalation, Settlement},
    hex::id,
    json::canonical,
    model::ToolCall,
    recovery::RepairAgentRef,
    run::{
        Approval, ApprovalDecision, ApprovalReason, Attachment, Attempt, EarlierExecution,
        EarlierOutcome, Stop, Timestamp, ToolEnvelope,
    },
    tool::{Effects, Risk},
};
use serde::Serialize;
use serde_json::Value;
use std::{
    fmt::{self, Write},
    sync::Arc,
    time::Duration,
};

/// State of one call.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Call {
    pub(crate) call: ToolCall,
    /// Number of the call among those of its agent, from 0.
    pub(crate) seq: u32,
    pub(crate) stage: Stage,
    /// Texts that were tried for the arguments.
    pub(crate) candidates: Candidates<ToolError>,
    /// Description of the tool, if the agent has it.
    tool: Option<Called>,
    /// Id in the receipt; fixed as soon as arguments are accepted.
    id: Option<Arc<str>>,
    /// Idempotency key, if the arguments differ from those that the id was made from.
    key: Option<Arc<str>>,
    pub(crate) attempts: Vec<Attempt>,
    /// Time at which the tool first began to run with the arguments at hand.
    begun: Option<Timestamp>,
    /// Failure of the last execution.
    failed_run: Option<Box<ToolError>>,
    /// Number of times that the process ended while the tool ran, or while the tool was asked about its effect.
    interruptions: u32,
    /// Number of interrupted executions that are repeated in their round, where work that ran within them is found
    /// again.
    repeated: u32,
    /// Number of rounds in which a limiter held the call back.
    held_back: u32,
    /// Is `true` if the effect of an interrupted execution is not known.
    in_doubt: bool,
    /// Arguments that a receipt shows if the call fails: those that ran last, else the model's own.
    shown: Option<Json>,
    /// Wait before the next execution.
    waited: Option<Duration>,
    /// Reasons why the arguments at hand need approval.
    pub(crate) reasons: Vec<ApprovalReason>,
    /// Risk of the call with the arguments at hand, if it is another one than the tool's.
    risk: Option<Risk>,
    /// Id of the request whose approver gave the arguments at hand, if another approver has to decide about them.
    pub(crate) follows: Option<String>,
    /// Approval of the arguments at hand: it holds for each execution with them.
    approved: Option<Approved>,
    /// Approval of arguments that the approver gave, until they are read.
    edited: Option<Box<Approved>>,
    /// Name of the person or program that refused the arguments at hand, if the approver gave one.
    pub(crate) denied_by: Option<String>,
    /// Is `true` if the approver refused the arguments and asks for a change.
    pub(crate) revised: bool,
    /// Hint of an arm for the model.
    pub(crate) hint: Option<String>,
    /// Remark of the run itself for the model.
    pub(crate) remark: Option<String>,
    /// Reason for which the call ends the run.
    pub(crate) thrown: Option<String>,
    /// Stop of the run because of the call.
    ends: Option<Box<Stop>>,
    /// Output of a tool that ends the run or the repair that it is a part of, and so never returns.
    final_output: Option<Json>,
    pub(crate) cached: bool,
    pub(crate) partial: bool,
    pub(crate) attachments: Vec<Attachment>,
    /// Message for the model, once the call is settled.
    pub(crate) message: Option<String>,
    /// Receipt, once the call is settled; only the receipt and the message are read from then on.
    pub(crate) receipt: Option<Arc<ToolEnvelope>>,
    /// Time at which the call was taken up, in milliseconds since 1970.
    pub(crate) started: Option<Timestamp>,
}

/// Approval of arguments.
#[derive(Clone, Debug, Serialize)]
struct Approved {
    /// Name of the person or program that approved the arguments, if the approver gave one.
    by: Option<String>,
    /// Time that the approval took, until an execution has recorded it.
    took: Option<Duration>,
    /// Highest risk that the approver may approve; `None` if there is no bound.
    at_most: Option<Risk>,
    /// Id of the request that was approved.
    request: Option<Arc<str>>,
}

/// Stage of a call.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// The call has to be taken up.
    New,
    /// The text at hand has to be read.
    Read,
    /// A person has to approve these arguments.
    Approve { args: Json },
    /// The tool has to run.
    Execute { args: Json },
    /// The tool runs.
    Running { args: Json },
    /// The tool may have taken effect, and may not simply run again.
    Interrupted { args: Json },
    /// The next execution has to wait.
    BackOff { args: Json, wait: Wait },
    /// The next execution waits until this time.
    Sleep {
        args: Json,
        until: u64,
        wait: Duration,
    },
    /// The arms have to be asked: the call failed.
    Arms,
    /// A repair agent has to answer.
    Repair(RepairAgentRef),
    /// The failure was handed up, and an agent above has to answer.
    Climb { escalation: Box<Escalation> },
    /// The call ends the run.
    EndsRun,
    /// The call is settled.
    Done {
        input: Json,
        result: Result<Json, ToolError>,
    },
}

/// Action that a call needs next.
pub(crate) enum Action {
    TakeUp,
    Read,
    Approve(Json),
    Execute(Json),
    /// Find out the effect of an interrupted execution.
    FindOut(Json),
    /// Do not ask: the effect of an interrupted execution stays unknown.
    LeaveInDoubt,
    BackOff(Wait),
    Sleep {
        until: u64,
        wait: Duration,
    },
    AskArms,
    AskFixer(RepairAgentRef),
    Climb(Box<Escalation>),
    /// End the run: the process ended before it did.
    End(Box<Stop>),
    /// Wait: the run is ending.
    Wait,
    /// Do nothing: the call is settled.
    Done,
}

impl Call {
    pub(crate) fn new(seq: u32, call: ToolCall) -> Call {
        Call {
            candidates: Candidates::of(call.arguments.clone()),
            call,
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
            message: None,
            receipt: None,
            started: None,
        }
    }

    /// Creates a call that has nothing more to do.
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

    /// Returns the next action.
    pub(crate) fn next(&self) -> Action {
        match &self.stage {
            Stage::New => Action::TakeUp,
            Stage::Read => Action::Read,
            Stage::Approve { args } => Action::Approve(args.clone()),
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
        after
    }

    /// Returns `true` if each execution of the tool may have an effect of its own.
    fn is_executed_once(&self) -> bool {
        let tool = self.tool.as_ref();
        tool.is_some_and(|tool| tool.writes && !tool.repeatable && !tool.goes_on)
    }

    /// Returns the news of an execution, after a fact that was such a step. Before the fact there were this many
    /// executions.
    fn execution_news(&self, step: Step, before: u32, at: Timestamp) -> Option<ExecutionNews> {
        let request = self.key()?.to_string();
        let id = |attempt: u32| format!("{request} {attempt}");
        let of_last = || match self.attempts.last() {
            Some(last) if last.effect_unknown => EarlierOutcome::Unknown,
            Some(last) if last.error.is_some() => EarlierOutcome::Failed,
            _ => EarlierOutcome::Succeeded,
        };
        Some(match step {
            Step::Began => {
                let (args, attempt) = (self.input(), self.attempt());
                ExecutionNews::Began(Box::new(Executed {
                    tool: self.tool().to_owned(),
                    args: args_digest(&args),
                    execution: EarlierExecution {
                        id: id(attempt),
                        at: Some(at),
                        outcome: EarlierOutcome::Open,
                        call_id: self.id.as_deref().unwrap_or_default().to_owned(),
                        request,
                        attempt,
                    },
                }))
            }
            Step::Withdrawn => ExecutionNews::Ended(id(before + 1), None),
            // A limiter held the call back.
            Step::Ended if self.executions() == before => {
                ExecutionNews::Ended(id(before + 1), None)
            }
            Step::Ended => ExecutionNews::Ended(id(self.executions()), Some(of_last())),
            Step::FoundOut { has_run } => {
                ExecutionNews::Ended(id(self.executions()), has_run.then(of_last))
            }
        })
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
                Stage::Approve { args },
            ) => {
                let args = args.clone();
                self.decided(args, decided, took, reason)
            }
            (CallFact::Asked, Stage::Approve { .. }) => After::default(),
            (CallFact::Interrupted(known), Stage::Interrupted { args }) => {
                let args = args.clone();
                self.interrupted(args, known)
            }
            // The check whether the tool may run again is made before. A journal may hold an execution that an earlier
            // rule allowed.
            (CallFact::Begun { .. }, Stage::Execute { args } | Stage::Interrupted { args }) => {
                self.begun.get_or_insert(at);
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
            (CallFact::Kept(attachment), _) => {
                self.attachments.push(attachment);
                After::default()
            }
            _ => After::ignored(),
        }
    }

    /// Records that the text at hand fits, and may run unless a policy or a person refuses it.
    fn accepted(&mut self, accepted: Accepted) -> After {
        let Accepted {
            args,
            changes,
            mut approval,
            reasons,
            risk,
            denied,
        } = accepted;
        let is_new = matches!(self.stage, Stage::Read);
        (self.reasons, self.risk) = (reasons, risk);
        if is_new {
            self.candidates.read(changes);
            let edited = self.edited.take().map(|edited| *edited);
            (self.approved, self.begun, self.follows) = (edited, None, None);
            approval |= self.asks_anew();
        }
        if let Some(reason) = denied {
            (self.denied_by, self.revised) = (None, false);
            return self.denied(args, Cause::denied(reason));
        }
        self.candidates.accept();
        self.stage = match approval && self.approved.is_none() {
            true => Stage::Approve { args },
            false => Stage::Execute { args },
        };
        match is_new {
            true => After::news(News::Accepted),
            false => After::default(),
        }
    }

    /// Takes the approval away from arguments that the approver gave, if it does not cover them. Returns `true` if it
    /// did so.
    fn asks_anew(&mut self) -> bool {
        let risk = self.risk();
        let is_too_risky = |approved: &Approved| approved.at_most.is_some_and(|most| risk > most);
        if self.approved.as_ref().is_some_and(is_too_risky) {
            self.reasons.push(ApprovalReason::RiskierArguments);
        } else if !self.reasons.iter().any(is_about_the_arguments) {
            return false;
        }
        let Some(given) = self.approved.take() else {
            return false;
        };
        self.follows = given.request.as_deref().map(str::to_owned);
        true
    }

    fn decided(
        &mut self,
        args: Json,
        decided: ApprovalDecision,
        took: Duration,
        reason: Option<DenialReason>,
    ) -> After {
        let request = self.key().cloned();
        let ApprovalDecision {
            approval,
            by,
            at_most,
        } = decided;
        self.revised = matches!(approval, Approval::Revise { .. });
        let why = match approval {
            Approval::Approve => {
                let took = Some(took);
                self.approved = Some(Approved {
                    by,
                    took,
                    at_most,
                    request,
                });
                self.stage = Stage::Execute { args };
                return After::default();
            }
            Approval::ApproveWith { args } => {
                let took = Some(took);
                self.edited = Some(Box::new(Approved {
                    by,
                    took,
                    at_most,
                    request,
                }));
                self.candidates.edit(args.as_str().to_owned(), self.round());
                self.stage = Stage::Read;
                return After::default();
            }
            Approval::Deny { reason } | Approval::Expired { reason } => wording::denied(&reason),
            Approval::Revise { note } => wording::to_be_revised(&note),
        };
        self.denied_by = by;
        self.candidates.withdraw();
        let cause = Cause::denied(why);
        self.denied(
            args,
            match reason {
                Some(reason) => cause.because(reason),
                None => cause,
            },
        )
    }

    /// Records that the arguments which the approver gave do not fit.
    fn edit_misread(&mut self, by: Option<String>, text: String, error: &ToolError) -> After {
        self.denied_by = by;
        let args = Json::parse(&*text).unwrap_or_else(|_| Json::string(&text));
        self.denied(args, Cause::denied(wording::edit_misread(error)))
    }

    /// Records that the text at hand may not run. The model is told if the text is its own. If the text was given for a
    /// failure, that failure is open again.
    fn denied(&mut self, args: Json, cause: Cause) -> After {
        let text = args.as_str().to_owned();
        let error = ToolError::Execution {
            args: args.clone(),
            cause,
        };
        if self.candidates.is_given() {
            let news = News::Failed(Box::new(error.receipt()));
            self.candidates.fail(text, error);
            return self.go_back().with(news);
        }
        self.candidates.accept();
        self.stage = Stage::Done {
            input: args,
            result: Err(error),
        };
        After::default()
    }

    fn ended(&mut self, args: Json, result: Result<Json, Cause>, partial: bool) -> After {
        self.shown = Some(args.clone());
        match result {
            Ok(output) => {
                if partial {
                    self.partial = true;
                    self.remark = Some(wording::PARTIAL.to_owned());
                }
                self.ran(None);
                self.stage = Stage::Done {
                    input: args,
                    result: Ok(output),
                };
                After::default()
            }
            Err(cause) => self.failed_to_run(args, cause),
        }
    }

    /// Records an execution that came to its end, or was cut off.
    fn ran(&mut self, error: Option<&ToolError>) {
        let writes = self.writes();
        let approved_by = self.approver();
        let took = self.approved.as_mut().and_then(|yes| yes.took.take());
        self.candidates.run();
        // The server that carried it out is gone: the same as if our process had ended.
        self.in_doubt |= writes && error.is_some_and(ToolError::is_interrupted);
        // Mostly the first execution is the last.
        self.attempts.reserve_exact(1);
        self.attempts.push(Attempt {
            number: self.attempt(),
            error: error.map(|error| Box::new(error.receipt())),
            waited_s: self.waited.take().as_ref().map(Duration::as_secs_f64),
            approved_by,
            approval_s: took.as_ref().map(Duration::as_secs_f64),
            partial: self.partial,
            effect_unknown: writes && error.is_some_and(ToolError::is_cut_off),
        });
    }

    /// Records that the run was put down while the call was in progress. An execution that goes on is begun again,
    /// which is no other execution.
    pub(crate) fn put_down(&mut self) {
        if let Stage::Running { args } = &self.stage {
            self.stage = Stage::Execute { args: args.clone() };
        }
    }

    /// Records that the process ended while the call was in progress.
    ///
    /// An execution that was under way and may have taken effect is an attempt. It is recorded before another execution
    /// begins. If the tool itself ends its process, its last execution is recorded as well.
    pub(crate) fn interrupt(&mut self) {
        let args = match &self.stage {
            Stage::Running { args } => args.clone(),
            // The query about the effect may be what ends the process, too.
            Stage::Interrupted { .. } => return self.interruptions += 1,
            _ => return,
        };
        if self.goes_on() {
            return self.put_down();
        }
        self.interruptions += 1;
        if self.writes() || self.ends_its_process() {
            self.was_interrupted(&args);
        }
        self.stage = match self.may_repeat() {
            true => Stage::Execute { args },
            false => Stage::Interrupted { args },
        };
    }

    /// Records an execution that was interrupted.
    fn was_interrupted(&mut self, args: &Json) {
        let mut cause = Cause::interrupted(wording::PROCESS_ENDED);
        if self.writes() {
            cause = cause.of_a_write(self.is_repeatable());
            self.in_doubt = true;
        }
        let error = ToolError::Execution {
            args: args.clone(),
            cause,
        };
        self.ran(Some(&error));
        self.repeated += 1;
        self.shown = Some(args.clone());
        self.failed_run = Some(Box::new(error));
    }

    /// Returns `true` if the tool may simply run again after an interruption.
    fn may_repeat(&self) -> bool {
        let retry = self.candidates.most_rounds();
        let is_bounded = retry.is_some_and(|most| self.rounds() >= most);
        let is_harmless = !self.writes() || self.is_repeatable() && !is_bounded;
        is_harmless && !self.ends_its_process()
    }

    /// Returns `true` if the tool may have taken effect, and the time is over in which it may run again with the same
    /// key.
    pub(crate) fn is_too_late(&self, now: impl FnOnce() -> Timestamp) -> bool {
        let window = self.tool.as_ref().and_then(|tool| tool.window);
        let window = window.filter(|_| self.may_have_taken_effect());
        window
            .zip(self.begun)
            .is_some_and(|(window, begun)| now().since(begun) > window)
    }

    /// Returns `true` if the process has ended so often while the tool was at work that the tool may be the reason.
    /// Then no code of the tool runs any more.
    fn ends_its_process(&self) -> bool {
        self.interruptions >= MOST_INTERRUPTIONS
    }

    /// Records the knowledge about an interrupted execution.
    fn interrupted(&mut self, args: Json, known: Interrupted) -> After {
        let cause = match known {
            Interrupted::Done(output) => {
                self.found_out(None);
                self.stage = Stage::Done {
                    input: args,
                    result: Ok(output),
                };
                return After::default();
            }
            Interrupted::NotDone => {
                let cause = Cause::interrupted(wording::PROCESS_ENDED_WITHOUT_EFFECT);
                let error = ToolError::Execution {
                    args: args.clone(),
                    cause,
                };
                self.found_out(Some(&error));
                // The tool runs anew.
                self.repeated = self.repeated.saturating_sub(1);
                self.stage = Stage::Execute { args };
                return After::default();
            }
            Interrupted::Unknown(cause) => cause,
        };
        self.in_doubt = true;
        let error = ToolError::Execution { args, cause };
        // If it was too late for another execution, the last one may have failed in its own way.
        let error = self.failed_run.as_deref().cloned().unwrap_or(error);
        self.settle_with(error);
        After::default()
    }

    /// Records that the effect of the interrupted executions is known now, with the failure of the last of them if it
    /// failed.
    fn found_out(&mut self, error: Option<&ToolError>) {
        self.in_doubt = false;
        for attempt in &mut self.attempts {
            attempt.effect_unknown = false;
        }
        if let Some(last) = self.attempts.last_mut() {
            last.error = error.map(|error| Box::new(error.receipt()));
        }
    }

    fn doubt(&self) -> Doubt {
        Doubt {
            call: self.id.clone().unwrap_or_default(),
            tool: self.tool().to_owned(),
            args: self.input(),
        }
    }

    /// Returns the name of the tool, as receipts have it.
    pub(crate) fn tool(&self) -> &str {
        let own_name = self.tool.as_ref().and_then(|tool| tool.own_name.as_deref());
        own_name.unwrap_or(&self.call.name)
    }

    /// Returns the version of the tool, if the agent has it.
    pub(crate) fn version(&self) -> Option<&str> {
        self.tool.as_ref().map(|tool| &*tool.version)
    }

    /// Returns `true` if the tool is a part of the run itself, as a delegate is.
    pub(crate) fn goes_on(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.goes_on)
    }

    fn writes(&self) -> bool {
        self.tool.as_ref().is_none_or(|tool| tool.writes)
    }

    fn is_repeatable(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.repeatable)
    }

    /// Returns `true` if the arguments at hand were approved.
    pub(crate) fn is_approved(&self) -> bool {
        self.approved.is_some()
    }

    /// Returns the declared effects of the tool.
    pub(crate) fn effects(&self) -> Effects {
        match &self.tool {
            Some(Called { writes: true, .. }) => Effects::Writes,
            Some(Called { reads: true, .. }) => Effects::Reads,
            _ => Effects::None,
        }
    }

    /// Returns the risk of the call.
    pub(crate) fn risk(&self) -> Risk {
        let of_tool = self.tool.as_ref().map_or(Risk::High, |tool| tool.risk);
        self.risk.unwrap_or(of_tool)
    }

    /// Returns `true` if the effects of the tool leave the organisation.
    pub(crate) fn is_external(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.external)
    }

    /// Returns `true` if the tool declares that the effect of a call cannot be undone.
    pub(crate) fn is_irreversible(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.irreversible)
    }

    /// Returns the execution of the call with these arguments that is about to happen or goes on, for a call that comes
    /// after it.
    pub(crate) fn about_to_run(&self, tool: &str, args: &Json) -> Option<EarlierExecution> {
        let own = match &self.stage {
            Stage::Approve { args }
            | Stage::Execute { args }
            | Stage::Running { args }
            | Stage::Interrupted { args } => args,
            _ => return None,
        };
        let is_same = self.tool() == tool && canonical(own.as_str()) == canonical(args.as_str());
        let request = self.key().filter(|_| is_same)?.to_string();
        let attempt = self.attempt();
        Some(EarlierExecution {
            id: format!("{request} {attempt}"),
            at: None,
            outcome: EarlierOutcome::Open,
            call_id: self.id.as_deref().unwrap_or_default().to_owned(),
            request,
            attempt,
        })
    }

    /// Returns the effect of the call with these arguments in words, if the tool declares it.
    pub(crate) fn effect_in_words(&self, args: &Json) -> Option<String> {
        let effect = self.tool.as_ref()?.effect.as_ref()?;
        let args = args.to_value().ok()?;
        Some(filled(effect, &args))
    }

    /// Returns `true` if the text at hand is what the approver gave, and was not read yet.
    pub(crate) fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    /// Returns `true` if a tool that writes has begun to run.
    pub(crate) fn has_written(&self) -> bool {
        let receipt = self.receipt.as_ref();
        let has_run = self.executions() > 0
            || self.is_running()
            || receipt.is_some_and(|receipt| !receipt.attempts.is_empty());
        self.effects() == Effects::Writes && has_run
    }

    /// Returns `true` if the tool is made for being asked the same again and again.
    pub(crate) fn polls(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.polls)
    }

    /// Returns `true` if the call asks for a piece of the agent's knowledge.
    pub(crate) fn is_knowledge(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.knowledge)
    }

    /// Returns the name of the person or program that approved the arguments at hand, if the approver gave one.
    pub(crate) fn approver(&self) -> Option<String> {
        self.approved.as_ref()?.by.clone()
    }

    /// Returns a digest of the current arguments, made with the key of the run if it has one.
    pub(crate) fn input_digest(&self, key: Option<RunKey>) -> Arc<str> {
        let input = self.input();
        let text = canonical(input.as_str());
        match key {
            Some(key) => key.digest(&text),
            None => id(&hmac_sha256::Hash::hash(text.as_bytes())),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running { .. })
    }

    /// Returns how many times the tool has run.
    pub(crate) fn executions(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// Returns `true` if it is not known whether an execution took effect.
    fn may_have_taken_effect(&self) -> bool {
        self.attempts.iter().any(|run| run.effect_unknown)
    }

    /// Returns `true` if the tool has run, and may have had an effect that must not happen twice.
    fn is_in_doubt(&self) -> bool {
        !self.is_repeatable() && self.executions() > 0 || self.may_have_taken_effect()
    }

    /// Returns the number of the next execution, from 1, or of the execution whose effect is in question.
    pub(crate) fn attempt(&self) -> u32 {
        match self.stage {
            Stage::Interrupted { .. } => self.executions(),
            _ => self.executions().saturating_add(1),
        }
    }

    /// Returns the number of times that the call was about to run: executions, and rounds in which a limiter held it
    /// back. A `retry` bounds this number.
    pub(crate) fn rounds(&self) -> u32 {
        self.executions().saturating_add(self.held_back)
    }

    /// Returns the number of the round under way, from 1. Places within the call are named by the round, so that a
    /// repeated execution finds the work that ran within it before.
    pub(crate) fn round(&self) -> u32 {
        let over = self.rounds().saturating_sub(self.repeated);
        over.saturating_add(1)
    }

    /// Returns the current arguments: those that are accepted, else those that a receipt would show.
    pub(crate) fn input(&self) -> Json {
        match &self.stage {
            Stage::Approve { args }
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

    /// Returns the arguments that a receipt shows if the call fails.
    fn shown(&self) -> Json {
        let shown = self.shown.clone();
        shown.unwrap_or_else(|| Json::string(&self.call.arguments))
    }

    /// Returns `true` if arguments have been accepted, or never will be.
    fn is_identified(&self) -> bool {
        !matches!(
            self.stage,
            Stage::New
                | Stage::Read
                | Stage::Arms
                | Stage::Repair(_)
                | Stage::Climb { .. }
                | Stage::EndsRun
        )
    }

    /// Returns the id in the receipt, once it is fixed.
    pub(crate) fn id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }

    /// Returns the key by which services know the call, with the arguments at hand.
    pub(crate) fn key(&self) -> Option<&Arc<str>> {
        self.key.as_ref().or(self.id.as_ref())
    }

    /// Returns a digest of the tool, its version, the canonical input and the call's place in the run. It is the same
    /// on any machine, whatever the order of keys and the white space.
    fn digest(&self, place: &impl fmt::Display) -> Arc<str> {
        let mut digest = hmac_sha256::Hash::new();
        digest.update(self.tool());
        digest.update("@");
        digest.update(self.version().unwrap_or_default());
        digest.update([0]);
        digest.update(&*canonical(self.input().as_str()));
        digest.update([0]);
        // Writing into a digest cannot fail.
        let _ = write!(Written(&mut digest), "{place}");
        digest.update(self.seq.to_le_bytes());
        id(&digest.finalize())
    }

    /// Returns the result of the call, once it is settled.
    pub(crate) fn result(&self) -> Option<&Result<Json, ToolError>> {
        match &self.stage {
            Stage::Done { result, .. } => Some(result),
            _ => None,
        }
    }
}

/// Step of an execution that later calls are told of.
#[derive(Clone, Copy)]
enum Step {
    Began,
    Withdrawn,
    Ended,
    /// It is known now, as far as it can be, what an interrupted execution did.
    FoundOut {
        has_run: bool,
    },
}

impl Step {
    fn of(fact: &CallFact) -> Option<Step> {
        match fact {
            CallFact::Begun { .. } => Some(Step::Began),
            CallFact::Withdrawn => Some(Step::Withdrawn),
            CallFact::Ended { .. } => Some(Step::Ended),
            CallFact::Interrupted(known) => Some(Step::FoundOut {
                has_run: !matches!(known, Interrupted::NotDone),
            }),
            _ => None,
        }
    }
}

/// Returns `true` if whoever gave the arguments could not know the reason why they need approval.
fn is_about_the_arguments(reason: &ApprovalReason) -> bool {
    matches!(reason, ApprovalReason::Repeated(_))
}

/// Number of interruptions of a call after which it is in doubt.
const MOST_INTERRUPTIONS: u32 = 3;

/// Returns a text in which the values of arguments are put in the place of their names in braces.
fn filled(text: &str, args: &Value) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(&before.replace("}}", "}"));
        if let Some(after) = after.strip_prefix('{') {
            filled.push('{');
            rest = after;
            continue;
        }
        let value = after.split_once('}').and_then(|(name, after)| {
            let value = match named(name, args)? {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            Some((value, after))
        });
        match value {
            Some((value, after)) => {
                filled.push_str(&value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + &rest.replace("}}", "}")
}

/// Returns the argument of this name, or the field of an argument at this path: `to.city`.
fn named<'a>(name: &str, args: &'a Value) -> Option<&'a Value> {
    let within = || {
        name.split('.')
            .try_fold(args, |value, field| value.get(field))
    };
    args.get(name).or_else(within)
}

/// Writer that feeds formatted text into a digest.
struct Written<'a>(&'a mut hmac_sha256::Hash);

impl Write for Written<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}
