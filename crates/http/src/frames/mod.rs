//! Frames: how the bytes of a stream are cut into lines and events.

mod lines;
mod sse;

pub use lines::Lines;
pub use sse::{Event, Events, FrameTooLong};
