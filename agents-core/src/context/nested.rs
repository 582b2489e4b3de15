//! Settings that a nested run takes over from the run around it.

use super::{RunContext, Settings, wording};
use crate::{
    Error, ErrorKind,
    run::{Clock, Timestamp},
    tool::Scope,
};
use std::sync::Arc;

/// Maximum number of runs that a run of its own is nested in. Each run begins with a new budget, so apart from
/// deadlines and cancellations, only this bound ends agents that call each other in runs of their own.
const DEEPEST: u32 = 15;

impl Settings {
    /// Takes settings over from the outer run, for a run of its own within it. Settings that were given to the inner
    /// run stay, but restrictions of the outer run apply as well. The masker, the replay, the findings and the records
    /// of executions are always those of the outer run. The error says that runs are nested too deep.
    pub(crate) fn inherit(&mut self, around: &RunContext) -> Result<(), Error> {
        let outer = &around.root.settings;
        self.nesting_depth = outer.nesting_depth + 1;
        if self.nesting_depth > DEEPEST {
            let message = wording::nested_too_deep(DEEPEST);
            return Err(Error::new(ErrorKind::Budget, message));
        }
        self.key_around = around.root.key();
        self.watch = around.watch().cloned();
        self.tighten(outer);
        self.executor.inherit(&outer.executor);
        self.purposes = self.purposes.take().or_else(|| outer.purposes.clone());
        self.model = self.model.take().or_else(|| around.model().cloned());
        if !self.has_own_clock {
            self.clock = Arc::new(TimeOf(outer.clock.clone()));
        }
        self.approver = self.approver.take().or_else(|| outer.approver.clone());
        if self.journal.is_none() {
            self.writer = outer.writer.clone();
        }
        self.known_models.extend(outer.known_models.iter().cloned());
        self.model_changes
            .extend(outer.model_changes.iter().cloned());
        let overriding = self.override_model.take();
        self.override_model = overriding.or_else(|| outer.override_model.clone());
        for (name, secret) in &outer.secrets {
            self.secrets
                .entry(name.clone())
                .or_insert_with(|| secret.clone());
        }
        if self.secret_store.is_none() {
            self.secret_store = outer.secret_store.clone();
        }
        self.masker = outer.masker.clone();
        self.replay = outer.replay.clone();
        self.past = outer.past.clone();
        self.findings = outer.findings.clone();
        self.activity = outer.activity.clone();
        self.no_effects = self.no_effects.take().or_else(|| outer.no_effects.clone());
        self.fence = self.fence.or(outer.fence);
        self.traces_url = self.traces_url.take().or_else(|| outer.traces_url.clone());
        // A part of the work is done for the same tenant, unless another one is named.
        if self.scope == Scope::default() {
            self.scope = outer.scope.clone();
        }
        Ok(())
    }

    /// Takes over the outer run's restrictions: a nested run may be stricter than the outer run, never looser.
    fn tighten(&mut self, outer: &Settings) {
        self.strict |= outer.strict;
        self.confirms_repeats |= outer.confirms_repeats;
        self.refuses_denied |= outer.refuses_denied;
        self.tool_timeout = self.tool_timeout.min(outer.tool_timeout);
        self.max_output_bytes = self.max_output_bytes.min(outer.max_output_bytes);
        self.max_argument_bytes = self.max_argument_bytes.min(outer.max_argument_bytes);
    }
}

/// Clock of a nested run: the time is that of the outer run's clock, and ids of runs are made anew.
struct TimeOf(Arc<dyn Clock>);

impl Clock for TimeOf {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}
