//! Executions that the end of a process interrupted.

use super::{After, Call, Doubt, Interrupted, Stage, wording};
use crate::{
    Json,
    error::{Cause, ToolError},
    run::Timestamp,
};

/// Number of interruptions after which a call is not run again, since its tool may end the process.
const MOST_INTERRUPTIONS: u32 = 3;

impl Call {
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

    /// Records an interrupted execution as an attempt of the call.
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

    /// Returns `true` if the tool may run again after an interruption without asking what the execution did, since a
    /// repetition does no harm.
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
    pub(super) fn ends_its_process(&self) -> bool {
        self.interruptions >= MOST_INTERRUPTIONS
    }

    /// Records what is known about the interrupted execution, and goes on accordingly.
    pub(super) fn interrupted(&mut self, args: Json, known: Interrupted) -> After {
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

    /// Records that the effect of the interrupted executions is no longer in doubt, with the failure of the last of
    /// them if it failed.
    fn found_out(&mut self, error: Option<&ToolError>) {
        self.in_doubt = false;
        for attempt in &mut self.attempts {
            attempt.effect_unknown = false;
        }
        if let Some(last) = self.attempts.last_mut() {
            last.error = error.map(|error| Box::new(error.receipt()));
        }
    }

    pub(super) fn doubt(&self) -> Doubt {
        Doubt {
            call: self.id.clone().unwrap_or_default(),
            tool: self.tool().to_owned(),
            args: self.input(),
        }
    }
}
