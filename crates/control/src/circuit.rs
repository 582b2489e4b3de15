//! Circuits: a model that fails again and again is not asked for a while.
//!
//! The log of usage has the end of each request. So the failures of all processes are counted together, in the order in
//! which their requests were sent. A request that is answered costs no further statement. An open circuit is a row of
//! the store. It stops the requests of all processes, and one request of all of them tests whether the model answers
//! again.

use crate::event::{ControlEvent, Subscribers};
use agents_store::ControlStore;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, time::Instant};

/// Number of failures in a row, in all processes, after which a circuit opens: the model is not asked for a while.
const FAILURES: u32 = 5;
/// Time for which an open circuit lets no request through.
const OPEN: Duration = Duration::from_secs(10);
/// Time after which another request may test the model, if the one before has not told its result.
const PROBE: Duration = Duration::from_secs(40);
/// Wait before the next try while another request, of this process or of another one, tests the model.
const LOOK: Duration = Duration::from_secs(1);
/// Time for which a circuit that this process opened stays open here, even if the store does not list it: the store may
/// not have heard of it yet.
const UNKNOWN: Duration = Duration::from_secs(2);

/// Subject of a circuit, which stops requests to a model that fails: the model with the credential that it is asked
/// with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CircuitKey {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) credential: Option<String>,
}

/// Circuit of a model in a profile, as operators see it: whether the model is asked at present.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCircuit {
    /// Name of the provider that serves the model.
    pub provider: String,
    /// Name of the model whose requests pass the circuit.
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

/// State of the circuit of a model that has failed or is being tested. A closed circuit has no state here.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The model failed again and again: no request to it passes before `until`.
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

/// Circuits that are open (their models are not asked), as far as this process knows.
pub(crate) struct Circuits {
    states: Mutex<HashMap<String, State>>,
    store: Arc<dyn ControlStore>,
    /// Subscribers for all events of the control plane.
    pub(crate) subscribers: Subscribers,
}

/// Permission for one request. If it is dropped without a result, the circuit stays as if the request had not been
/// made.
#[derive(Debug)]
pub(crate) struct Permit {
    circuits: Arc<Circuits>,
    key: CircuitKey,
    name: String,
    is_probe: bool,
    is_over: bool,
}

