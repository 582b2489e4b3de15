//! Property tests of calls and of the executor.

mod arms;
mod executor;
