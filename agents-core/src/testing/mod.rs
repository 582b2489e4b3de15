//! Scripted model for tests, and a handle that inspects the requests that the model received.
//!
//! With this feature, every run checks at its end that its facts lead to the state that it is in. Programs that measure
//! runs turn the check off: [`check_runs`].

mod scripted;

pub use crate::checks::check_runs;
pub use scripted::{ReceivedRequest, Script, ScriptedModel};
