//! Streamed text of runs, which is kept for a while and is no part of their journals.

use std::time::Duration;

/// Text that models have written and that is about to be stored, as one row that expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewText {
    /// Number of the row, which is greater than the numbers of all earlier rows of the run.
    pub number: u64,
    /// Streamed text of the row, encoded and encrypted.
    pub contents: Vec<u8>,
    /// Time for which the store keeps the row of text.
    pub keep: Duration,
}

/// Text that models have written, as one stored row that expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Number of the row, which is greater than the numbers of all earlier rows of the run.
    pub number: u64,
    /// Streamed text of the row, encoded and encrypted.
    pub contents: Vec<u8>,
}
