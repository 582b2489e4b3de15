//! Circuits: a model that fails again and again is not asked for a while.

use crate::event::{ControlEvent, Subscribers};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Number of failures in a row after which a circuit opens.
const FAILURES: u32 = 5;
/// Time for which an open circuit lets no request through.
const OPEN: Duration = Duration::from_secs(10);

/// What a circuit is about: a model with the credential that it is asked with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CircuitKey {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) credential: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Requests pass; so many have failed in a row.
    Closed { failures: u32 },
    /// No request passes until then.
    Open { until: Instant },
    /// One request is on its way, to see whether the model answers again.
    Probing,
}

/// Circuits of a process.
#[derive(Debug, Default)]
pub(crate) struct Circuits {
    states: Mutex<HashMap<CircuitKey, State>>,
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

/// The circuit is open, for this time yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Open(pub(crate) Duration);

impl Circuits {
    /// Asks for permission to send a request.
    pub(crate) fn enter(self: &Arc<Self>, key: &CircuitKey) -> Result<Permit, Open> {
        let now = Instant::now();
        let is_probe = self.change(key, |state| match *state {
            State::Closed { .. } => Ok(false),
            State::Open { until } if now < until => Err(Open(until - now)),
            State::Open { .. } => {
                *state = State::Probing;
                Ok(true)
            }
            State::Probing => Err(Open(Duration::from_secs(1))),
        })?;
        Ok(Permit {
            circuits: self.clone(),
            key: key.clone(),
            is_probe,
            is_over: false,
        })
    }

    fn change<T>(&self, key: &CircuitKey, change: impl FnOnce(&mut State) -> T) -> T {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = State::Closed { failures: 0 };
        change(states.entry(key.clone()).or_insert(closed))
    }
}

impl Permit {
    /// Returns `true` if the request is the one that shows whether the model answers again.
    pub(crate) fn is_probe(&self) -> bool {
        self.is_probe
    }

    /// Says that the model has answered, if only with a refusal.
    pub(crate) fn answered(mut self) {
        self.is_over = true;
        let is_probe = self.is_probe;
        let has_closed = self.circuits.change(&self.key, |state| {
            // The answer to a request from before the circuit opened does not close it.
            match state {
                State::Closed { failures } => *failures = 0,
                _ if is_probe => *state = State::Closed { failures: 0 },
                _ => {}
            }
            is_probe
        });
        if has_closed {
            let CircuitKey {
                provider, model, ..
            } = self.key.clone();
            let closed = ControlEvent::CircuitClosed { provider, model };
            self.circuits.subscribers.tell(&closed);
        }
    }

    /// Says that the model has failed.
    pub(crate) fn failed(mut self) {
        self.is_over = true;
        let open = State::Open {
            until: Instant::now() + OPEN,
        };
        let is_probe = self.is_probe;
        let has_opened = self.circuits.change(&self.key, |state| match state {
            State::Closed { failures } => {
                *failures += 1;
                let opens = *failures >= FAILURES;
                if opens {
                    *state = open;
                }
                opens
            }
            _ => {
                if is_probe {
                    *state = open;
                }
                false
            }
        });
        if has_opened {
            let CircuitKey {
                provider, model, ..
            } = self.key.clone();
            let opened = ControlEvent::CircuitOpened { provider, model };
            self.circuits.subscribers.tell(&opened);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.is_probe && !self.is_over {
            // Another request may be the probe.
            let until = Instant::now();
            self.circuits
                .change(&self.key, |state| *state = State::Open { until });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    fn key() -> CircuitKey {
        CircuitKey {
            provider: "p".into(),
            model: "m".into(),
            credential: None,
        }
    }

    fn circuits() -> (Arc<Circuits>, Arc<Mutex<Vec<&'static str>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let mut circuits = Circuits::default();
        let seen = told.clone();
        let tell = move |event: &ControlEvent| seen.lock().unwrap().push(event.name());
        circuits.subscribers.add(tell);
        (Arc::new(circuits), told)
    }

    fn opened(circuits: &Arc<Circuits>) {
        for _ in 0..FAILURES {
            circuits.enter(&key()).unwrap().failed();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn l19_a_circuit_tells_once_that_it_opens_and_once_that_it_closes() {
        let (circuits, told) = circuits();
        opened(&circuits);
        assert_eq!(circuits.enter(&key()).unwrap_err(), Open(OPEN));
        for _ in 0..3 {
            advance(OPEN).await;
            circuits.enter(&key()).unwrap().failed();
        }
        assert_eq!(*told.lock().unwrap(), ["llm.circuit.opened"]);
        advance(OPEN).await;
        circuits.enter(&key()).unwrap().answered();
        circuits.enter(&key()).unwrap().answered();
        assert_eq!(
            *told.lock().unwrap(),
            ["llm.circuit.opened", "llm.circuit.closed"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_at_a_time_is_a_probe() {
        let (circuits, _) = circuits();
        opened(&circuits);
        advance(OPEN).await;
        let probe = circuits.enter(&key()).unwrap();
        assert!(probe.is_probe());
        for _ in 0..64 {
            assert!(circuits.enter(&key()).is_err());
        }
        // A probe that is cut off gives way to another one.
        drop(probe);
        let probe = circuits.enter(&key()).unwrap();
        assert!(probe.is_probe());
        probe.answered();
        assert!(!circuits.enter(&key()).unwrap().is_probe());
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_does_not_close_a_circuit() {
        let (circuits, _) = circuits();
        let late = circuits.enter(&key()).unwrap();
        opened(&circuits);
        late.answered();
        assert!(circuits.enter(&key()).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_between_failures_starts_the_count_again() {
        let (circuits, told) = circuits();
        for _ in 0..10 {
            for _ in 1..FAILURES {
                circuits.enter(&key()).unwrap().failed();
            }
            circuits.enter(&key()).unwrap().answered();
        }
        assert_eq!(told.lock().unwrap().len(), 0);
    }
}
