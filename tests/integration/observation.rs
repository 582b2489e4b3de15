//! Views of a run: events, spans, traces, timelines, hooks.

mod call_hooks;
mod durations;
mod events;
pub(crate) mod recovery_steps;
pub(crate) mod spans;
pub(crate) mod timelines;
mod tool_use_hooks;
pub(crate) mod traces;
