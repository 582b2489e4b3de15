//! Final answers.

mod refusals;
mod refused;
mod taken;
mod typed;
mod validators;
