//! What the tests of clients need: a server that sends what a test says, and recorded replies.

pub mod fixtures;
mod server;

pub use server::{Answer, Seen, Server, Step};
