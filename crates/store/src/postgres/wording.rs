//! Errors of PostgreSQL, in words. A hint stands behind an error of the server itself.

use crate::{ErrorKind, StoreError};
use std::fmt::Display;

pub(super) const READ_ONLY: &str = "; the server is a standby, or `default_transaction_read_only` is on: connect to the primary, or turn it off";
pub(super) const NO_PRIVILEGE: &str =
    "; connect as the owner of the tables, or grant the role what it needs";
pub(super) const NO_DATABASE: &str = "; create the database first";
pub(super) const DISK_FULL: &str = "; free some space";
pub(super) const TOO_MANY_CONNECTIONS: &str = "; raise `max_connections`, or use smaller pools";

pub(super) const NO_CONNECTION: &str =
    "no connection came in time; is the server overloaded, or the pool too small?";
pub(super) const POOL_CLOSED: &str = "the pool of connections is closed";

pub(super) fn not_an_address() -> StoreError {
    let why = "the address of the store cannot be read; expected `postgres://USER:PASSWORD@HOST/DATABASE`";
    StoreError::new(ErrorKind::Failed, why)
}

pub(super) fn thread_failed(error: &impl Display) -> StoreError {
    let why = format!("the thread of the store has not done its work: {error}");
    StoreError::new(ErrorKind::Unavailable, why)
}

pub(super) fn not_a_number(number: i64) -> StoreError {
    let why = format!("PostgreSQL: {number} is no number of a store");
    StoreError::new(ErrorKind::Failed, why)
}

pub(super) fn not_a_word(text: &str, column: &str) -> StoreError {
    let why = format!("PostgreSQL: `{text}` is no {column}");
    StoreError::new(ErrorKind::Failed, why)
}

pub(super) fn not_utf8(encoding: &str) -> StoreError {
    let why = format!("the database has the encoding {encoding}; create it with the encoding UTF8");
    StoreError::new(ErrorKind::Failed, why)
}
