//! Runs as streams: of events, of the answer's text, of partial answers.

mod events;
mod partials;
mod text;
mod typing;
