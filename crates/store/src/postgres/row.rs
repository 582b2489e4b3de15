//! Columns of a row, read as values, and the lock of a run.

use super::connections::{Transaction, number};
use crate::StoreError;
use agents_core::run::Timestamp;
use deadpool_postgres::tokio_postgres::Row;
use std::borrow::Cow;

pub(super) fn time(row: &Row, column: &str) -> Result<Timestamp, StoreError> {
    number(row, column).map(Timestamp::from_millis)
}

pub(super) fn time_if_any(row: &Row, column: &str) -> Result<Option<Timestamp>, StoreError> {
    let millis: Option<i64> = row.try_get(column)?;
    let millis = millis.map(i64::cast_unsigned);
    Ok(millis.map(Timestamp::from_millis))
}

/// Reads a column that holds one of several words, such as a status; an error for any other word.
pub(super) fn word<T>(
    row: &Row,
    column: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, StoreError> {
    let text: &str = row.try_get(column)?;
    read(text).ok_or_else(|| super::wording::not_a_word(text, column))
}

/// Returns a text for people without the one character that PostgreSQL's texts cannot have.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}").into(),
        false => text.into(),
    }
}

/// Locks a run until the transaction ends. Every change of a run, or of its requests for approval, takes this lock first.
pub(super) async fn lock(db: &Transaction<'_>, id: &str) -> Result<(), StoreError> {
    let sql = "SELECT 1 FROM agent_runs WHERE id = $1 FOR UPDATE";
    db.row(sql, &[&id]).await.map(drop)
}
