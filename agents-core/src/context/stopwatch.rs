use super::Activity;
use crate::shared::Shared;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// Deadline of one execution, of an agent or of a run. The time stands still while a person is asked, however deep
/// within, and while an agent waits in a pause.
pub(crate) struct Stopwatch {
    hands: Mutex<Hands>,
    changed: Notify,
    outer: Option<Shared<Stopwatch>>,
    /// Activity of the run. It is told that the execution pauses while a person is asked within it, so that the run can
    /// be put down.
    rests_in: Option<Arc<Activity>>,
    /// Is `true` if this is the deadline of an execution that has to end before the run is put down.
    has_effect: bool,
}

struct Hands {
    deadline: Instant,
    /// Number of reasons for which the time stands still: people who are asked, and pauses. `since` is the time at
    /// which the first of them began.
    waiting: u32,
    since: Instant,
}

impl Stopwatch {
    /// Starts a deadline `time` from now, within the deadline `outer`.
    pub(crate) fn start(time: Duration, outer: Option<Shared<Stopwatch>>) -> Shared<Stopwatch> {
        Self::of_execution(time, outer, None, false)
    }

    /// Starts the deadline of an execution. `rests_in` is the activity that is told that the execution pauses while a
    /// person is asked within it. `has_effect` says that the execution has to end before the run is put down.
    pub(crate) fn of_execution(
        time: Duration,
        outer: Option<Shared<Stopwatch>>,
        rests_in: Option<Arc<Activity>>,
        has_effect: bool,
    ) -> Shared<Stopwatch> {
        const AGES: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);
        let now = Instant::now();
        let deadline = now.checked_add(time).unwrap_or(now + AGES);
        let hands = Mutex::new(Hands {
            deadline,
            waiting: 0,
            since: deadline,
        });
        Shared::new(Stopwatch {
            hands,
            changed: Notify::new(),
            outer,
            rests_in,
            has_effect,
        })
    }

    /// Returns `true` if this is the deadline of an execution that has to end before the run is put down, or within that
    /// of one.
    pub(crate) fn is_of_an_effect(&self) -> bool {
        let mut watch = Some(self);
        while let Some(here) = watch {
            if here.has_effect {
                return true;
            }
            watch = here.outer.as_deref();
        }
        false
    }

    /// Returns the least time left of this deadline and those around it. It does not shrink while the time stands
    /// still.
    pub(crate) fn left(&self) -> Duration {
        let mut least = Duration::MAX;
        let mut watch = Some(self);
        while let Some(here) = watch {
            let hands = here.hands();
            let now = match hands.waiting {
                0 => Instant::now(),
                _ => hands.since,
            };
            least = least.min(hands.deadline.saturating_duration_since(now));
            watch = here.outer.as_deref();
        }
        least
    }

    /// Waits until the time is up; waits forever without a stopwatch.
    pub(crate) async fn over(watch: Option<&Stopwatch>) {
        match watch {
            Some(watch) => watch.expired().await,
            None => std::future::pending().await,
        }
    }

    /// Waits until this deadline has passed. The work around it waits for the deadlines around it.
    pub(crate) async fn expired(&self) {
        loop {
            let changed = self.changed.notified();
            let (deadline, waiting) = {
                let hands = self.hands();
                (hands.deadline, hands.waiting > 0)
            };
            if waiting {
                changed.await;
            } else if Instant::now() >= deadline {
                return;
            } else {
                tokio::select! {
                    () = sleep_until(deadline) => {}
                    () = changed => {}
                }
            }
        }
    }

    fn each_out(&self, change: impl Fn(&Stopwatch, &mut Hands)) {
        let mut watch = Some(self);
        while let Some(here) = watch {
            change(here, &mut here.hands());
            here.changed.notify_waiters();
            watch = here.outer.as_deref();
        }
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared<Stopwatch> {
    /// Stops the time of this deadline and of those around it, until the guard is dropped.
    pub(crate) fn stand_still(&self) -> Still {
        self.each_out(|watch, hands| {
            if hands.waiting == 0 {
                hands.since = Instant::now();
                watch.rests_in.iter().for_each(|activity| activity.rests());
            }
            hands.waiting += 1;
        });
        Still(self.clone())
    }
}

/// Guard while a person is asked or a pause lasts: the time of this deadline, and of those around it, stands still
/// until the guard is dropped.
pub(crate) struct Still(Shared<Stopwatch>);

impl Drop for Still {
    fn drop(&mut self) {
        self.0.each_out(|watch, hands| {
            hands.waiting -= 1;
            if hands.waiting == 0 {
                hands.deadline += hands.since.elapsed();
                let rested = watch.rests_in.iter();
                rested.for_each(|activity| activity.goes_on());
            }
        });
    }
}
