//! Final answers.

mod refused;
mod typed;
