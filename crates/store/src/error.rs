//! Errors of stores.

use std::fmt;

/// Error of a store, with its kind and words for people.
///
/// ```
/// use agents_store::{ErrorKind, NewRun, SqliteStore, Store, StoreError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// let error = store.runs(&agents_store::RunFilter { before: Some("7".into()), ..Default::default() }).await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert!(!error.may_pass());
///
/// // A store of your own says which errors are worth another try.
/// let busy = StoreError::new(ErrorKind::Unavailable, "the server is restarting");
/// assert!(busy.may_pass());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    kind: ErrorKind,
    message: String,
}

/// Kind of a [`StoreError`], by which callers decide what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The store cannot be reached, or is too busy; the same call may succeed later.
    Unavailable,
    /// The lease is lost: another worker has the run, or the run was given back or held.
    LeaseLost,
    /// The caller's data is out of date: entries, or another profile, were stored since it was read.
    Conflict,
    /// The run, the request, the execution or whatever else the call names is not there, or it belongs to another
    /// tenant.
    NotFound,
    /// The request was decided before, its time is over, or its run is over; the execution is not in doubt; the letter
    /// is not dead, or the run is not held.
    Settled,
    /// The run is not over, and the call is for runs that are.
    NotOver,
    /// The conversation was held with another agent than the caller names.
    OtherAgent,
    /// The run is over, and the call is for runs that are not.
    Over,
    /// The execution may not begin: no approval covers it, or it has ended before.
    NotApproved,
    /// The store was written by a later version.
    Newer,
    /// The audit trail of the store was made with another key.
    OtherKey,
    /// The store cannot be read or written for another reason.
    Failed,
}

impl StoreError {
    /// Creates an error of this kind, with words for people.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        StoreError {
            kind,
            message: message.into(),
        }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns `true` if the same call may succeed later.
    pub fn may_pass(&self) -> bool {
        self.kind == ErrorKind::Unavailable
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {}
