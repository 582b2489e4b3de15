//! Executions of a call, and what later calls are told of them.

use super::{After, Call, CallFact, Interrupted, Stage, wording};
use crate::{
    Json,
    error::{Cause, ToolError},
    journal::executions::{Executed, ExecutionNews, args_digest},
    json::canonical,
    run::{Attempt, EarlierExecution, EarlierOutcome, Timestamp},
    tool::Effects,
};
use std::time::Duration;

impl Call {
    /// Returns `true` if each execution of the tool may have an effect of its own: the tool writes, is not idempotent,
    /// and is no part of the run itself.
    pub(super) fn is_executed_once(&self) -> bool {
        let tool = self.tool.as_ref();
        tool.is_some_and(|tool| tool.writes && !tool.repeatable && !tool.goes_on)
    }

    /// Returns what later calls have to know of an execution after a fact: that the execution began or ended, and with
    /// which outcome. `step` is what the fact meant for the execution, and `before` is the number of executions before
    /// the fact.
    pub(super) fn execution_news(
        &self,
        step: Step,
        before: u32,
        at: Timestamp,
    ) -> Option<ExecutionNews> {
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

    pub(super) fn ended(
        &mut self,
        args: Json,
        result: Result<Json, Cause>,
        partial: bool,
    ) -> After {
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

    /// Records an execution that ended or was cut off, as an attempt of the call. `error` is its failure.
    pub(super) fn ran(&mut self, error: Option<&ToolError>) {
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

    /// Lets an execution under way begin again as the same attempt, whatever the tool does: when a run that was put
    /// down goes on, or after the end of a process if the tool is a part of the run, as a delegate is.
    pub(crate) fn put_down(&mut self) {
        if let Stage::Running { args } = &self.stage {
            self.stage = Stage::Execute { args: args.clone() };
        }
    }

    /// Returns the execution of this call that is about to begin or under way, for a later call of this tool with these
    /// arguments; `None` if this call is of another tool, has other arguments, or is at another stage.
    pub(crate) fn about_to_run(&self, tool: &str, args: &Json) -> Option<EarlierExecution> {
        let own = match &self.stage {
            Stage::Approve { args, .. }
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

    /// Returns `true` if the call's tool writes and has begun to run.
    pub(crate) fn has_written(&self) -> bool {
        let receipt = self.receipt.as_ref();
        let has_run = self.executions() > 0
            || self.is_running()
            || receipt.is_some_and(|receipt| !receipt.attempts.is_empty());
        self.effects() == Effects::Writes && has_run
    }

    /// Returns how many executions of this call have ended or were interrupted.
    pub(crate) fn executions(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// Returns `true` if it is not known whether an execution of the call took effect.
    pub(super) fn may_have_taken_effect(&self) -> bool {
        self.attempts.iter().any(|run| run.effect_unknown)
    }

    /// Returns `true` if the tool has run, and may have had an effect that must not happen twice.
    pub(super) fn is_in_doubt(&self) -> bool {
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
}

/// Change of an execution that later equal calls have to know of.
#[derive(Clone, Copy)]
pub(super) enum Step {
    Began,
    Withdrawn,
    Ended,
    /// A person or the tool has found out what became of an interrupted execution, as far as possible.
    FoundOut {
        has_run: bool,
    },
}

impl Step {
    pub(super) fn of(fact: &CallFact) -> Option<Step> {
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
