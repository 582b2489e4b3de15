//! Final answers.

mod refusals;
mod refused;
mod typed;
mod validators;
