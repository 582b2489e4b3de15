//! The way of facts into a journal: in order, as many as there are at a time, by one task.
//!
//! The run itself polls the task, so that no other thread is woken for an entry. While the task waits for the journal,
//! the runtime polls the task instead.

use super::wording;
use crate::{
    Json,
    journal::{Entry, Fact, Journal, JournalError, PlaceId, Stored},
    panics::guarded_while,
    run::Timestamp,
};
use futures_util::future::BoxFuture;
use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
    task::unconstrained,
};

/// Writes the facts of a run, and of the runs of their own within it, into a journal.
pub(crate) struct Writer {
    sent: Mutex<Sent>,
    task: Arc<Task>,
    /// Runs that the journal had stored before this process went on with them.
    stored: Mutex<Vec<Stored>>,
    /// Writes a fact as JSON.
    json: FactWriter,
}

/// Function that writes a fact as JSON.
pub(super) type FactWriter = fn(&Fact) -> serde_json::Result<Json>;

struct Sent {
    /// Number of the last entry that was made for the journal.
    seq: u64,
    /// Number that the next run in the journal gets.
    runs: u32,
    /// Entries since the last order to the task, which is not woken for each fact.
    kept: Vec<Entry>,
    /// Channel of orders to the task that stores entries; `None` once the run is dropped, or put down
    /// (stopped to go on later).
    to: Option<mpsc::UnboundedSender<Order>>,
    /// Error because of which no further entry is stored; `None` while entries are stored.
    refused: Option<JournalError>,
}

/// Order to the task that stores entries: what to store, and whom to tell.
struct Order {
    entries: Vec<Entry>,
    /// Channel to the caller who waits until the entries are stored; `None` if nobody waits.
    done: Option<oneshot::Sender<Result<(), JournalError>>>,
    /// Is `true` if the task releases the journal after this order.
    is_last: bool,
}

/// Receiver of the result of an order to the task that stores entries.
type Stores = oneshot::Receiver<Result<(), JournalError>>;

impl Writer {
    /// Creates the writer of a journal that holds these runs. `seq` is the number of its last entry.
    pub(super) fn new(
        journal: Arc<dyn Journal>,
        seq: u64,
        stored: Vec<Stored>,
        json: FactWriter,
    ) -> Arc<Writer> {
        let runs = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        let (to, orders) = mpsc::unbounded_channel();
        Arc::new(Writer {
            task: Task::new(journal, orders),
            sent: Mutex::new(Sent {
                seq,
                runs,
                kept: Vec::new(),
                to: Some(to),
                refused: None,
            }),
            stored: Mutex::new(stored),
            json,
        })
    }

    /// Writes a fact as JSON, for [`keep`](Writer::keep).
    pub(crate) fn json(&self, fact: &Fact) -> serde_json::Result<Json> {
        (self.json)(fact)
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out the outermost run, as the journal had stored that run. Returns `None` if the run is new, or was taken
    /// out before.
    pub(crate) fn stored(&self) -> Option<Stored> {
        self.take(|run| run.run == 0)
    }

    /// Takes out the nested run at this place, as the journal had stored that run. Returns `None` if the run is new, or
    /// was taken out before.
    pub(crate) fn stored_at(&self, place: &str) -> Option<Stored> {
        self.take(|run| run.run > 0 && run.started.place == place)
    }

    fn take(&self, is_it: impl Fn(&Stored) -> bool) -> Option<Stored> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let at = stored.iter().rposition(is_it)?;
        Some(stored.remove(at))
    }

    /// Returns the number that a new run gets in the journal.
    pub(crate) fn new_run(&self) -> u32 {
        let mut sent = self.sent();
        sent.runs += 1;
        sent.runs - 1
    }

    /// Adds a fact to the facts that are not stored yet. The next [`store`](Writer::store) stores it. After
    /// [`refuse`](Writer::refuse), the fact is dropped.
    pub(crate) fn keep(&self, run: u32, place: PlaceId, at: Timestamp, fact: Json) {
        let mut sent = self.sent();
        sent.seq += 1;
        let entry = Entry {
            seq: sent.seq,
            at,
            run,
            place,
            fact,
        };
        if sent.refused.is_none() {
            sent.kept.push(entry);
        }
    }

