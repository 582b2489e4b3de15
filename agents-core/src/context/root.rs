//! Data that all parts of one run share: its settings, its identity, and its place in traces.

use super::{Audience, Node, Settings, machine::Machine};
use crate::{
    Json,
    journal::{Fact, RunKey, Started, State, Stored, Terms},
    model::Usage,
    run::{
        EventKind, Stop, Timestamp,
        trace::{Trace, place, trace_id},
    },
    shared::Shared,
};
use std::{
    fmt,
    sync::{Arc, OnceLock},
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Span;

/// Data that all parts of one run share.
pub(crate) struct Root {
    pub(crate) settings: Settings,
    pub(crate) run_id: Arc<str>,
    pub(crate) node: Arc<Node>,
    pub(crate) notify: Arc<Notify>,
    /// Token that is cancelled when the run has ended, so that tasks which were spawned in it end as well.
    pub(crate) over: CancellationToken,
    origin: Option<Origin>,
    /// Input of the run as its model reads it: evidence of what the user said.
    pub(crate) said: String,
    /// Span of the whole run, and the id of its trace.
    span: OnceLock<(Span, Arc<str>)>,
    secret_scope: OnceLock<Vec<u8>>,
    /// Key of the digests by which arguments are recognised, made when needed; `None` for a run stored without one.
    key: OnceLock<Option<RunKey>>,
    /// Position in a trace that the run had in an earlier process; its trace goes on from there.
    pub(crate) trace_before: Option<String>,
    is_resumed: bool,
    /// Time at which the run began, before it was ever put down.
    began: OnceLock<Timestamp>,
}

/// Agent and input of the run, for the first fact in its journal.
pub(crate) struct Origin {
    pub(crate) agent: String,
    pub(crate) input: Json,
    /// Digest of the answer's type, by which a stored run notices that the type has changed.
    pub(crate) answer: Option<Arc<str>>,
}

impl Root {
    /// Creates the data that the parts of a run share. `place` is the path of the run's place in the run around it;
    /// empty if no run is around it.
    pub(crate) fn new(
        settings: Settings,
        agent: &str,
        place: String,
        past: Option<Box<Stored>>,
        origin: Option<Origin>,
        said: String,
    ) -> Shared<Root> {
        let writer = settings.writer.clone();
        let is_resumed = past.is_some();
        let mut run = None;
        let mut key = OnceLock::new();
        let (run_id, state, trace_before, began) = match past {
            Some(stored) => {
                let Stored {
                    run: number,
                    started,
                    state,
                } = *stored;
                run = Some(number);
                key = OnceLock::from(started.key);
                (started.run_id, state, started.trace, Some(started.began))
            }
            None => (
                settings.clock.run_id(),
                State::of(place.clone(), agent),
                None,
                None,
            ),
        };
        let writer = writer.map(|writer| {
            let run = run.unwrap_or_else(|| writer.new_run());
            (writer, run)
        });
        let projection = settings.projection();
        let run_id: Arc<str> = run_id.into();
        let audience = Audience::new(
            run_id.clone(),
            settings.subscribers.clone(),
            settings.masker.clone(),
        );
        let notify = Arc::new(Notify::new());
        let node = Node::root(Machine::new(
            state,
            projection,
            settings.clock.clone(),
            notify.clone(),
            settings.past.clone(),
            writer,
            audience,
        ));
        Shared::new(Root {
            settings,
            run_id,
            node,
            notify,
            over: CancellationToken::new(),
            origin,
            said,
            span: OnceLock::new(),
            secret_scope: OnceLock::new(),
            key,
            trace_before,
            is_resumed,
            began: began.map_or_else(OnceLock::new, OnceLock::from),
        })
    }

    /// Releases the journal that was given to this run itself, so that another process may open it.
    pub(crate) async fn close_journal(&self) {
        if let (Some(_), Some(writer)) = (&self.settings.journal, &self.settings.writer) {
            writer.close().await;
        }
    }

    /// Adds the fact that the run begins, or goes on. Returns the time at which it first began.
    pub(crate) fn begins(&self) -> Timestamp {
        let now = self.settings.clock.now();
        let began = *self.began.get_or_init(|| now);
        self.node.add(match self.is_resumed {
            true => Fact::Resumed,
            false => Fact::Started(Box::new(self.started(began))),
        });
        began
    }

    /// Describes the start of the run. Input and terms are left out without a journal, as they are not read again.
    fn started(&self, began: Timestamp) -> Started {
        let stored = self.origin.as_ref();
        let stored = stored.filter(|_| self.settings.writer.is_some());
        let (agent, input) = match stored {
            Some(origin) => (origin.agent.clone(), origin.input.clone()),
            None => (self.node.agent().to_string(), Json::null()),
        };
        Started {
            rules: Started::RULES,
            run_id: self.run_id.to_string(),
            agent,
            input,
            place: self.node.path().to_string(),
            key: stored.and_then(|_| self.key()),
            terms: stored.map_or_else(Terms::default, |origin| {
                Terms::of(&self.settings, origin.answer.clone())
            }),
            began,
            trace: stored.and_then(|_| self.trace_place()),
        }
    }

    /// Tells subscribers of an event that is no fact, such as text that a model is writing.
    pub(crate) fn stream(&self, node: &Node, kind: EventKind) {
        let audience = &self.node.machine().audience;
        let (place, at) = (node.path().to_string(), self.settings.clock.now());
        audience.tell(&audience.event(&node.agent(), node.depth(), place, at, kind));
    }

    /// Returns the digest [`Settings::secret_scope`], which is computed once.
    pub(crate) fn secret_scope(&self) -> &[u8] {
        let scope = || self.settings.secret_scope();
        self.secret_scope.get_or_init(scope)
    }

    /// Returns the key of the digests by which arguments are recognised; `None` for a run that was stored without one.
    pub(crate) fn key(&self) -> Option<RunKey> {
        *self.key.get_or_init(|| match &self.settings.key_around {
            Some(around) => Some(around.within(&self.node.path().to_string())),
            None => Some(RunKey::random()),
        })
    }

    pub(crate) fn usage(&self) -> Usage {
        self.node.machine().look(|state| state.usage)
    }

    /// Stops the run, unless it is stopped already, and wakes the task that polls it. The reason is a cancellation, a
    /// bound on the time of the run, or a throw that the run's own agent returned.
    pub(crate) fn request_stop(&self, stop: Stop) {
        self.node.machine().stop(stop);
        self.notify.notify_one();
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.node.machine().look(|state| state.stop.clone())
    }

    /// Returns the trace of the run.
    pub(crate) fn trace(&self) -> Trace {
        Trace {
            id: self.trace_id().to_owned(),
            steps: self.node.machine().look(State::steps_in_words),
        }
    }

    /// Records the span of the run, and the id of the trace that the span belongs to.
    pub(crate) fn place_in_trace(&self, span: &Span) {
        let id = || trace_id(span, &self.run_id).into();
        self.span.get_or_init(|| (span.clone(), id()));
    }

    /// Returns the `tracing` span of the whole run.
    pub(crate) fn span(&self) -> Span {
        let span = self.span.get();
        span.map_or_else(Span::none, |(span, _)| span.clone())
    }

    /// Returns the id of the trace to which the run belongs; empty before [`place_in_trace`](Root::place_in_trace).
    pub(crate) fn trace_id(&self) -> &str {
        self.span.get().map_or("", |(_, id)| id)
    }

    /// Returns the position of the run's span in its trace; `None` if the run is not traced.
    pub(crate) fn trace_place(&self) -> Option<String> {
        place(&self.span())
    }

    /// Returns the URL at which people can look at the trace; `None` without a template for URLs.
    pub(crate) fn traces_url(&self) -> Option<String> {
        let template = self.settings.traces_url.as_deref()?;
        let url = template.replace("{trace_id}", self.trace_id());
        Some(url.replace("{run_id}", &self.run_id))
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Root")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}
