//! The thread that owns a connection. Work that comes while a transaction is under way is done in the next one together,
//! so that many runs share the wait for the disk.

use super::wording;
use crate::{ErrorKind, StoreError};
use rusqlite::Connection;
use std::{sync::mpsc, thread};
use tokio::sync::oneshot;

/// Maximum number of jobs that the thread does in one transaction.
const MOST: usize = 256;

/// Thread that has a connection, by the channel to it. The thread ends when the last clone of the channel is dropped.
#[derive(Clone)]
pub(super) struct Thread(mpsc::Sender<Job>);

/// Job for the thread: a function that does its work with the connection. If no transaction could be begun, the
/// function gets the error.
type Job = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Done + Send>;

/// Work that was done in a transaction, and is not committed yet.
struct Done {
    failed: Option<StoreError>,
    /// Function that gives the result to the caller. It gets the error if the transaction could not be committed.
    tell: Box<dyn FnOnce(Option<StoreError>) + Send>,
}

impl Thread {
    /// Starts a thread that does its jobs in transactions that write.
    pub(super) fn of_writer(connection: Connection) -> std::io::Result<Self> {
        Self::start("agents-store", connection, |connection, jobs| {
            transaction(connection, jobs);
        })
    }

    /// Starts a thread whose jobs only read, without a transaction.
    pub(super) fn of_reader(connection: Connection) -> std::io::Result<Self> {
        Self::start("agents-store-reads", connection, |connection, jobs| {
            for job in jobs {
                (job(Ok(connection)).tell)(None);
            }
        })
    }

    fn start(
        name: &str,
        connection: Connection,
        work: fn(&Connection, Vec<Job>),
    ) -> std::io::Result<Self> {
        let (to, jobs) = mpsc::channel::<Job>();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while let Ok(first) = jobs.recv() {
                    let more = jobs.try_iter().take(MOST - 1);
                    work(&connection, std::iter::once(first).chain(more).collect());
                }
            })?;
        Ok(Thread(to))
    }

    /// Has the thread do this work, and returns its result when the result is durable.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (to, result) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let result = connection.and_then(work);
            let failed = result.as_ref().err().cloned();
            let tell = Box::new(move |error: Option<StoreError>| {
                // Whoever waited may be gone.
                let _ = to.send(match error {
                    Some(error) => Err(error),
                    None => result,
                });
            });
            Done { failed, tell }
        });
        let ended = || wording::thread_ended();
        self.0.send(job).map_err(|_| ended())?;
        result.await.unwrap_or_else(|_| Err(ended()))
    }
}

/// Does the jobs in one transaction. A job that fails is rolled back alone, and the other jobs stay.
fn transaction(connection: &Connection, jobs: Vec<Job>) {
    let mut done: Vec<Done> = Vec::with_capacity(jobs.len());
    let begun = connection.execute_batch("BEGIN IMMEDIATE");
    let mut broken = begun.err().map(StoreError::from);
    for job in jobs {
        if let Some(why) = &broken {
            done.push(job(Err(why.clone())));
            continue;
        }
        broken = connection
            .execute_batch("SAVEPOINT job")
            .err()
            .map(StoreError::from);
        let one = job(Ok(connection));
        let end = match one.failed {
            None => "RELEASE job",
            Some(_) => "ROLLBACK TO job; RELEASE job",
        };
        // A full disk, for one, has ended the whole transaction.
        let ended = match connection.is_autocommit() {
            true => one.failed.clone(),
            false => connection.execute_batch(end).err().map(StoreError::from),
        };
        broken = broken.or(ended);
        done.push(one);
    }
    if broken.is_none() {
        broken = connection
            .execute_batch("COMMIT")
            .err()
            .map(StoreError::from);
    }
    if broken.is_some() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    for one in done {
        (one.tell)(broken.clone());
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ffi::ErrorCode;
        let (kind, hint) = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (ErrorKind::Unavailable, wording::LOCKED)
            }
            Some(ErrorCode::DiskFull) => (ErrorKind::Unavailable, wording::DISK_FULL),
            Some(ErrorCode::ReadOnly) => (ErrorKind::Failed, wording::READ_ONLY),
            Some(ErrorCode::CannotOpen) => (ErrorKind::Failed, wording::NO_FOLDER),
            Some(ErrorCode::NotADatabase) => (ErrorKind::Failed, wording::NO_DATABASE),
            Some(ErrorCode::DatabaseCorrupt) => (ErrorKind::Failed, wording::CORRUPT),
            Some(ErrorCode::SystemIoFailure) => (ErrorKind::Unavailable, ""),
            _ => (ErrorKind::Failed, ""),
        };
        StoreError::new(kind, format!("SQLite: {error}{hint}"))
    }
}
