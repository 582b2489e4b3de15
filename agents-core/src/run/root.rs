//! What all parts of one run share: what was said of it, what it has used, and what it has come to.

use super::{
    Begun, Event, EventKind, Node, Settings, Snapshot, Stop, Timestamp, clock::id_within,
    raised::Escalations, terms::Terms, watched::Watched,
};
use crate::{Error, Json, model::Usage, panics::told, run::Repairs};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
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
    usage: Mutex<Usage>,
    stop: Mutex<Option<Stop>>,
    /// What was escalated.
    pub(super) raised: Mutex<Escalations>,
    /// What was changed in the last answer of the agent that was run, once it fits.
    repairs: Mutex<Repairs>,
    /// The agent that was run and its input, for snapshots.
    origin: Option<(String, Json)>,
    pub(crate) watched: Watched,
    secret_scope: OnceLock<Vec<u8>>,
    /// Where in which trace the run was before it was put down.
    pub(crate) trace_before: Option<String>,
    is_resumed: bool,
    /// When the run began, before it was ever put down.
    began: OnceLock<Timestamp>,
}

impl Root {
    pub(crate) fn new(
        settings: Settings,
        node: Arc<Node>,
        past: Option<Snapshot>,
        origin: Option<(String, Json)>,
    ) -> Result<Arc<Root>, Error> {
        let is_resumed = past.is_some();
        let (run_id, usage, escalations, steps, trace_before, began) = match past {
            Some(past) => {
                settings.clock.resumed(&past.run_id);
                let Snapshot {
                    run_id,
                    usage,
                    escalations,
                    steps,
                    trace,
                    began,
                    ..
                } = past;
                (run_id, usage, escalations, steps, trace, began)
            }
            None => (
                match &settings.tape_of {
                    Some(outer) => id_within(outer, &node.path()),
                    None => settings.clock.run_id(),
                },
                Usage::default(),
                Vec::new(),
                Vec::new(),
                None,
                None,
            ),
        };
        if let (Some(tape), Some((agent, input))) = (&settings.tape, &origin) {
            tape.begins(&Begun {
                run_id: &run_id,
                agent,
                input,
                is_within: settings.tape_of.is_some(),
                masker: &settings.masker,
            })?;
        }
        Ok(Arc::new(Root {
            settings,
            run_id: run_id.into(),
            node,
            notify: Notify::new(),
            over: CancellationToken::new(),
            usage: Mutex::new(usage),
            stop: Mutex::default(),
            raised: Mutex::new(Escalations::of(escalations)),
            repairs: Mutex::default(),
            origin,
            watched: Watched::of(steps),
            secret_scope: OnceLock::new(),
            trace_before,
            is_resumed,
            began: began.map_or_else(OnceLock::new, OnceLock::from),
        }))
    }

    /// Reads the clock as the run begins, or goes on; gives that, and when it began.
    pub(crate) fn begins(&self) -> (Timestamp, Timestamp) {
        let edge = if self.is_resumed { "resumed" } else { "start" };
        let now = format_args!("{}/{edge}", self.node.path());
        let now = self.settings.clock.now(now);
        (now, *self.began.get_or_init(|| now))
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

    /// Hands a snapshot to whoever keeps them. A run that is being ended has nothing to go on with.
    pub(crate) fn checkpoint(&self) {
        if self.stopped().is_some() {
            return;
        }
        let keepers = &self.settings.keepers;
        if let (Some((last, others)), Some((agent, input))) = (keepers.split_last(), &self.origin) {
            let snapshot = self.settings.masker.data(Snapshot {
                version: Snapshot::VERSION,
                agent: agent.clone(),
                run_id: self.run_id.to_string(),
                input: input.clone(),
                terms: Terms::of(&self.settings),
                trace: self.trace_place(),
                began: self.began.get().copied(),
                usage: self.usage(),
                escalations: self.escalations(),
                steps: self.watched.steps(),
                root: self.node.save(),
            });
            let masker = &self.settings.masker;
            for keeper in others {
                told("on_checkpoint", masker, || keeper(snapshot.clone()));
            }
            told("on_checkpoint", masker, || last(snapshot));
        }
    }

    /// [`Settings::secret_scope`], found out once.
    pub(crate) fn secret_scope(&self) -> &[u8] {
        let scope = || self.settings.secret_scope();
        self.secret_scope.get_or_init(scope)
    }

    /// The agent at this node had its answer changed so.
    pub(crate) fn answer_repaired(&self, node: &Arc<Node>, repairs: &Repairs) {
        if Arc::ptr_eq(node, &self.node) {
            *lock(&self.repairs) = repairs.clone();
        }
    }

    /// What was done about the answers of the agent that was run: tried on those that went back, then what was made of
    /// the last.
    pub(crate) fn repairs(&self) -> Repairs {
        let made = lock(&self.repairs).clone();
        self.node.with_frame(|frame| match made.is_empty() {
            true => frame.all_tried(),
            false => {
                let mut all = frame.tried.clone();
                all.extend(made);
                all
            }
        })
    }

    pub(crate) fn charge(&self, usage: Usage) {
        *lock(&self.usage) += usage;
    }

    pub(crate) fn usage(&self) -> Usage {
        *lock(&self.usage)
    }

    pub(crate) fn request_stop(&self, stop: Stop) {
        lock(&self.stop).get_or_insert(stop);
        self.notify.notify_one();
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        lock(&self.stop).clone()
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Root")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
