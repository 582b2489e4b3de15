//! Circuits: a model that fails again and again is not asked for a while.
//!
//! A process counts the failures of its own requests. An open circuit is a row of the store, so that it holds for all
//! processes, and one request of all of them sees whether the model answers again.

use crate::event::{ControlEvent, Subscribers};
use agents_store::ControlStore;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, time::Instant};

/// Number of failures in a row after which a circuit opens.
const FAILURES: u32 = 5;
/// Time for which an open circuit lets no request through.
const OPEN: Duration = Duration::from_secs(10);
/// Time after which another request may test the model, if the one before has not told its result.
const PROBE: Duration = Duration::from_secs(40);
/// Wait before the next try while another request, of this process or of another one, tests the model.
const LOOK: Duration = Duration::from_secs(1);
/// Time within which the store may not have heard yet that this process opened a circuit.
const UNKNOWN: Duration = Duration::from_secs(2);

/// Subject of a circuit: a model with the credential that it is asked with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CircuitKey {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) credential: Option<String>,
}

/// Circuit of a model in a profile, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCircuit {
    /// Name of the provider.
    pub provider: String,
    /// Name of the model.
    pub model: String,
    /// Time until a request may test whether the model answers again; `None` if the circuit is closed, so that the
    /// model is asked.
    pub open_for: Option<Duration>,
}

impl CircuitKey {
    /// Returns the name of the circuit in the store.
    pub(crate) fn name(&self) -> String {
        let credential = self.credential.as_deref().unwrap_or_default();
        format!("{}/{} {credential}", self.provider, self.model)
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Requests pass. `failures` is the number of the last requests that failed in a row.
    Closed { failures: u32 },
    /// No request passes before `until`.
    Open { since: Instant, until: Instant },
    /// The circuit is open, and one request is under way that tests whether the model answers again.
    Probing,
}

impl State {
    fn open(time: Duration) -> State {
        let since = Instant::now();
        State::Open {
            since,
            until: since + time,
        }
    }
}

/// Circuits, as far as this process knows them.
pub(crate) struct Circuits {
    states: Mutex<HashMap<String, State>>,
    store: Arc<dyn ControlStore>,
    /// Subscribers for all events of the control plane.
    pub(crate) subscribers: Subscribers,
}

/// Permission for one request. If it is dropped without a result, the request counts as not made.
#[derive(Debug)]
pub(crate) struct Permit {
    circuits: Arc<Circuits>,
    key: CircuitKey,
    is_probe: bool,
    is_over: bool,
}

/// Error of a request that an open circuit refuses, with the time until another try makes sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Open(pub(crate) Duration);

impl Circuits {
    pub(crate) fn new(store: Arc<dyn ControlStore>) -> Self {
        Circuits {
            states: Mutex::default(),
            store,
            subscribers: Subscribers::default(),
        }
    }

    /// Takes over which circuits are open in the store, each with the time that is left.
    pub(crate) fn sync(&self, open: Vec<(String, Duration)>) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |name: &str| open.iter().any(|(open, _)| open == name);
        for (name, state) in &mut *states {
            // Another process has closed it.
            if let State::Open { since, .. } = state
                && since.elapsed() > UNKNOWN
                && !is_known(name)
            {
                *state = State::Closed { failures: 0 };
            }
        }
        for (name, left) in open {
            let state = states.entry(name).or_insert(State::Closed { failures: 0 });
            match state {
                State::Probing => {}
                State::Open { until, .. } => *until = Instant::now() + left,
                State::Closed { .. } => *state = State::open(left),
            }
        }
    }

