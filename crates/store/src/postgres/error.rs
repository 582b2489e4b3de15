//! Errors of the server and of the way to it.

use super::wording;
use crate::{ErrorKind, StoreError};
use deadpool_postgres::{
    PoolError,
    tokio_postgres::{self, error::SqlState},
};
use std::{error::Error, io};

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(db) = error.as_db_error() {
            let (kind, hint) = kind_of(db.code());
            // Only the message: the details may quote rows.
            return StoreError::new(kind, format!("PostgreSQL: {}{hint}", db.message()));
        }
        let kind = match error.is_closed() || is_of_the_way(&error) {
            true => ErrorKind::Unavailable,
            false => ErrorKind::Failed,
        };
        StoreError::new(kind, format!("PostgreSQL: {}", said(&error)))
    }
}

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> Self {
        let (kind, why) = match error {
            PoolError::Backend(error) => return error.into(),
            PoolError::Timeout(_) => (ErrorKind::Unavailable, wording::NO_CONNECTION.to_owned()),
            PoolError::Closed => (ErrorKind::Failed, wording::POOL_CLOSED.to_owned()),
            error => (ErrorKind::Failed, said(&error)),
        };
        StoreError::new(kind, format!("PostgreSQL: {why}"))
    }
}

/// Returns the kind of a server's error by its code, and the remedy in words.
fn kind_of(code: &SqlState) -> (ErrorKind, &'static str) {
    use ErrorKind::{Failed, Unavailable};
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        return (Failed, wording::READ_ONLY);
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        return (Failed, wording::NO_PRIVILEGE);
    }
    if *code == SqlState::INVALID_CATALOG_NAME {
        return (Failed, wording::NO_DATABASE);
    }
    if *code == SqlState::DATABASE_DROPPED {
        return (Failed, "");
    }
    if *code == SqlState::DISK_FULL {
        return (Unavailable, wording::DISK_FULL);
    }
    if *code == SqlState::TOO_MANY_CONNECTIONS {
        return (Unavailable, wording::TOO_MANY_CONNECTIONS);
    }
    if *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        || *code == SqlState::LOCK_NOT_AVAILABLE
    {
        return (Unavailable, "");
    }
    match code.code().get(..2) {
        // The connection, a transaction that lost, resources, an operator, the machine.
        Some("08" | "40" | "53" | "57" | "58") => (Unavailable, ""),
        _ => (Failed, ""),
    }
}

/// Returns `true` if the connection to the server failed, and `false` if the error is about the statement, or about a
/// certificate.
fn is_of_the_way(error: &tokio_postgres::Error) -> bool {
    let io = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>());
    // A certificate that is refused is reported as data that is invalid.
    io.is_some_and(|io| io.kind() != io::ErrorKind::InvalidData)
        || error.to_string().starts_with("timeout")
}

/// Returns an error with its causes in words, as one sentence.
fn said(error: &(dyn Error + 'static)) -> String {
    let causes: Vec<_> = causes(error).map(ToString::to_string).collect();
    causes.join(": ")
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| {
        (*error).source()
    })
}
