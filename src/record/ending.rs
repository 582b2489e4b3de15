//! How a recorded run ended without an answer, and when its replay has reached that point.

use super::{Divergence, bundle::Told, replay::lock};
use agents_core::run::{Happened, Limit, Stopped};
use std::{
    collections::HashSet, convert::Infallible, future::pending, sync::Mutex, time::Duration,
};
use tokio::{sync::Notify, task::yield_now, time::timeout};

/// What was recorded happens again at once. What has not after so long will not any more.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many turns others have before it is said that nothing moves.
const TURNS: u32 = 64;

/// What a replay has had again, as far as its end depends on it.
#[derive(Default)]
pub(super) struct Ending {
    /// The calls that have their receipt again.
    settled: Mutex<HashSet<String>>,
    /// Where something waits that came to no end; and whether that is on the tape, or is past its end.
    waiting: Mutex<Vec<(String, bool)>>,
    moved: Notify,
}

impl Ending {
    /// This call has its receipt again.
    pub(super) fn settled(&self, call: &str) {
        lock(&self.settled).insert(call.to_owned());
        self.moved();
    }

    /// Something has happened again.
    pub(super) fn moved(&self) {
        self.moved.notify_waiters();
    }

    /// Waits here until the run is dropped.
    pub(super) async fn wait(&self, place: &str, is_recorded: bool) -> Infallible {
        let _waiting = Waiting::at(self, place, is_recorded);
        pending().await
    }

    /// Whether something in the run at this place waits in vain, and whether that is on the tape of any.
    fn is_waited_for(&self, place: &str) -> Option<bool> {
        let waiting = lock(&self.waiting);
        let here = waiting.iter().filter(|(at, _)| is_in(at, place));
        here.map(|(_, is_recorded)| *is_recorded).max()
    }

    /// How many of these calls, of the run at this place, have no receipt yet.
    pub(super) fn unsettled<'a>(
        &self,
        calls: impl Iterator<Item = &'a String>,
        place: &str,
    ) -> usize {
        let settled = lock(&self.settled);
        calls
            .filter(|call| is_in(call, place) && !settled.contains(*call))
            .count()
    }

    /// Ready when something waits in the run at this place and nothing is missing any more that `missing`
    /// counts; says whether the waiting is on the tape. An error if what is missing does not come.
    pub(super) async fn over(
        &self,
        place: &str,
        is_patient: bool,
        missing: impl Fn() -> usize,
    ) -> Result<bool, usize> {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            match (self.is_waited_for(place), missing()) {
                (None, _) => moved.await,
                (Some(is_recorded), 0) => {
                    if self.is_still(moved).await {
                        return Ok(is_recorded);
                    }
                }
                (Some(_), _) if is_patient => moved.await,
                (Some(_), missing) => {
                    if timeout(PATIENCE, moved).await.is_err() {
                        return Err(missing);
                    }
                }
            }
        }
    }

    /// Nothing moves, though everybody else has had a turn: what ends a run from within does so now.
    async fn is_still(&self, moved: impl Future<Output = ()>) -> bool {
        let turns = async {
            for _ in 0..TURNS {
                yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = moved => false,
            () = turns => true,
        }
    }
}

/// Whether a place is in the run at another.
pub(super) fn is_in(place: &str, run: &str) -> bool {
    place
        .strip_prefix(run)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Whoever waits here.
struct Waiting<'a> {
    ending: &'a Ending,
    place: &'a str,
}

impl<'a> Waiting<'a> {
    fn at(ending: &'a Ending, place: &'a str, is_recorded: bool) -> Self {
        lock(&ending.waiting).push((place.to_owned(), is_recorded));
        ending.moved();
        Waiting { ending, place }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.ending.waiting);
        if let Some(at) = waiting.iter().position(|(at, _)| at == self.place) {
            waiting.swap_remove(at);
        }
    }
}

impl Told {
    /// How the run at this place ended, if that is on the tape: by its answer, or by this.
    pub(super) fn end_of(&self, run: &str) -> Option<Option<&Stopped>> {
        match &self.happened.get(&format!("{run}/ended"))?.what {
            Happened::Ended(stopped) => Some(stopped.as_ref()),
            _ => None,
        }
    }

    /// Whether a run in which this place is was stopped: then what would have come next is not on the
    /// tape, and did not happen either.
    pub(super) fn was_stopped_around(&self, place: &str) -> bool {
        let mut around = place.match_indices('/').map(|(at, _)| &place[..at]);
        around.any(|run| self.end_of(run).flatten().is_some())
    }
}

/// Whether a run is stopped so by something that is not in it.
pub(super) fn is_from_outside(stopped: &Stopped) -> bool {
    let out_of_time = |limit: &Limit| matches!(limit, Limit::Time(_));
    match stopped {
        Stopped::Cancelled => true,
        Stopped::Budget { limit, .. } => out_of_time(limit),
        _ => false,
    }
}

impl Divergence {
    /// The recorded run was stopped by what does not stop this one.
    pub(super) fn of_stop(place: &str, stopped: &Stopped) -> Divergence {
        let what = format!("the recorded run was stopped here ({stopped:?}), and this one goes on");
        Divergence::new(place, what)
    }

    /// The recording has no more, and does not say why: its run was dropped.
    pub(super) fn of_end(place: &str, missing: usize) -> Divergence {
        let what = match missing {
            0 => "the recording ends here: its run was dropped".to_owned(),
            missing => format!(
                "{missing} recorded replies and calls do not happen again, and what the run waits for came to no end"
            ),
        };
        Divergence::new(place, what)
    }
}
