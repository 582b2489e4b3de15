//! Equipment for tests of clients: a server that sends what a test says, one that plays faults, recorded replies, the
//! requests that tests send, and the promises that every client keeps.

mod credentials;
mod faults;
mod fields;
pub mod fixtures;
mod identity;
mod raw;
mod requests;
mod schemas;
mod server;
mod streaming;

pub use credentials::{EARLIER_KEY, check_credentials};
pub use faults::{Attempt, Fault, Faults};
pub use fields::check_fields;
pub use identity::{Paid, check_identity, pays};
pub use raw::{Listener, check_raw_replies};
pub use requests::{ask, bodies, call, kept, listen, result, said, system, tools, user};
pub use schemas::check_schemas;
pub use server::{Answer, Seen, Server, Step};
pub use streaming::check_streaming;
