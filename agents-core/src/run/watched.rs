use super::{
    Node, Root,
    kept::Kept,
    trace::{Step, Trace, place, trace_id},
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tracing::Span;

/// What a run keeps of itself to be looked at.
pub(crate) struct Watched {
    steps: Mutex<Vec<Kept>>,
    /// The span of the whole run, and the id of its trace.
    span: OnceLock<(Span, Arc<str>)>,
}

impl Watched {
    /// A run that has gone through these steps before.
    pub(crate) fn of(steps: Vec<Step>) -> Self {
        Watched {
            steps: Mutex::new(steps.into_iter().map(Kept::told).collect()),
            span: OnceLock::new(),
        }
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.kept().iter().map(Kept::in_words).collect()
    }

    /// The steps of whoever works within this place.
    pub(crate) fn within(&self, path: &str) -> Vec<Step> {
        let kept = self.kept();
        let within = kept.iter().filter(|kept| kept.is_within(path));
        within.map(Kept::in_words).collect()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Root {
    /// The run begins, in this span.
    pub(crate) fn place_in_trace(&self, span: &Span) {
        let id = || trace_id(span, &self.run_id).into();
        self.watched.span.get_or_init(|| (span.clone(), id()));
    }

    /// The span of the whole run.
    pub(crate) fn span(&self) -> Span {
        let span = self.watched.span.get();
        span.map_or_else(Span::none, |(span, _)| span.clone())
    }

    /// The id of the trace to which the run belongs.
    pub(crate) fn trace_id(&self) -> &str {
        self.watched.span.get().map_or("", |(_, id)| id)
    }

    /// The place of the whole run among all traces, if somebody traces it.
    pub(crate) fn trace_place(&self) -> Option<String> {
        place(&self.span())
    }

    /// Where the trace can be looked at.
    pub(crate) fn traces_url(&self) -> Option<String> {
        let template = self.settings.traces_url.as_deref()?;
        let url = template.replace("{trace_id}", self.trace_id());
        Some(url.replace("{run_id}", &self.run_id))
    }

    /// Keeps a step that has ended.
    pub(crate) fn step(&self, step: Kept) {
        self.watched.kept().push(step);
    }

    /// Whether the answer that this turn of the agent at this node gave is refused.
    pub(crate) fn answer_refused(&self, node: &Node, turn: u32, is_refused: bool) {
        let worker = node.worker();
        let mut kept = self.watched.kept();
        let mut latest = kept.iter_mut().rev();
        latest.find_map(|step| {
            step.answer_refused(&worker.place, turn, is_refused)
                .then_some(())
        });
    }

    pub(crate) fn trace(&self) -> Trace {
        Trace {
            id: self.trace_id().to_owned(),
            steps: self.watched.steps(),
        }
    }
}
