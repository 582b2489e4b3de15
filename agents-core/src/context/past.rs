//! Earlier executions and denials of a run and its nested runs, as far as they matter for later calls.

use crate::{
    Json,
    journal::{ArgsDigest, ExecutionNews, Executions, State},
    run::{EarlierDenial, EarlierExecution, Findings},
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Executions that a run and its nested runs have had, so that repeated calls are noticed.
///
/// Each run has its own executions in its state, as they follow from its facts. This value holds those of all these runs
/// together.
#[derive(Default)]
pub(crate) struct Past(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Calls whose effect is not known: the names of their tools, by the ids of the calls. A person is asked about each
    /// further call of these tools, until somebody has found out about all of them.
    doubts: BTreeMap<String, String>,
    executions: Executions,
}

impl Past {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the executions and doubts of a run that was stored.
    pub(crate) fn add(&self, stored: &State) {
        let mut inner = self.inner();
        for (_, doubt) in &stored.doubts {
            inner
                .doubts
                .insert((*doubt.call).into(), (*doubt.tool).into());
        }
        inner.executions.extend(&stored.executions);
    }

    pub(crate) fn doubt(&self, call: &str, tool: &str) {
        self.inner().doubts.insert(call.to_owned(), tool.to_owned());
    }

    pub(crate) fn found_out(&self, call: &str) {
        self.inner().doubts.remove(call);
    }

    pub(crate) fn note(&self, news: ExecutionNews) {
        self.inner().executions.note(news);
    }

    /// Returns `true` if a call of this tool is in doubt. The doubt ends when the tool's own code or a person has
    /// found out whether the call took effect. `findings` holds what people have found out.
    pub(crate) fn is_in_doubt(&self, tool: &str, findings: &Findings) -> bool {
        let inner = self.inner();
        let mut of = inner.doubts.iter().filter(|(_, own)| *own == tool);
        of.any(|(call, _)| !findings.has(call))
    }

    /// Returns the last denial of this tool with these arguments, in any of the runs; `None` if there was none.
    pub(crate) fn denied(&self, tool: &str, args: &Json) -> Option<EarlierDenial> {
        self.inner().executions.denial(tool, args).cloned()
    }

    /// Returns the last execution of this tool with these arguments, in any of the runs; `None` if no such execution
    /// is known.
    pub(crate) fn executed(&self, tool: &str, args: &ArgsDigest) -> Option<EarlierExecution> {
        self.inner().executions.find(tool, args).cloned()
    }
}
