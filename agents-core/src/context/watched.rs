use super::Root;
use crate::run::trace::{place, trace_id};
use std::sync::{Arc, OnceLock};
use tracing::Span;

/// Span of a run.
#[derive(Default)]
pub(crate) struct Watched {
    /// Span of the whole run, and the id of its trace.
    span: OnceLock<(Span, Arc<str>)>,
}

impl Root {
    /// Records the span in which the run begins.
    pub(crate) fn place_in_trace(&self, span: &Span) {
        let id = || trace_id(span, &self.run_id).into();
        self.watched.span.get_or_init(|| (span.clone(), id()));
    }

    /// Returns the span of the whole run.
    pub(crate) fn span(&self) -> Span {
        let span = self.watched.span.get();
        span.map_or_else(Span::none, |(span, _)| span.clone())
    }

    /// Returns the id of the trace to which the run belongs.
    pub(crate) fn trace_id(&self) -> &str {
        self.watched.span.get().map_or("", |(_, id)| id)
    }

    /// Returns the place of the whole run among all traces, if the run is traced.
    pub(crate) fn trace_place(&self) -> Option<String> {
        place(&self.span())
    }

    /// Returns the URL where the trace can be looked at.
    pub(crate) fn traces_url(&self) -> Option<String> {
        let template = self.settings.traces_url.as_deref()?;
        let url = template.replace("{trace_id}", self.trace_id());
        Some(url.replace("{run_id}", &self.run_id))
    }
}
