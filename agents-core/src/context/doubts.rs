//! Tools with an earlier execution whose effect is not known.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// Names of the tools with an execution whose effect is not known, in a run or in any nested run. A person is asked
/// about each further call of these tools.
///
/// Each run has its own such names in its state, as they follow from its facts. This set holds the names of all these
/// runs together.
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
