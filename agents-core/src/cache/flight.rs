//! The same call, made several times at once, runs once.

use super::CacheKey;
use crate::Json;
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// How a flight ends for those who wait for it.
#[derive(Clone, Debug)]
enum Landing {
    Flying,
    Landed(Json),
    Failed,
}

/// The calls that are under way.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<CacheKey, watch::Receiver<Landing>>>);

/// Who comes first runs the call.
pub(super) enum Seat<'a> {
    Pilot(Pilot<'a>),
    Passenger(Passenger),
}

/// What a passenger sees.
pub(super) enum Arrival {
    /// The call succeeded.
    Landed(Json),
    /// It failed.
    Failed,
    /// Whoever ran it is gone.
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

/// Runs the call; when it is dropped, the flight is over however it went.
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

/// Waits for whoever runs the call.
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
