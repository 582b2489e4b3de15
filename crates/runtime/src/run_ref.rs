//! Handles of stored runs.

use crate::{Client, Events, Principal, Request, RuntimeError};
use agents_core::{Outcome, agent::Data};
use agents_store::{ApprovalFilter, ApprovalStatus, HeldKind, HeldReason, RunStatus};
use std::{
    fmt,
    marker::PhantomData,
    time::{Duration, Instant},
};

/// Handle of a stored run, made by [`Start::start`](crate::Start::start), or by [`Client::run`] from its id.
///
/// ```
/// use agents_runtime::{Client, Progress, RunRef, RuntimeError};
/// use std::time::Duration;
///
/// /// Says how far a run is. `client` may be in another process than the one that has started it.
/// async fn report(client: &Client, id: &str) -> Result<String, RuntimeError> {
///     let run: RunRef<String> = client.run(id);
///     Ok(match run.wait(Duration::from_secs(5)).await? {
///         Progress::Done(outcome) => match outcome.result {
///             Ok(answer) => answer,
///             Err(error) => format!("failed: {error}"),
///         },
///         Progress::Waiting(requests) => format!("waits for {} decisions", requests.len()),
///         Progress::Running => "goes on".to_owned(),
///         Progress::Held(reason) => format!("held: {reason}"),
///     })
/// }
/// ```
pub struct RunRef<Out> {
    client: Client,
    id: String,
    out: PhantomData<fn() -> Out>,
}

/// State of a stored run, returned by [`RunRef::progress`] and [`RunRef::wait`].
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them for a run")]
pub enum Progress<Out> {
    /// The run is over: it has answered, has failed or was cancelled.
    Done(Outcome<Out>),
    /// The run waits for decisions about these requests, of which at most 100 are returned. It also goes on when one of
    /// them expires.
    Waiting(Vec<Request>),
    /// A worker has the run, or any worker that has its agent may take it. A run of a conversation may have to wait for
    /// an earlier one.
    Running,
    /// The run cannot go on, for this reason. [`Client::release`] lets it try again.
    Held(HeldReason),
}

impl<Out> Clone for RunRef<Out> {
    fn clone(&self) -> Self {
        RunRef::new(self.client.clone(), self.id.clone())
    }
}

impl<Out> RunRef<Out> {
    pub(crate) fn new(client: Client, id: String) -> Self {
        RunRef {
            client,
            id,
            out: PhantomData,
        }
    }

    /// Returns the id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Cancels the run: see [`Client::cancel`].
    ///
    /// # Errors
    /// When there is no such run for this principal, the [roles](crate::Roles) forbid it, or the store fails.
    pub async fn cancel(&self, by: &Principal) -> Result<(), RuntimeError> {
        self.client.cancel(&self.id, by).await
    }

    /// Pauses the run: see [`Client::pause`].
    ///
    /// # Errors
    /// When there is no such run for this principal, it is over, the [roles](crate::Roles) forbid it, or the store
    /// fails.
    pub async fn pause(&self, by: &Principal) -> Result<(), RuntimeError> {
        self.client.pause(&self.id, by).await
    }

    /// Returns the events of the run: the ones that are stored, then each new one as it comes.
    pub fn events(&self) -> Events {
        self.client.events(&self.id)
    }
}

impl<Out: Data> RunRef<Out> {
    /// Returns the state of the run: its outcome, or what it waits for.
    ///
    /// # Errors
    /// When there is no such run, it cannot be read, or the store fails.
    pub async fn progress(&self) -> Result<Progress<Out>, RuntimeError> {
        let run = self.client.known(&self.id).await?;
        Ok(match run.status {
            RunStatus::Done => Progress::Done(self.outcome().await?),
            RunStatus::Held => Progress::Held(
                run.held
                    .unwrap_or_else(|| HeldReason::new(HeldKind::Unknown, String::new())),
            ),
            RunStatus::Ready | RunStatus::Running => Progress::Running,
            RunStatus::Waiting => {
                let filter = ApprovalFilter {
                    run: Some(run.id),
                    status: Some(ApprovalStatus::Pending),
                    ..ApprovalFilter::default()
                };
                Progress::Waiting(self.client.requests(&filter).await?)
            }
        })
    }

    /// Waits until the run is over or held, or until this time has passed, and returns its state. A run that waits for a
    /// decision may go on meanwhile, so its state is returned when the time has passed.
    ///
    /// # Errors
    /// When there is no such run, it cannot be read, or the store fails.
    pub async fn wait(&self, time: Duration) -> Result<Progress<Out>, RuntimeError> {
        let began = Instant::now();
        let mut pause = Duration::from_millis(5);
        loop {
            let status = self.client.known(&self.id).await?.status;
            let left = time.saturating_sub(began.elapsed());
            if matches!(status, RunStatus::Done | RunStatus::Held) || left.is_zero() {
                return self.progress().await;
            }
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }

    /// Returns the outcome of a run that is over, read from its journal.
    pub(crate) async fn outcome(&self) -> Result<Outcome<Out>, RuntimeError> {
        let recorded = self.client.recorded(&self.id).await?;
        let outcome = recorded.and_then(|recorded| recorded.outcome());
        outcome.ok_or_else(|| crate::wording::no_end(&self.id))
    }
}

impl<Out> fmt::Debug for RunRef<Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunRef").field(&self.id).finish()
    }
}
