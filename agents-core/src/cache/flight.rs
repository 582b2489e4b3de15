//! Identical calls at the same time: one of them runs, and the others wait for it.

use super::CacheKey;
use crate::Json;
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// State of a tool call in progress, as equal calls that wait for its result see it.
#[derive(Clone, Debug)]
enum Landing {
    Flying,
    Landed(Json),
    Failed,
}

/// Tool calls in progress, by their cache keys. The call that runs is the pilot; equal calls wait for its result.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<CacheKey, watch::Receiver<Landing>>>);

/// Role of a call among equal ones: the first call of a key runs as the pilot, the others wait as passengers.
pub(super) enum Seat<'a> {
    Pilot(Pilot<'a>),
    Passenger(Passenger),
}

/// End of the pilot's call, as the waiting calls learn of it.
pub(super) enum Arrival {
    /// The pilot has this result: its run has succeeded, or the result was in the cache.
    Landed(Json),
    /// The pilot's run has failed, or its result may not be reused: each call that waits for it runs by itself.
    Failed,
    /// The pilot was dropped before its call ended: one of the calls that wait becomes the pilot.
    Abandoned,
}

impl Flights {
    fn flying(&self) -> MutexGuard<'_, HashMap<CacheKey, watch::Receiver<Landing>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn board(&self, key: &CacheKey) -> Seat<'_> {
        match self.flying().entry(key.clone()) {
            Entry::Occupied(flight) => Seat::Passenger(Passenger(flight.get().clone())),
            Entry::Vacant(place) => {
                let (landing, passengers) = watch::channel(Landing::Flying);
                place.insert(passengers);
                Seat::Pilot(Pilot {
                    flights: self,
                    key: key.clone(),
                    landing,
                })
            }
        }
    }
}

/// The call that runs, while equal calls may wait for its result. When the pilot is dropped, the waiting calls are told
/// that the call is over, whatever its end was.
pub(super) struct Pilot<'a> {
    flights: &'a Flights,
    key: CacheKey,
    landing: watch::Sender<Landing>,
}

impl Pilot<'_> {
    pub(super) fn landed(self, output: Json) {
        self.landing.send_replace(Landing::Landed(output));
    }

    pub(super) fn failed(self) {
        self.landing.send_replace(Landing::Failed);
    }
}

impl Drop for Pilot<'_> {
    fn drop(&mut self) {
        self.flights.flying().remove(&self.key);
    }
}

/// Call that waits for the result of an equal call, which runs already.
pub(super) struct Passenger(watch::Receiver<Landing>);

impl Passenger {
    pub(super) async fn arrival(mut self) -> Arrival {
        let over = |landing: &Landing| !matches!(landing, Landing::Flying);
        match self.0.wait_for(over).await.map(|landing| landing.clone()) {
            Ok(Landing::Landed(output)) => Arrival::Landed(output),
            Ok(Landing::Failed) => Arrival::Failed,
            Ok(Landing::Flying) | Err(_) => Arrival::Abandoned,
        }
    }
}