    /// Returns `true` if the run was dropped, or put down (stopped to go on later). Later facts of such a run are not
    /// stored.
    pub(crate) fn is_gone(&self) -> bool {
        self.sent().to.is_none()
    }

    /// Has all facts so far stored, and refuses later facts for this reason: they may not be a part of the stored run.
    /// If there are several reasons, the first is kept.
    pub(crate) fn refuse(&self, why: JournalError) {
        let mut sent = self.sent();
        sent.flush();
        sent.refused.get_or_insert(why);
    }

    /// Orders the task to store all facts so far, and does not wait until they are stored.
    pub(crate) fn flush(&self) {
        if self.sent().flush() {
            self.task.step();
        }
    }

    /// Stores all facts that were recorded so far in the journal.
    ///
    /// # Errors
    /// When that failed, has failed before or was refused, or the run was dropped or put down before.
    pub(crate) async fn store(&self) -> Result<(), JournalError> {
        let stored = self.send(false);
        self.until(stored).await
    }

    /// Stores all facts so far, and drops all later facts.
    pub(crate) fn put_down(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<(), JournalError>> + use<> {
        let stored = self.send(true);
        async move { self.until(stored).await }
    }

    /// Orders the task to store all facts so far. With `is_end`, later facts are dropped.
    fn send(&self, is_end: bool) -> Result<Stores, JournalError> {
        let (done, stored) = oneshot::channel();
        let mut sent = self.sent();
        if let Some(why) = &sent.refused {
            return Err(why.clone());
        }
        sent.send(Some(done), is_end);
        if is_end {
            sent.to = None;
        }
        Ok(stored)
    }

    /// Waits until an order to the task is carried out.
    async fn until(&self, stored: Result<Stores, JournalError>) -> Result<(), JournalError> {
        let stored = stored?;
        self.task.step();
        let ended = || Err(JournalError::new(wording::WRITER_ENDED));
        stored.await.unwrap_or_else(|_| ended())
    }
}

impl Sent {
    /// Sends the task an order with all facts so far. The task ends when it has released the journal, and when no order
    /// can come any more.
    fn send(&mut self, done: Option<oneshot::Sender<Result<(), JournalError>>>, is_last: bool) {
        let entries = std::mem::take(&mut self.kept);
        if let Some(to) = &self.to {
            let _ = to.send(Order {
                entries,
                done,
                is_last,
            });
        }
    }

    /// Sends the task an order with all facts so far, which nobody waits for. Returns `false`, and sends nothing, if
    /// there are no facts to store.
    fn flush(&mut self) -> bool {
        let has_any = !self.kept.is_empty();
        if has_any {
            self.send(None, false);
        }
        has_any
    }
}

/// Has the facts of a dropped run stored, so that the run can go on from there.
impl Drop for Writer {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Future of a run. When it is dropped, no more facts reach the journal. So the run can go on later from where it was,
/// and the calls that are dropped with it are not recorded as given up.
pub(crate) struct Going<F> {
    // Dropped before the work.
    journal: Dropped,
    work: Pin<Box<F>>,
}

struct Dropped(Option<Arc<Writer>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(writer) = self.0.take() {
            {
                let mut sent = writer.sent();
                sent.flush();
                sent.to = None;
            }
            writer.task.step();
        }
    }
}

impl<F: Future> Going<F> {
    /// Wraps work whose facts go to `writer`. If the work is dropped before its end, the journal is released.
    pub(crate) fn on(writer: Option<Arc<Writer>>, work: F) -> Self {
        let (journal, work) = (Dropped(writer), Box::pin(work));
        Going { journal, work }
    }
}

impl<F: Future> Future for Going<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let ready = self.work.as_mut().poll(cx);
        if ready.is_ready() {
            self.journal.0 = None;
        }
        ready
    }
}

