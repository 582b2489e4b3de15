//! The texts that stand in place of what failed: used, given up, or found not to have run.

use super::{
    CallState,
    tries::{Given, Unsettled, give_up, give_up_replaced},
};
use crate::{
    error::ToolError,
    run::{RepairKind, RepairStep, Repairs},
};
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
                told: 0,
                earlier: self.before.take(),
            })
        });
        let begins = give_up_replaced(&mut self.repairs, self.outdated, &mut self.given);
        self.outdated = begins.unwrap_or(self.outdated);
        if let Some(before) = &mut self.before {
            before.told = self.repairs.len();
        }
    }

    /// They do not run: if they were given for a failure, they were a try. What was tried since for them stays told.
    pub(crate) fn not_run(&mut self) {
        if let Some(before) = self.before.take() {
            let Before {
                unsettled,
                given,
                repairs,
                outdated,
                told,
                earlier,
            } = *before;
            self.unsettled = unsettled;
            self.given = given;
            let since = self.repairs.0.split_off(told.min(self.repairs.len()));
            let tried = |change: &RepairStep| change.kind == RepairKind::Tried;
            self.repairs = repairs;
            self.repairs.0.extend(since.into_iter().filter(tried));
            self.outdated = outdated;
            self.before = earlier;
        }
    }

    /// Whatever was given and has not run was a try, and nothing comes of it for this reason. The failure for which the
    /// first of it was given.
    pub(super) fn withdraw(&mut self, why: &str) -> Option<ToolError> {
        let mut own = None;
        while self.before.is_some() {
            self.not_run();
            if let Some(given) = self.given.last_mut() {
                given.failed(why);
            }
            own = self.unsettled.drain(..).next().map(|first| first.failure);
            self.give_up_texts();
        }
        own
    }
}

/// A call as it was before arguments that were given for a failure took the place of those that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Before {
    unsettled: Vec<Unsettled<ToolError>>,
    given: Vec<Given>,
    repairs: Repairs,
    outdated: usize,
    /// How many changes were told when they had taken its place.
    told: usize,
    /// The same of arguments before that have not run either.
    earlier: Option<Box<Before>>,
}
