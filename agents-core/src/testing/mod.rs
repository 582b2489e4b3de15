//! A model that says what a test tells it to, and a handle to what it was asked.

mod scripted;

pub use scripted::{Asked, Script, ScriptedModel};
