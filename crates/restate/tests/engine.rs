//! Runs that a real Restate server drives, with one PostgreSQL database.
//!
//! `scripts/restate-tests` fetches the server, and runs these tests. `cargo test` alone says that they are skipped.

#![cfg(unix)]
// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

#[path = "engine/kills.rs"]
mod kills;
#[path = "engine/runs.rs"]
mod runs;
#[path = "engine/server.rs"]
mod server;
#[path = "../../runtime/examples/payments/shop.rs"]
#[allow(dead_code, reason = "the examples use more of it")]
mod shop;
