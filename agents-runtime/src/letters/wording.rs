//! Errors of dead letters, in words.

use crate::error::{RuntimeError, RuntimeErrorKind};
use agents_store::{ErrorKind, StoreError};

pub(super) fn no_letter(id: &str) -> RuntimeError {
    let why = format!("there is no dead letter `{id}`");
    StoreError::new(ErrorKind::NotFound, why).into()
}

pub(super) fn replayed_already(id: &str) -> RuntimeError {
    let why = format!("letter `{id}` is on its way: somebody has replayed it already");
    StoreError::new(ErrorKind::Settled, why).into()
}

pub(super) fn not_held(id: &str) -> RuntimeError {
    let why = format!("run `{id}` is not held: somebody has let it go on already, or it is over");
    StoreError::new(ErrorKind::Settled, why).into()
}

pub(super) fn no_reason() -> RuntimeError {
    let why = "a replay needs a reason, which is in the audit trail; say why it may succeed now";
    RuntimeError::new(RuntimeErrorKind::Invalid, why)
}

pub(super) fn may_not_see(id: &str) -> String {
    format!("`{id}` may not see contents: that needs the role for reading arguments")
}
