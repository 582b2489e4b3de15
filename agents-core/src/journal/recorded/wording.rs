//! Texts about recorded runs.

use super::RecordedCall;
use std::fmt::Display;

pub(super) const NO_RUN: &str = "the journal holds no run";

pub(super) fn entry_unreadable(seq: u64, error: &impl Display) -> String {
    format!("entry {seq} cannot be read: {error}")
}

// ---- differences ----

pub(super) const NO_MORE_REPLIES: &str =
    "the recording has no more replies; this request was not made when it was recorded";
pub(super) const ENDED_UNANSWERED: &str = "the recorded run ended before this request was answered";

pub(super) fn other_message(request: usize, message: usize, recorded: &str, now: &str) -> String {
    format!(
        "request {request} differs from the recording in message {message}: recorded `{recorded}`, now `{now}`"
    )
}

pub(super) fn message_missing(request: usize, message: usize) -> String {
    format!("request {request} is shorter than the recorded one: message {message} is missing")
}

pub(super) fn message_added(request: usize, message: usize, now: &str) -> String {
    format!(
        "request {request} is longer than the recorded one: message {message} `{now}` was not there"
    )
}

pub(super) fn other_tools(request: usize) -> String {
    format!("request {request} offers other tools than were recorded")
}

pub(super) fn other_format(request: usize) -> String {
    format!("request {request} asks for another format than was recorded")
}

// ---- what-if ----

pub(super) fn never_executed(call: &RecordedCall) -> String {
    format!("the call {call} was never executed, so that it has no result to change")
}

pub(super) fn no_arm_asked(call: &RecordedCall) -> String {
    format!("no arm was asked about the call {call}, so that it has no decision to change")
}

pub(super) fn output_not_json(error: &impl Display) -> String {
    format!("the output cannot be written as JSON: {error}")
}

/// Text of the error of a call that is not recorded; `calls` is the number of calls in the recording.
pub(super) fn no_call(call: &RecordedCall, calls: usize) -> String {
    format!("the recording has no call {call}; it has {calls}")
}

pub(super) fn change_follows(call: &RecordedCall) -> String {
    format!(
        "the call {call} comes after an earlier change, which may have changed it; change the earlier one alone"
    )
}
