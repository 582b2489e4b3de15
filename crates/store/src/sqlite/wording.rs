//! Errors of SQLite, in words. A hint stands behind an error of SQLite itself.

use crate::{ErrorKind, StoreError};
use std::{fmt::Display, path::Path};

pub(super) const LOCKED: &str = "; another process holds the file for too long";
pub(super) const DISK_FULL: &str = "; free some space";
pub(super) const READ_ONLY: &str = "; the file and its folder have to be writable";
pub(super) const NO_FOLDER: &str = "; does its folder exist?";
pub(super) const NO_DATABASE: &str = "; the file is no SQLite database";
pub(super) const CORRUPT: &str = "; restore a backup";

pub(super) fn not_opened(kind: ErrorKind, path: &Path, error: &impl Display) -> StoreError {
    let path = path.display();
    StoreError::new(kind, format!("the store {path} cannot be opened: {error}"))
}

pub(super) fn no_file(path: &Path) -> StoreError {
    let path = path.display();
    StoreError::new(ErrorKind::NotFound, format!("there is no store {path}"))
}

pub(super) fn no_tables(path: &Path) -> StoreError {
    let path = path.display();
    let why =
        format!("there is no store {path}: the file is a database of something else, or empty");
    StoreError::new(ErrorKind::NotFound, why)
}

pub(super) fn thread_ended() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "the thread of the store has ended")
}

pub(super) fn file_gone(path: &Path) -> StoreError {
    let path = path.display();
    let why = format!(
        "the file of the store {path} was removed or replaced while it was open; put it back, and start the process again"
    );
    StoreError::new(ErrorKind::Failed, why)
}
