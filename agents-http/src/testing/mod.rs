//! Equipment for tests of clients: a server that sends what a test says, one that plays faults, and recorded replies.

mod faults;
pub mod fixtures;
mod server;

pub use faults::{Attempt, Fault, Faults};
pub use server::{Answer, Seen, Server, Step};
