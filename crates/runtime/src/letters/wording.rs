//! Errors of dead letters, in words.

use crate::error::{RuntimeError, RuntimeErrorKind};
use agents_store::{ErrorKind, Letter, Run, StoreError};

pub(super) fn no_letter(id: &str) -> RuntimeError {
    let why = format!("there is no dead letter `{id}`");
    StoreError::new(ErrorKind::NotFound, why).into()
}

/// Returns the error of a replay of a letter that is not dead: it was replayed before, or has never died.
pub(super) fn alive(letter: &Letter) -> RuntimeError {
    let id = &letter.id;
    let why = match letter.replays {
        0 => format!("letter `{id}` is on its way, not dead: there is nothing to replay"),
        _ => format!("letter `{id}` is on its way: somebody has replayed it already"),
    };
    StoreError::new(ErrorKind::Settled, why).into()
}

/// Returns the error of a replay of a run that is not held: somebody has let it go on, or it has never been held.
pub(super) fn not_held(run: &Run) -> RuntimeError {
    let why = format!(
        "run `{}` is {}, not held: there is nothing to replay",
        run.id, run.status
    );
    StoreError::new(ErrorKind::Settled, why).into()
}

pub(super) fn no_reason() -> RuntimeError {
    let why = "a replay needs a reason, which is in the audit trail; say why it may succeed now";
    RuntimeError::new(RuntimeErrorKind::Invalid, why)
}

pub(super) fn may_not_see(id: &str) -> String {
    format!("`{id}` may not see contents: that needs the role for reading arguments")
}
