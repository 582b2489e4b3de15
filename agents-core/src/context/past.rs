//! Earlier executions of a run and its nested runs, as far as they matter for later calls.

use crate::{
    journal::{ArgsDigest, ExecutionNews, Executions, State},
    run::EarlierExecution,
};
use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Earlier executions of a run and its nested runs.
///
/// Each run has its own executions in its state, as they follow from its facts. This value holds those of all these runs
/// together.
#[derive(Default)]
pub(crate) struct Past(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Names of the tools with an execution whose effect is not known. A person is asked about each further call of
    /// these tools.
    doubts: BTreeSet<String>,
    executions: Executions,
}

impl Past {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what follows from the facts of a stored run.
    pub(crate) fn add(&self, stored: &State) {
        let mut inner = self.inner();
        inner.doubts.extend(stored.doubts.iter().cloned());
        inner.executions.extend(&stored.executions);
    }

    pub(crate) fn doubt(&self, tool: &str) {
        self.inner().doubts.insert(tool.to_owned());
    }

    pub(crate) fn note(&self, news: ExecutionNews) {
        self.inner().executions.note(news);
    }

    pub(crate) fn is_in_doubt(&self, tool: &str) -> bool {
        self.inner().doubts.contains(tool)
    }

    /// Returns the last execution of this tool with these arguments.
    pub(crate) fn executed(&self, tool: &str, args: &ArgsDigest) -> Option<EarlierExecution> {
        self.inner().executions.find(tool, args).cloned()
    }
}
