//! A call that is left unsettled, since what it is a part of has ended: what is known of it.

use super::{CallState, Stage, tries::cut_off_at_work};
use crate::error::{Cause, Code, ToolError};

/// What is known of an execution that was begun and did not end, within which so many calls were made.
fn cut_off(calls: usize, writes: bool) -> String {
    let known = match calls {
        0 if writes => ", and whether it took effect is not known".to_owned(),
        0 => ", which changed nothing".to_owned(),
        1 => "; the call within it has a receipt, the rest is not known".to_owned(),
        calls => format!("; the {calls} calls within it have receipts, the rest is not known"),
    };
    format!("it was cut off while it ran{known}")
}

/// What is known of a call that was not yet approved.
const UNDECIDED: &str = "it waited for approval, and nobody had decided";

impl CallState {
    /// What the call is a part of ends before the call is settled: it ends with what its tool has done to end that, with
    /// the failure that was being dealt with, with having been cut off while it ran, or with having been left undone.
    /// So many calls were made within it.
    pub(crate) fn abandon(&mut self, why: &str, calls: usize) {
        if self.result().is_some() {
            return;
        }
        if let Some(deed) = self.last_deed.take() {
            let input = self.input();
            self.ran(None);
            return self.settle_as(input, Ok(deed));
        }
        if !self.running {
            self.leave_waiting(why);
        }
        let error = match &self.stage {
            Stage::Failed { error, .. } | Stage::Recover { error, .. } => error.clone(),
            Stage::Climb { escalation } => ToolError::from((**escalation).clone()),
            stage => ToolError::Execution {
                args: self.input(),
                cause: Cause::text(
                    Code::Unknown,
                    match stage {
                        Stage::Approve { .. } => format!("{why}: {UNDECIDED}"),
                        _ if self.running => format!("{why}: {}", cut_off(calls, self.writes)),
                        _ => why.to_owned(),
                    },
                ),
            },
        };
        if self.running {
            self.ran(Some(&error));
            if let Some(cut_off) = self.attempts.last_mut() {
                cut_off.effect_unknown = self.writes;
            }
        }
        self.settle(error);
        if let Some(fixer) = self.asked.take() {
            self.repairs.extend(cut_off_at_work(&fixer));
        }
    }

    /// What was given for a failure waits to run, and will not: the failure is there still.
    fn leave_waiting(&mut self, why: &str) {
        let why = match &self.stage {
            Stage::Approve { .. } => format!("{why}: {UNDECIDED}"),
            Stage::Execute { .. } | Stage::BackOff { .. } => why.to_owned(),
            _ => return,
        };
        if let Some(error) = self.withdraw(&why) {
            let text = String::new();
            self.stage = Stage::Failed { text, error };
            self.remark_beside(why);
        }
    }
}
