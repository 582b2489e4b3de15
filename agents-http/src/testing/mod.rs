//! Equipment for tests of clients: a server that sends what a test says, one that plays faults, recorded replies, and the
//! promises of credentials.

mod credentials;
mod faults;
pub mod fixtures;
mod server;

pub use credentials::{EARLIER_KEY, check_credentials};
pub use faults::{Attempt, Fault, Faults};
pub use server::{Answer, Seen, Server, Step};