    /// Asks for permission to send a request.
    pub(crate) async fn enter(self: &Arc<Self>, key: &CircuitKey) -> Result<Permit, Open> {
        let name = key.name();
        let now = Instant::now();
        let since = self.change(&name, |state| match *state {
            State::Closed { .. } => Ok(None),
            State::Open { until, .. } if now < until => Err(Open(until - now)),
            State::Open { since, .. } => {
                *state = State::Probing;
                Ok(Some(since))
            }
            State::Probing => Err(Open(LOOK)),
        })?;
        let permit = Permit {
            circuits: self.clone(),
            key: key.clone(),
            is_probe: since.is_some(),
            is_over: false,
        };
        let Some(since) = since else {
            return Ok(permit);
        };
        if self.store.probe_circuit(&name, PROBE).await == Ok(true) {
            return Ok(permit);
        }
        // Another process is the probe, or the store does not answer. The circuit keeps the time since which it is open: once
        // the other process has closed it, this one takes that over at its next look.
        permit.forget();
        let until = Instant::now() + LOOK;
        self.change(&name, |state| *state = State::Open { since, until });
        Err(Open(LOOK))
    }

    fn change<T>(&self, name: &str, change: impl FnOnce(&mut State) -> T) -> T {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        match states.get_mut(name) {
            Some(state) => change(state),
            None => {
                let closed = State::Closed { failures: 0 };
                change(states.entry(name.to_owned()).or_insert(closed))
            }
        }
    }
}

impl Permit {
    /// Returns `true` if the request tests whether the model answers again.
    pub(crate) fn is_probe(&self) -> bool {
        self.is_probe
    }

    fn forget(mut self) {
        self.is_over = true;
    }

    /// Records that the model has answered, even if it only refused.
    pub(crate) async fn answered(mut self) {
        self.is_over = true;
        let name = self.key.name();
        let is_probe = self.is_probe;
        self.circuits.change(&name, |state| match state {
            State::Closed { failures } => *failures = 0,
            _ if is_probe => *state = State::Closed { failures: 0 },
            // The answer to a request from before the circuit opened does not close it.
            _ => {}
        });
        if is_probe && self.circuits.store.close_circuit(&name).await == Ok(true) {
            let CircuitKey {
                provider, model, ..
            } = self.key.clone();
            let closed = ControlEvent::CircuitClosed { provider, model };
            self.circuits.subscribers.tell(&closed);
        }
    }

    /// Records that the model has failed.
    pub(crate) async fn failed(mut self) {
        self.is_over = true;
        let name = self.key.name();
        let is_probe = self.is_probe;
        let opens = self.circuits.change(&name, |state| match state {
            State::Closed { failures } => {
                *failures += 1;
                let opens = *failures >= FAILURES;
                if opens {
                    *state = State::open(OPEN);
                }
                opens
            }
            _ => {
                if is_probe {
                    *state = State::open(OPEN);
                }
                is_probe
            }
        });
        if opens && self.circuits.store.open_circuit(&name, OPEN).await == Ok(true) {
            let CircuitKey {
                provider, model, ..
            } = self.key.clone();
            let opened = ControlEvent::CircuitOpened { provider, model };
            self.circuits.subscribers.tell(&opened);
        }
    }
}

impl Drop for Permit {
    /// Lets another request be the probe, if this one was cut off.
    fn drop(&mut self) {
        if !self.is_probe || self.is_over {
            return;
        }
        let name = self.key.name();
        let now = State::open(Duration::ZERO);
        self.circuits.change(&name, |state| *state = now);
        if let Ok(handle) = Handle::try_current() {
            let store = self.circuits.store.clone();
            handle.spawn(async move {
                if let Err(error) = store.open_circuit(&name, Duration::ZERO).await {
                    tracing::warn!(%error, "the state of a circuit cannot be stored");
                }
            });
        }
    }
}