/// Error of a request that an open circuit does not let pass, with the time until another try makes sense.
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

    /// Takes over from the store which circuits are open, each with the time that is left.
    pub(crate) fn sync(&self, open: Vec<(String, Duration)>) {
        let mut states = self.states();
        let is_known = |name: &str| open.iter().any(|(open, _)| open == name);
        // What the store does not know any more was closed by another process.
        states.retain(|name, state| match state {
            State::Open { since, .. } => since.elapsed() <= UNKNOWN || is_known(name),
            State::Probing => true,
        });
        for (name, left) in open {
            let state = states.entry(name).or_insert_with(|| State::open(left));
            if let State::Open { until, .. } = state {
                *until = Instant::now() + left;
            }
        }
    }

    /// Asks for permission to send a request to a model. An open circuit refuses it. Once the time of the circuit is
    /// over, one request of all processes may pass, as a test.
    pub(crate) async fn enter(self: &Arc<Self>, key: &CircuitKey) -> Result<Permit, Open> {
        let name = key.name();
        let now = Instant::now();
        let since = match self.states().get_mut(&name) {
            None => None,
            Some(state) => match *state {
                State::Probing => return Err(Open(LOOK)),
                State::Open { until, .. } if now < until => return Err(Open(until - now)),
                State::Open { since, .. } => {
                    *state = State::Probing;
                    Some(since)
                }
            },
        };
        let permit = Permit {
            circuits: self.clone(),
            key: key.clone(),
            name: name.clone(),
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
        self.states().insert(name, State::Open { since, until });
        Err(Open(LOOK))
    }

    fn states(&self) -> MutexGuard<'_, HashMap<String, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Returns `true` if the request is the one that tests whether the model answers again.
    pub(crate) fn is_probe(&self) -> bool {
        self.is_probe
    }

    /// Returns the name of the circuit in the store.
    pub(crate) fn circuit(&self) -> &str {
        &self.name
    }

    fn forget(mut self) {
        self.is_over = true;
    }

    /// Records that the model has answered; a refusal is an answer, too. Only the answer to a test closes an open
    /// circuit.
    pub(crate) async fn answered(mut self) {
        self.is_over = true;
        // The answer to a request from before the circuit opened does not close it.
        if !self.is_probe {
            return;
        }
        self.circuits.states().remove(&self.name);
        if self.circuits.store.close_circuit(&self.name).await == Ok(true) {
            let CircuitKey {
                provider, model, ..
            } = self.key.clone();
            let closed = ControlEvent::CircuitClosed { provider, model };
            self.circuits.subscribers.tell(&closed);
        }
    }

    /// Records that the model has failed, after the request was written to the log; the circuit may open. If the store
    /// does not answer, a failed test opens the circuit again in this process alone, and any other failure opens none.
    /// Such a store holds no money either: until it answers again, no request is sent.
    pub(crate) async fn failed(mut self) {
        self.is_over = true;
        let Circuits { store, .. } = &*self.circuits;
        let opened = if self.is_probe {
            let open = State::open(OPEN);
            self.circuits.states().insert(self.name.clone(), open);
            store.open_circuit(&self.name, OPEN).await
        } else if self.circuits.states().contains_key(&self.name) {
            return;
        } else {
            store.fail_circuit(&self.name, FAILURES, OPEN).await
        };
        match opened {
            Ok(true) => {
                let open = State::open(OPEN);
                self.circuits.states().insert(self.name.clone(), open);
                let CircuitKey {
                    provider, model, ..
                } = self.key.clone();
                let opened = ControlEvent::CircuitOpened { provider, model };
                self.circuits.subscribers.tell(&opened);
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the failure of a model cannot be counted"),
        }
    }
}

impl Drop for Permit {
    /// Lets another request test the model, if this permit is for a test that was cut off.
    fn drop(&mut self) {
        if !self.is_probe || self.is_over {
            return;
        }
        let name = self.name.clone();
        let now = State::open(Duration::ZERO);
        self.circuits.states().insert(name.clone(), now);
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
    use agents_store::{Hold, Settlement, SqliteStore, Timestamp};
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use uuid::Uuid;

    fn key() -> CircuitKey {
        CircuitKey {
            provider: "p".into(),
            model: "m".into(),
            credential: None,
        }
    }

    /// Several processes with one store, for tests; the store's clock goes with the clock of the test.
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

    /// Sends a request whose end is in the log, and records it with the circuit.
    async fn ends(circuits: &Arc<Circuits>, failed: bool) {
        let permit = circuits.enter(&key()).await.unwrap();
        let hold = Hold {
            id: Uuid::now_v7().to_string(),
            circuit: permit.circuit().to_owned(),
            ..Hold::default()
        };
        circuits.store.hold(&hold).await.unwrap();
        let settlement = Settlement {
            id: hold.id,
            outcome: "over".to_owned(),
            failed: Some(failed),
            ..Settlement::default()
        };
        circuits.store.settle_hold(&settlement).await.unwrap();
        match failed {
            true => permit.failed().await,
            false => permit.answered().await,
        }
    }

    async fn opened(circuits: &Arc<Circuits>) {
        for _ in 0..FAILURES {
            ends(circuits, true).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn l19_a_circuit_tells_once_that_it_opens_and_once_that_it_closes() {
        let world = World::new().await;
        let (one, other) = (world.process(), world.process());
        opened(&one).await;
        // It has not looked yet.
        opened(&other).await;
        world.look(&other).await;
        assert_eq!(one.enter(&key()).await.unwrap_err(), Open(OPEN));
        for _ in 0..3 {
            world.advance(OPEN).await;
            ends(&one, true).await;
        }
        assert_eq!(world.told(), ["llm.circuit.opened"]);
        world.advance(OPEN).await;
        ends(&one, false).await;
        ends(&one, false).await;
        assert_eq!(world.told(), ["llm.circuit.opened", "llm.circuit.closed"]);
        // The other process goes by it.
        assert!(other.enter(&key()).await.is_err());
        world.advance(UNKNOWN * 2).await;
        world.look(&other).await;
        ends(&other, false).await;
    }

    #[tokio::test(start_paused = true)]
    async fn l19_failures_of_one_process_open_the_circuit_for_the_other_one() {
        let world = World::new().await;
        let (one, other) = (world.process(), world.process());
        for _ in 1..FAILURES {
            ends(&one, true).await;
        }
        assert_eq!(world.told().len(), 0);
        ends(&other, true).await;
        assert_eq!(world.told(), ["llm.circuit.opened"]);
        assert_eq!(other.enter(&key()).await.unwrap_err(), Open(OPEN));
        world.look(&one).await;
        assert!(one.enter(&key()).await.is_err());
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
        let (one, other) = (world.process(), world.process());
        for _ in 0..10 {
            for _ in 1..FAILURES {
                ends(&one, true).await;
            }
            ends(&other, false).await;
        }
        assert_eq!(world.told().len(), 0);
    }
}
