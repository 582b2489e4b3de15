//! Tools of which it is not known what they did.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// Names of the tools of which it is not known what they did, in a run or in any run of its own within it: a person is
/// asked about each further call.
///
/// Each run has its own in its state, as they follow from its facts. This is all of them.
#[derive(Default)]
pub(crate) struct Doubts(Mutex<BTreeSet<String>>);

impl Doubts {
    pub(crate) fn add(&self, tool: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(tool.to_owned());
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.contains(tool)
    }
}
