//! The texts that stand in place of what failed: used, given up, or found not to have run.

use super::{
    CallState,
    tries::{Given, Unsettled, give_up, give_up_replaced},
};
use crate::{error::ToolError, reader::Repairs};
use serde::{Deserialize, Serialize};
use std::mem;

impl CallState {
    /// Nothing of what was given and is at hand is used.
    pub(super) fn give_up_texts(&mut self) {
        let given = mem::take(&mut self.given);
        give_up(&mut self.repairs, self.outdated, given);
        self.outdated = self.repairs.len();
    }

    /// The text at hand is used, and not those that it has replaced; unless it does not come to run.
    pub(crate) fn use_text(&mut self) {
        let unsettled = mem::take(&mut self.unsettled);
        self.before = (!unsettled.is_empty()).then(|| {
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

    /// They do not run: if they were given for a failure, they were a try.
    pub(crate) fn not_run(&mut self) {
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
}

/// A call as it was before arguments that were given for a failure took the place of those that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Before {
    unsettled: Vec<Unsettled<ToolError>>,
    given: Vec<Given>,
    repairs: Repairs,
    outdated: usize,
}
