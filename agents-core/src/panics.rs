//! Code of the user's that panics, or does not answer: what would unwind through a run, or hold it up, becomes a value
//! of it.
//!
//! Where the code gives data, a panic is an error that names the place. Where it only looks on, the
//! panic is logged and the run goes on.

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

/// Runs code that is no tool's body: arms, conditions, conversions. `Err` is what the panic said.
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(caught)
}

/// The same, for code that waits.
pub(crate) async fn guarded_while<R>(work: impl Future<Output = R>) -> Result<R, String> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(caught)
}

/// Why something that the user brought, such as a cache, gave nothing.
#[derive(Debug)]
pub(crate) enum Amiss {
    /// It panicked.
    Panicked,
    /// It does not answer.
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

/// What work of the user's gives that a call needs, if it does in time.
pub(crate) async fn patiently<R>(
    patience: Duration,
    work: impl Future<Output = R>,
) -> Result<R, Amiss> {
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    // Mostly it is at hand, and then no timer has to be set.
    let done = match poll_immediate(&mut work).await {
        Some(done) => done,
        None => timeout(patience, work).await.map_err(|_| Amiss::Silent)?,
    };
    done.map_err(|panic| {
        caught(panic);
        Amiss::Panicked
    })
}

/// Tells somebody who looks on; a panic there is nobody else's matter.
pub(crate) fn told(whom: &str, masker: &Masker, tell: impl FnOnce()) {
    if let Err(panic) = guarded(tell) {
        let panic = masker.text(&panic);
        tracing::error!(%panic, "`{whom}` panicked; the run goes on");
    }
}

/// The error for code that was to give data: `what` is the place.
pub(crate) fn error(what: impl AsRef<str>) -> impl FnOnce(String) -> Error {
    move |panic| {
        let message = format!("{} panicked: {panic}", what.as_ref());
        Error::new(ErrorKind::Panicked, message)
    }
}

/// What an agent says of itself, in which a panic is an error of the agent: its attribute holds expressions.
pub(crate) fn said_by<T>(name: &str, say: impl FnOnce() -> T) -> Result<T, Error> {
    guarded(say).map_err(error(format!("agent `{name}`")))
}

/// An agent's work, in which a panic is an error of the agent.
pub(crate) async fn of_agent<T>(
    name: &str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let result = guarded_while(work).await;
    result.unwrap_or_else(|panic| Err(error(format!("agent `{name}`"))(panic)))
}

/// Returns what a caught panic said. Only text is dropped: what else a panic holds may panic when it is dropped.
fn caught(panic: Box<dyn Any + Send>) -> String {
    let said = message(&*panic);
    if !panic.is::<&str>() && !panic.is::<String>() {
        std::mem::forget(panic);
    }
    said
}

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it did not say why".into())
}