impl Writer {
    /// Stores all facts that were recorded so far, and releases the journal.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        self.sent().send(Some(done), true);
        self.task.step();
        // If the task has ended, it has let go.
        let _ = closed.await;
    }
}

/// Task that stores entries in the journal while the run goes on. The run itself polls the task, unless the task waits
/// for the journal.
struct Task {
    /// Future of the task; `None` while the runtime polls it, and when it has ended.
    work: Mutex<Option<BoxFuture<'static, ()>>>,
    /// Is `true` while the task waits for the journal, and not for an order.
    waits: Arc<AtomicBool>,
    runtime: Handle,
}

impl Task {
    fn new(journal: Arc<dyn Journal>, orders: mpsc::UnboundedReceiver<Order>) -> Arc<Task> {
        let waits = Arc::new(AtomicBool::new(false));
        // It never yields of itself: nobody would wake it.
        let work: BoxFuture<'_, ()> =
            Box::pin(unconstrained(write(journal, orders, waits.clone())));
        Arc::new(Task {
            work: Mutex::new(Some(work)),
            waits,
            runtime: Handle::current(),
        })
    }

    fn work(&self) -> MutexGuard<'_, Option<BoxFuture<'static, ()>>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls the task once, unless the runtime polls it. An order is sent before this is called.
    fn step(self: &Arc<Self>) {
        let mut slot = self.work();
        let Some(mut work) = slot.take() else {
            return;
        };
        // Nobody has to wake it for an order: whoever sends one takes the next step.
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(()) => {}
            Poll::Pending if self.waits.load(Relaxed) => {
                let (task, work) = (self.clone(), Some(work));
                self.runtime.spawn(InRuntime { task, work });
            }
            Poll::Pending => *slot = Some(work),
        }
    }
}

/// Future by which the runtime polls the [`Task`] that stores entries, while that task waits for the journal.
struct InRuntime {
    task: Arc<Task>,
    work: Option<BoxFuture<'static, ()>>,
}

impl Future for InRuntime {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let InRuntime { task, work } = &mut *self;
        while let Some(at) = work {
            if at.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            if task.waits.load(Relaxed) {
                return Poll::Pending;
            }
            // It waits for an order. One that was sent until now found nobody to take the next step.
            let mut slot = task.work();
            let step = at.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if step.is_ready() {
                return Poll::Ready(());
            }
            if !task.waits.load(Relaxed) {
                *slot = work.take();
            }
        }
        Poll::Ready(())
    }
}

/// Runs the task: takes the orders that have come, and stores their entries in one write.
///
/// Facts that are added after the last order are stored with the next order. So the failure of an execution is not
/// stored before the decision about it: code could not decide in the same way about a stored failure, which is nothing
/// but data.
async fn write(
    mut journal: Arc<dyn Journal>,
    mut orders: mpsc::UnboundedReceiver<Order>,
    waits: Arc<AtomicBool>,
) {
    let mut waiting = Vec::new();
    let mut failed: Option<JournalError> = None;
    while let Some(order) = orders.recv().await {
        let Order {
            mut entries,
            done,
            mut is_last,
        } = order;
        waiting.extend(done);
        while let Ok(mut next) = orders.try_recv() {
            entries.append(&mut next.entries);
            waiting.extend(next.done);
            is_last |= next.is_last;
        }
        if failed.is_none() && !entries.is_empty() {
            waits.store(true, Relaxed);
            let stored = guarded_while(journal.append(&entries)).await;
            waits.store(false, Relaxed);
            let panicked =
                |panic: String| Err(JournalError::new(wording::journal_panicked(&panic)));
            failed = stored.unwrap_or_else(panicked).err();
            if let Some(error) = &failed {
                tracing::error!(%error, "the journal cannot be written");
            }
        }
        // Whoever waits for the last may open the journal again.
        let held = (!is_last).then_some(journal);
        for done in waiting.drain(..) {
            // Whoever waited may be gone.
            let _ = done.send(failed.clone().map_or(Ok(()), Err));
        }
        match held {
            Some(held) => journal = held,
            None => return,
        }
    }
}
