//! Models that fail or do not answer.

mod retries;
