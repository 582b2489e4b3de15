//! A scripted model for tests, and a handle that inspects the requests it received.

pub(crate) mod oracle;
mod scripted;

pub use scripted::{ReceivedRequest, Script, ScriptedModel};
