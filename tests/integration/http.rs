//! The HTTP tool, against a server on this machine.

mod asked;
mod closed;
mod redirected;
mod server;
