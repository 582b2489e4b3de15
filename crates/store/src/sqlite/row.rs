//! Columns of a row, read as values.

use agents_core::run::Timestamp;
use rusqlite::{Row, types::Type};

pub(super) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

pub(super) fn time_if_any(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let millis: Option<u64> = row.get(column)?;
    Ok(millis.map(Timestamp::from_millis))
}

/// Reads a column that holds one of several words, such as a status; an error for any other word.
pub(super) fn word<T>(
    row: &Row<'_>,
    column: &str,
    read: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    read(&text).ok_or_else(|| {
        let why = format!("`{text}` is no {column}");
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, why.into())
    })
}
