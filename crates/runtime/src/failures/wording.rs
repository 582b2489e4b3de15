//! Errors of clusters, in words.

use crate::RuntimeError;
use agents_store::{ErrorKind, StoreError};

pub(super) fn no_cluster(id: &str) -> RuntimeError {
    let why = format!(
        "there is no cluster `{id}` of failures: its failures are no longer among those that are looked at"
    );
    StoreError::new(ErrorKind::NotFound, why).into()
}
