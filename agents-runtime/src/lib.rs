//! Durable runs.
