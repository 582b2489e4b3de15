//! The HTTP tool, against a server on this machine.

mod answers;
mod forbidden_requests;
mod redirects;
mod server;