impl fmt::Debug for Circuits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Circuits").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents_store::{SqliteStore, Timestamp};
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    fn key() -> CircuitKey {
        CircuitKey {
            provider: "p".into(),
            model: "m".into(),
            credential: None,
        }
    }

    /// Processes with one store, whose clock goes with the clock of the test.
    struct World {
        store: SqliteStore,
        now: Arc<AtomicU64>,
        told: Arc<Mutex<Vec<&'static str>>>,
    }

    impl World {
        async fn new() -> Self {
            let now = Arc::new(AtomicU64::new(1_000_000));
            let clock = now.clone();
            let store = SqliteStore::in_memory().await.unwrap();
            World {
                store: store.clock(move || Timestamp::from_millis(clock.load(SeqCst))),
                now,
                told: Arc::default(),
            }
        }

        fn process(&self) -> Arc<Circuits> {
            let mut circuits = Circuits::new(Arc::new(self.store.clone()));
            let seen = self.told.clone();
            let tell = move |event: &ControlEvent| seen.lock().unwrap().push(event.name());
            circuits.subscribers.add(tell);
            Arc::new(circuits)
        }

        async fn advance(&self, time: Duration) {
            let millis = u64::try_from(time.as_millis()).unwrap();
            self.now.fetch_add(millis, SeqCst);
            tokio::time::advance(time).await;
        }

        async fn look(&self, circuits: &Circuits) {
            circuits.sync(self.store.circuits().await.unwrap());
        }

        fn told(&self) -> Vec<&'static str> {
            self.told.lock().unwrap().clone()
        }
    }

    async fn opened(circuits: &Arc<Circuits>) {
        for _ in 0..FAILURES {
            circuits.enter(&key()).await.unwrap().failed().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn l19_a_circuit_tells_once_that_it_opens_and_once_that_it_closes() {
        let world = World::new().await;
        let (one, other) = (world.process(), world.process());
        opened(&one).await;
        opened(&other).await;
        assert_eq!(one.enter(&key()).await.unwrap_err(), Open(OPEN));
        for _ in 0..3 {
            world.advance(OPEN).await;
            one.enter(&key()).await.unwrap().failed().await;
        }
        assert_eq!(world.told(), ["llm.circuit.opened"]);
        world.advance(OPEN).await;
        one.enter(&key()).await.unwrap().answered().await;
        one.enter(&key()).await.unwrap().answered().await;
        assert_eq!(world.told(), ["llm.circuit.opened", "llm.circuit.closed"]);
        // The other process goes by it.
        assert!(other.enter(&key()).await.is_err());
        world.advance(UNKNOWN * 2).await;
        world.look(&other).await;
        other.enter(&key()).await.unwrap().answered().await;
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_of_all_processes_is_a_probe() {
        let world = World::new().await;
        let (one, other) = (world.process(), world.process());
        opened(&one).await;
        world.look(&other).await;
        assert!(other.enter(&key()).await.is_err(), "it is open for all");
        world.advance(OPEN).await;
        let probe = one.enter(&key()).await.unwrap();
        assert!(probe.is_probe());
        for _ in 0..64 {
            assert!(one.enter(&key()).await.is_err());
            assert!(other.enter(&key()).await.is_err());
        }
        // A probe that is cut off gives way to another one.
        drop(probe);
        tokio::task::yield_now().await;
        while world.store.circuits().await.unwrap()[0].1 > Duration::ZERO {}
        let probe = one.enter(&key()).await.unwrap();
        assert!(probe.is_probe());
        probe.answered().await;
        assert!(!one.enter(&key()).await.unwrap().is_probe());
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_with_traffic_takes_over_that_another_one_has_closed_a_circuit() {
        let world = World::new().await;
        let (one, other) = (world.process(), world.process());
        opened(&one).await;
        world.look(&other).await;
        world.advance(OPEN).await;
        let probe = one.enter(&key()).await.unwrap();
        assert!(other.enter(&key()).await.is_err(), "one is the probe");
        probe.answered().await;
        let mut looks = 0;
        loop {
            world.advance(LOOK / 2).await;
            world.look(&other).await;
            looks += 1;
            match other.enter(&key()).await {
                Ok(permit) => break permit.answered().await,
                Err(_) => assert!(looks < 8, "the other process never enters"),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_does_not_close_a_circuit() {
        let circuits = World::new().await.process();
        let late = circuits.enter(&key()).await.unwrap();
        opened(&circuits).await;
        late.answered().await;
        assert!(circuits.enter(&key()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_between_failures_starts_the_count_again() {
        let world = World::new().await;
        let circuits = world.process();
        for _ in 0..10 {
            for _ in 1..FAILURES {
                circuits.enter(&key()).await.unwrap().failed().await;
            }
            circuits.enter(&key()).await.unwrap().answered().await;
        }
        assert_eq!(world.told().len(), 0);
    }
}
