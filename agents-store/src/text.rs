//! Streamed text of runs, which is kept for a while and is no part of their journals.

use std::time::Duration;

/// Piece of streamed text that is about to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewText {
    /// Number of the piece, which is greater than those of all earlier pieces of the run.
    pub number: u64,
    /// Text, encoded.
    pub contents: Vec<u8>,
    /// Time for which the piece is kept.
    pub keep: Duration,
}

/// Stored piece of streamed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Number of the piece.
    pub number: u64,
    /// Text, encoded.
    pub contents: Vec<u8>,
}
