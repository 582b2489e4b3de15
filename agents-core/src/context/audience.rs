//! Subscribers of a run and the log: the audience that is told of the run's events.

#[cfg(any(test, feature = "testing"))]
use crate::checks::oracle;
use crate::{
    journal::{FactEvents, PlaceId, State},
    panics::told,
    run::{Event, EventKind, Timestamp, log, logs},
    secret::Masker,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

pub(crate) type Subscriber = Arc<dyn Fn(&Event) + Send + Sync>;

/// Receivers of a run's events: its subscribers, and the log.
pub(crate) struct Audience {
    run_id: Arc<str>,
    subscribers: Vec<Subscriber>,
    masker: Arc<Masker>,
    /// Number of events so far, which is the number of the last one.
    count: AtomicU64,
}

impl Audience {
    pub(crate) fn new(
        run_id: Arc<str>,
        subscribers: Vec<Subscriber>,
        masker: Arc<Masker>,
    ) -> Audience {
        Audience {
            run_id,
            subscribers,
            masker,
            count: AtomicU64::new(0),
        }
    }

    /// Returns `true` if a subscriber, a log or an oracle of tests listens. Events of facts are made only then.
    pub(crate) fn listens(&self) -> bool {
        #[cfg(any(test, feature = "testing"))]
        if oracle::is_on() {
            return true;
        }
        !self.subscribers.is_empty() || logs()
    }

    /// Makes the events that `told` has of a fact, each with the next number. `id` is the place of the agent that the
    /// fact is about.
    pub(super) fn events(
        &self,
        state: &State,
        id: PlaceId,
        told: FactEvents,
        at: Timestamp,
    ) -> Vec<Event> {
        let FactEvents { place: path, kinds } = told;
        let place = state.place(id);
        let kinds = kinds.into_iter();
        let event = |kind| self.event(&place.agent, place.depth, path.clone(), at, kind);
        kinds.map(event).collect()
    }

    /// Makes an event of the run with the next number.
    pub(super) fn event(
        &self,
        agent: &Arc<str>,
        depth: u32,
        place: String,
        at: Timestamp,
        kind: EventKind,
    ) -> Event {
        Event {
            run_id: self.run_id.clone(),
            seq: self.count.fetch_add(1, Relaxed) + 1,
            at,
            agent: agent.clone(),
            depth,
            place,
            kind: match self.masker.is_empty() {
                true => kind,
                false => self.masker.event(kind),
            },
        }
    }

    /// Passes an event to the log and to every subscriber.
    pub(super) fn tell(&self, event: &Event) {
        #[cfg(any(test, feature = "testing"))]
        oracle::happened(&self.run_id, event);
        log(event);
        for subscriber in &self.subscribers {
            told("on_event", &self.masker, || subscriber(event));
        }
    }
}
