//! Errors and failures of notifications, in words.

use crate::error::{RuntimeError, RuntimeErrorKind};
use std::{fmt::Display, time::Duration};

pub(super) fn two_subscribers(name: &str) -> String {
    format!(
        "the runtime has two subscribers of the name `{name}`: the store knows by the name what each was told of"
    )
}

pub(super) fn not_stored(name: &str, why: &str) -> RuntimeError {
    let why = format!("the notification `{name}` cannot be stored as JSON: {why}");
    RuntimeError::new(RuntimeErrorKind::Invalid, why)
}

pub(super) fn misfit(name: &str, error: &impl Display) -> String {
    format!(
        "the stored notification does not fit the type of `{name}`: {error}; give its new fields a serde default, and replay the letter"
    )
}

pub(super) fn other_name(name: &str, own: &str) -> String {
    format!("the subscriber takes `{own}`, and the letter has a `{name}`")
}

pub(super) fn panicked(said: &str) -> String {
    format!("the subscriber panicked: {said}")
}

pub(super) const NO_TEXT: &str = "no text";

pub(super) fn too_slow(limit: Duration) -> String {
    format!("the subscriber has not returned within {limit:?}")
}

pub(super) const NOT_BACK: &str =
    "the worker of this try has not come back: its process was killed, or stood still";
