//! What all parts of one run share: what was said of it, what it has used, and what it has come to.

use super::{Node, Settings, machine::Machine, watched::Watched};
use crate::{
    Json,
    journal::{Fact, Started, State, Stored, Terms},
    model::Usage,
    panics::told,
    run::{Event, EventKind, Stop, Timestamp, trace::Trace},
};
use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What all parts of one run share.
pub(crate) struct Root {
    pub(crate) settings: Settings,
    pub(crate) run_id: Arc<str>,
    pub(crate) node: Arc<Node>,
    pub(crate) notify: Notify,
    /// Triggered when the run has ended: what was spawned in it and is left ends as well.
    pub(crate) over: CancellationToken,
    /// The agent that was run and its input, for the journal.
    origin: Option<(String, Json)>,
    pub(crate) watched: Watched,
    secret_scope: OnceLock<Vec<u8>>,
    /// Where in which trace the run was before it was put down.
    pub(crate) trace_before: Option<String>,
    is_resumed: bool,
    /// Number of events so far.
    events: AtomicU64,
    /// When the run began, before it was ever put down.
    began: OnceLock<Timestamp>,
}

impl Root {
    /// Creates what the parts of a run share; `place` is the name of its place in the run around it.
    pub(crate) fn new(
        settings: Settings,
        agent: &str,
        place: String,
        past: Option<Box<Stored>>,
        origin: Option<(String, Json)>,
    ) -> Arc<Root> {
        let writer = settings.writer.clone();
        let is_resumed = past.is_some();
        let mut run = None;
        let (run_id, state, trace_before, began) = match past {
            Some(stored) => {
                let Stored {
                    run: number,
                    started,
                    state,
                } = *stored;
                run = Some(number);
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
        let node = Node::root(Machine::new(
            state,
            projection,
            settings.clock.clone(),
            settings.doubts.clone(),
            writer,
        ));
        Arc::new(Root {
            settings,
            run_id: run_id.into(),
            node,
            notify: Notify::new(),
            over: CancellationToken::new(),
            origin,
            watched: Watched::default(),
            secret_scope: OnceLock::new(),
            trace_before,
            is_resumed,
            events: AtomicU64::new(0),
            began: began.map_or_else(OnceLock::new, OnceLock::from),
        })
    }

    /// Lets go of the journal, if it is this run's own: another run may open it.
    pub(crate) async fn close_journal(&self) {
        if let (Some(_), Some(writer)) = (&self.settings.journal, &self.settings.writer) {
            writer.close().await;
        }
    }

    /// The run begins, or goes on, in its span: gives the time, and when it began.
    pub(crate) fn begins(&self) -> (Timestamp, Timestamp) {
        let now = self.settings.clock.now();
        let began = *self.began.get_or_init(|| now);
        match (self.is_resumed, &self.origin) {
            (true, _) => {
                self.node.add(Fact::Resumed);
            }
            (false, Some((agent, input))) if self.settings.writer.is_some() => {
                self.node.add(Fact::Started(Box::new(Started {
                    rules: Started::RULES,
                    run_id: self.run_id.to_string(),
                    agent: agent.clone(),
                    input: input.clone(),
                    place: self.node.path().to_string(),
                    terms: Terms::of(&self.settings),
                    began,
                    trace: self.trace_place(),
                })));
            }
            (false, _) => {}
        }
        (now, began)
    }

    /// Tells the subscribers; what happened is only put together if there is one.
    pub(crate) fn emit(&self, node: &Node, kind: impl FnOnce() -> EventKind) {
        self.emit_at(node, || node.path().to_string(), kind);
    }

    /// The same, of something that happened at a place below the node.
    pub(crate) fn emit_at(
        &self,
        node: &Node,
        place: impl FnOnce() -> String,
        kind: impl FnOnce() -> EventKind,
    ) {
        let Settings {
            subscribers,
            masker,
            ..
        } = &self.settings;
        let event = || Event {
            run_id: self.run_id.clone(),
            seq: self.events.fetch_add(1, Relaxed) + 1,
            at: self.settings.clock.now(),
            agent: node.agent(),
            depth: node.depth(),
            place: place(),
            kind: match masker.is_empty() {
                true => kind(),
                false => masker.event(kind()),
            },
        };
        if subscribers.is_empty() {
            #[cfg(any(test, feature = "testing"))]
            crate::testing::oracle::happened(&self.run_id, event);
            return;
        }
        let event = event();
        #[cfg(any(test, feature = "testing"))]
        crate::testing::oracle::happened(&self.run_id, || event.clone());
        for subscriber in subscribers {
            told("on_event", masker, || subscriber(&event));
        }
    }

    /// [`Settings::secret_scope`], found out once.
    pub(crate) fn secret_scope(&self) -> &[u8] {
        let scope = || self.settings.secret_scope();
        self.secret_scope.get_or_init(scope)
    }

    pub(crate) fn usage(&self) -> Usage {
        self.node.machine().look(|state| state.usage)
    }

    /// Stops the run from outside of its tree.
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
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Root")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}
