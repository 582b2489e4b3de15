//! End of a call: it is settled with a result, refused, or abandoned with the work that it was a part of.

use super::{After, Call, Stage, recover::own_failure, wording};
use crate::{
    Json,
    error::{Cause, Code, ToolError},
};

impl Call {
    /// Settles the call with its own failure: that of the model's arguments, or of an execution.
    pub(super) fn settle(&mut self) {
        if let Some(error) = own_failure(&self.candidates) {
            self.settle_with(error);
        }
    }

    /// Settles the call with an error. The receipt shows the arguments of the error if it is one of an execution, or
    /// else those of the field `shown`.
    pub(super) fn settle_with(&mut self, mut error: ToolError) {
        self.candidates.go_back_to_own();
        if let Some(failed) = self.failed_run.take() {
            self.candidates.withdraw_all(&error.to_string());
            if error.is_limited() {
                error = *failed;
                self.remark
                    .get_or_insert_with(|| wording::HELD_BACK.to_owned());
            }
        }
        self.remark = self.remark.take().or_else(|| self.candidates.cut_short());
        let input = match &error {
            ToolError::Execution { args, .. } => args.clone(),
            _ => self.shown(),
        };
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// Ends the call with an error, since it may not be made. The receipt shows the arguments as the model sent them.
    pub(super) fn refuse(&mut self, error: ToolError) -> After {
        if self.is_running() {
            self.was_cut_off(wording::INTERRUPTED, 0);
        }
        let sent = &self.call.arguments;
        let input = Json::parse(sent.as_str()).unwrap_or_else(|_| Json::string(sent));
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
        After::default()
    }

    /// Records an execution that has begun and whose end will not be known, as an attempt of the call.
    fn was_cut_off(&mut self, why: &str, calls: usize) {
        let error = self.error_at_the_end(why, calls);
        self.ran(Some(&error));
        let writes = self.writes();
        if let Some(cut_off) = self.attempts.last_mut() {
            cut_off.effect_unknown = writes;
        }
    }

    /// Settles the call with this result, in whatever stage it is.
    pub(super) fn settle_as(&mut self, input: Json, result: Result<Json, Cause>) {
        let result = result.map_err(|cause| ToolError::Execution {
            args: input.clone(),
            cause,
        });
        self.stage = Stage::Done { input, result };
    }

    /// Ends a call that is not settled, since the work around it ends for this reason.
    ///
    /// If the tool itself ended that work, the result is the tool's output. Otherwise the result is the failure that
    /// was being handled, or an error that says that the call was cut off or left undone. `calls` is the number of
    /// calls that were made within this call.
    pub(super) fn abandon(&mut self, why: &str, calls: usize) {
        if self.result().is_some() {
            return;
        }
        if let Some(deed) = self.final_output.take() {
            let input = self.input();
            self.ran(None);
            return self.settle_as(input, Ok(deed));
        }
        let fixer = match &self.stage {
            Stage::Repair(fixer) => Some(fixer.name().to_owned()),
            _ => None,
        };
        let is_running = self.is_running();
        if !is_running {
            self.leave_waiting(why);
        }
        let error = self.error_at_the_end(why, calls);
        if is_running {
            self.was_cut_off(why, calls);
        }
        self.settle_with(error);
        if let Some(fixer) = fixer {
            self.candidates.cut_off(&fixer);
        }
    }

    /// Returns the error of a call that ends without a result, since the work around it ends.
    fn error_at_the_end(&self, why: &str, calls: usize) -> ToolError {
        let why = match &self.stage {
            Stage::Arms | Stage::Repair(_) | Stage::EndsRun => {
                match own_failure(&self.candidates) {
                    Some(error) => return error,
                    None => why.to_owned(),
                }
            }
            Stage::Climb { escalation } => return ToolError::from((**escalation).clone()),
            Stage::Approve { .. } => wording::undecided(why),
            Stage::Running { .. } => wording::cut_off(why, calls, self.writes()),
            Stage::Interrupted { .. } => {
                let last = self.attempts.last().and_then(|run| run.error.as_ref());
                let last = last.map_or("", |error| &*error.message);
                format!("{why}: {last}")
            }
            _ => why.to_owned(),
        };
        ToolError::Execution {
            args: self.input(),
            cause: Cause::text(Code::Unknown, why),
        }
    }

    /// Drops repaired texts that wait to run, with a reason. The call then handles the failure that they were given
    /// for.
    fn leave_waiting(&mut self, why: &str) {
        let why = match &self.stage {
            Stage::Approve { .. } => wording::undecided(why),
            Stage::Execute { .. } | Stage::BackOff { .. } | Stage::Sleep { .. } => why.to_owned(),
            _ => return,
        };
        if self.candidates.withdraw_all(&why) {
            self.stage = Stage::Arms;
            self.remark_beside(why);
        }
    }

    /// Adds a remark about an execution that may have taken effect, if the reported error does not tell of this
    /// execution. A call that has succeeded needs no such remark.
    pub(super) fn tell_of_effects(&mut self) {
        let Some(Err(told)) = self.result() else {
            return;
        };
        let told = told.to_string();
        let mut unknown = self.attempts.iter().filter(|run| run.effect_unknown);
        let last = unknown.next_back().and_then(|run| run.error.as_ref());
        if let Some(error) = last.filter(|error| !told.contains(&error.message)) {
            let said = wording::has_run(&error.message);
            self.remark_beside(said);
        }
    }

    /// Adds a remark that the model gets with the result of the call. Earlier remarks stand before this one.
    fn remark_beside(&mut self, said: String) {
        self.remark = Some(match self.remark.take() {
            Some(before) => format!("{before}; {said}"),
            None => said,
        });
    }
}
