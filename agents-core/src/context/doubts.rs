//! Calls whose effect is not known.

use crate::run::Findings;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Calls whose effect is not known, in a run or in any nested run: the names of their tools, by the ids of the calls. A
/// person is asked about each further call of these tools, until somebody has found out about all of them.
///
/// Each run has its own such calls in its state, as they follow from its facts. This map holds those of all these runs
/// together.
#[derive(Default)]
pub(crate) struct Doubts(Mutex<BTreeMap<String, String>>);

impl Doubts {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, call: &str, tool: &str) {
        self.all().insert(call.to_owned(), tool.to_owned());
    }

    pub(crate) fn remove(&self, call: &str) {
        self.all().remove(call);
    }

    /// Returns `true` if a call of this tool is in doubt, and nobody has found out about it.
    pub(crate) fn has(&self, tool: &str, findings: &Findings) -> bool {
        let all = self.all();
        let mut of = all.iter().filter(|(_, own)| *own == tool);
        of.any(|(call, _)| !findings.has(call))
    }
}
