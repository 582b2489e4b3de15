//! Guards around user code that panics or does not answer. The failure becomes a value of the run: it neither unwinds
//! through the run nor holds it up.
//!
//! If the code returns data, a panic is an error that names the place. If the code only observes, the panic is logged
//! and the run goes on.

use crate::{Error, ErrorKind, secret::Masker};
use futures_util::{FutureExt, future::poll_immediate};
use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    time::Duration,
};
use tokio::time::timeout;

/// Runs user code other than a tool's body: arms, conditions, conversions. `Err` is the message of the panic.
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(caught)
}

/// Runs asynchronous user code; `Err` is the message of a panic in it.
pub(crate) async fn guarded_while<R>(work: impl Future<Output = R>) -> Result<R, String> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(caught)
}

/// Reason why something that the user brought, such as a cache, gave no result.
#[derive(Debug)]
pub(crate) enum Amiss {
    /// The user's code, such as the cache, panicked.
    Panicked,
    /// The user's code did not answer in time.
    Silent,
}

impl fmt::Display for Amiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Amiss::Panicked => "panicked",
            Amiss::Silent => "does not answer",
        })
    }
}

/// Waits for user code whose result a call needs, for at most `patience`. A panic and a late answer are errors.
pub(crate) async fn patiently<R>(
    patience: Duration,
    work: impl Future<Output = R>,
) -> Result<R, Amiss> {
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    // Mostly the result is at hand, and then no timer has to be set.
    let done = match poll_immediate(&mut work).await {
        Some(done) => done,
        None => timeout(patience, work).await.map_err(|_| Amiss::Silent)?,
    };
    done.map_err(|panic| {
        caught(panic);
        Amiss::Panicked
    })
}

/// Runs a callback that only observes, such as a subscriber. A panic in it is logged, and nothing fails.
pub(crate) fn told(whom: &str, masker: &Masker, tell: impl FnOnce()) {
    if let Err(panic) = guarded(tell) {
        let panic = masker.text(&panic);
        tracing::error!(%panic, "`{whom}` panicked; the run goes on");
    }
}

/// Returns a function that turns the message of a panic into an error; `what` names the code that panicked.
pub(crate) fn error(what: impl AsRef<str>) -> impl FnOnce(String) -> Error {
    move |panic| {
        let message = format!("{} panicked: {panic}", what.as_ref());
        Error::new(ErrorKind::Panicked, message)
    }
}

/// Calls a method by which an agent describes itself. A panic in it is an error of the agent: the method may evaluate
/// expressions that the user has written into `#[agent(..)]`.
pub(crate) fn said_by<T>(name: &str, say: impl FnOnce() -> T) -> Result<T, Error> {
    guarded(say).map_err(error(format!("agent `{name}`")))
}

/// Runs an agent's work. A panic is an error of the agent.
pub(crate) async fn of_agent<T>(
    name: &str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let result = guarded_while(work).await;
    result.unwrap_or_else(|panic| Err(error(format!("agent `{name}`"))(panic)))
}

/// Returns the message of a caught panic. Only a text is dropped; any other payload is leaked, since it may panic when
/// it is dropped.
fn caught(panic: Box<dyn Any + Send>) -> String {
    let said = message(&*panic);
    if !panic.is::<&str>() && !panic.is::<String>() {
        std::mem::forget(panic);
    }
    said
}

/// Returns the text with which code has panicked, or a remark in its place if the panic has no text.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it did not say why".into())
}
