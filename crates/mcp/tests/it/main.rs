//! Tests of the client with real processes, and of the server with a real client.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod agents_with_servers;
#[cfg(feature = "auth")]
mod authorization;
#[cfg(feature = "http")]
mod both_sides;
mod changes;
mod our_server;
mod peer;
mod trouble;
