//! Activity of a run: whether anything in it moves, or whether all of it waits for people.

use crate::run::ApprovalRequest;
use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

/// Count of what goes on in a run and in the runs within it, and of the people who are asked. It is kept only for a run
/// that ends when it waits.
#[derive(Default)]
pub(crate) struct Activity(Mutex<Moving>);

#[derive(Default)]
struct Moving {
    /// Number of pieces of work that go on: requests to models, executions of tools, and facts that are stored before a
    /// person is asked. An execution that rests, because a person is asked within it, is not counted.
    working: usize,
    /// Requests for approval that nobody has decided, each with its number.
    waiting: Vec<(u64, ApprovalRequest)>,
    asked: u64,
    /// Waker of the run, for parts of it that go on in other tasks.
    waker: Option<Waker>,
}

impl Activity {
    fn moving(&self) -> MutexGuard<'_, Moving> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(&self, change: impl FnOnce(&mut Moving) -> R) -> R {
        let (result, waker) = {
            let mut moving = self.moving();
            let result = change(&mut moving);
            let rests = moving.working == 0;
            let waker = moving.waker.take_if(|_| rests);
            (result, waker)
        };
        waker.into_iter().for_each(Waker::wake);
        result
    }

    /// Adds 1 to the number of pieces of work that go on, until the returned guard is dropped. Meanwhile the run is not
    /// put down, unless the work [rests](Self::rests).
    pub(crate) fn work(self: &Arc<Self>) -> Working {
        self.goes_on();
        Working(self.clone())
    }

    /// Adds 1 to the number of pieces of work that go on.
    pub(super) fn goes_on(&self) {
        self.moving().working += 1;
    }

    /// Subtracts 1 from the number of pieces of work that go on: one has ended, or waits for a person.
    pub(super) fn rests(&self) {
        self.change(|moving| moving.working -= 1);
    }

    /// Adds a request for approval that waits for a decision, until the guard is dropped.
    pub(crate) fn wait(self: &Arc<Self>, request: ApprovalRequest) -> Waiting {
        let number = self.change(|moving| {
            moving.asked += 1;
            moving.waiting.push((moving.asked, request));
            moving.asked
        });
        Waiting(self.clone(), number)
    }

    /// Returns the requests that the run waits for, if nothing else in the run moves; `None` if anything moves, or no
    /// request waits. In that case `waker` is woken when nothing moves any more.
    fn waits_for(&self, waker: &Waker) -> Option<Vec<ApprovalRequest>> {
        let mut moving = self.moving();
        if moving.working == 0 && !moving.waiting.is_empty() {
            let waiting = moving.waiting.iter();
            return Some(waiting.map(|(_, request)| request.clone()).collect());
        }
        moving.waker = Some(waker.clone());
        None
    }
}

/// Guard of work that goes on, such as a request to a model. The run is not put down until the guard is dropped or the
/// work rests.
pub(crate) struct Working(Arc<Activity>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.rests();
    }
}

/// Guard of a request for approval that waits for a decision. Until it is dropped, the request is among those for which
/// the run may be put down.
pub(crate) struct Waiting(Arc<Activity>, u64);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut moving = self.0.moving();
        moving.waiting.retain(|(number, _)| *number != self.1);
    }
}

/// Carries out work until it ends, or until all of it waits for people. In that case `put_down` is carried out, and the
/// requests for which the work waits are returned; the caller then drops the work. Without an `activity`, the work is
/// carried out to its end.
pub(crate) async fn until_waiting<T, E>(
    activity: Option<&Arc<Activity>>,
    mut work: Pin<&mut impl Future<Output = T>>,
    put_down: impl AsyncFnOnce() -> Result<(), E>,
) -> Result<T, Result<Vec<ApprovalRequest>, E>> {
    let waits = poll_fn(|cx| {
        if let Poll::Ready(output) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        match activity.and_then(|activity| activity.waits_for(cx.waker())) {
            Some(requests) => Poll::Ready(Err(requests)),
            None => Poll::Pending,
        }
    });
    match waits.await {
        Ok(output) => Ok(output),
        // The work lives until its last facts are stored.
        Err(requests) => Err(put_down().await.map(|()| requests)),
    }
}
