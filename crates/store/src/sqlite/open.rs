//! Opening a file, and bringing its tables up to date.

use super::wording;
use crate::{ErrorKind, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::{
    path::Path,
    time::{Duration, Instant},
};

mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

/// Time for which SQLite waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the result of a task that opens a store; a task that was cut off is an error.
pub(super) fn joined<T>(
    result: Result<Result<T, StoreError>, tokio::task::JoinError>,
) -> Result<T, StoreError> {
    result.unwrap_or_else(|error| Err(StoreError::new(ErrorKind::Failed, error.to_string())))
}

/// Returns the identity of the file at this path (device and number); `None` if there is no file, or if files have none
/// here.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let file = std::fs::metadata(path).ok()?;
        Some((file.dev(), file.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Tries to open a store again and again while the error may pass, as while another process creates the store. After
/// ten seconds, the next error is returned.
pub(super) fn patiently<T>(open: impl Fn() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let began = Instant::now();
    loop {
        match open() {
            Err(error) if error.may_pass() && began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            opened => return opened,
        }
    }
}

/// Creates the file if it is missing. On Unix, only the user who owns it can read it then.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    let mut how = std::fs::OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
    let opened = how.open(path).map(drop);
    opened.map_err(|error| wording::not_opened(ErrorKind::Failed, path, &error))
}

/// Returns an error if there is no store at this path.
pub(super) fn is_there(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Err(wording::no_file(path));
    }
    match has_tables(&connection(path, true)?) {
        Ok(true) => Ok(()),
        Ok(false) => Err(wording::no_tables(path)),
        Err(error) => Err(wording::not_opened(error.kind(), path, &error)),
    }
}

fn has_tables(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'agent_runs')";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

pub(super) fn connection(path: &Path, reads: bool) -> Result<Connection, StoreError> {
    let flags = match reads {
        true => OpenFlags::SQLITE_OPEN_READ_ONLY,
        false => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Sets a new connection up, brings the tables up to date, and returns the connection.
pub(super) fn prepared(mut connection: Connection) -> Result<Connection, StoreError> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    migrate(&mut connection)?;
    Ok(connection)
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    // In one transaction: a process that ends in the middle leaves nothing behind.
    let runner = embedded::migrations::runner().set_grouped(true);
    let known = runner
        .get_migrations()
        .iter()
        .map(refinery::Migration::version)
        .max();
    if is_up_to_date(connection, known)? {
        return Ok(());
    }
    let Err(error) = runner.run(connection) else {
        return Ok(());
    };
    // Another process may have done it at the same time.
    match is_up_to_date(connection, known)? {
        true => Ok(()),
        // Another process is about to do it, or it is not possible.
        false => Err(crate::wording::not_migrated(ErrorKind::Unavailable, &error)),
    }
}

/// Returns `true` if the tables have the layout of this version of the crate. Tables of a later version are refused.
fn is_up_to_date(connection: &Connection, known: Option<i32>) -> Result<bool, StoreError> {
    let has_any: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'refinery_schema_history')",
        [],
        |row| row.get(0),
    )?;
    if !has_any {
        return Ok(false);
    }
    let found: Option<i32> = connection.query_row(
        "SELECT max(version) FROM refinery_schema_history",
        [],
        |row| row.get(0),
    )?;
    match found.filter(|found| Some(*found) > known) {
        Some(found) => {
            let known = known.unwrap_or(0);
            Err(crate::wording::newer(found, known))
        }
        None => Ok(found == known),
    }
}
