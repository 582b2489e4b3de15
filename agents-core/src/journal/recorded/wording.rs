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

/// Text of a difference in the offered tools; `tools` says of each tool what is different.
pub(super) fn other_tools(request: usize, tools: &[String]) -> String {
    let which = match tools {
        [] => "their order differs".to_owned(),
        tools => tools.join(", "),
    };
    format!("request {request} offers other tools than were recorded: {which}")
}

pub(super) fn tool_gone(name: &str) -> String {
    format!("`{name}` is gone")
}

pub(super) fn tool_new(name: &str) -> String {
    format!("`{name}` is new")
}

pub(super) fn tool_schema(name: &str) -> String {
    format!("`{name}` has another schema")
}

pub(super) fn tool_described(name: &str) -> String {
    format!("`{name}` has another description")
}

pub(super) fn other_format(request: usize) -> String {
    format!("request {request} asks for another format than was recorded")
}

pub(super) fn request_not_made(request: usize) -> String {
    format!("request {request} of the recording is not made now")
}

pub(super) fn does_not_start(error: &impl Display) -> String {
    format!("the run does not start: {error}")
}

pub(super) fn another_agent(recorded: &str, now: &str) -> String {
    format!("the recorded run is one of agent `{recorded}`, and this agent is `{now}`")
}

pub(super) fn not_executed(tool: &str, args: &str) -> String {
    format!("a call of `{tool}` with `{args}` is executed now, and was not in the recording")
}

pub(super) fn other_arguments(tool: &str, recorded: &str, now: &str) -> String {
    format!("the call of `{tool}` has other arguments: recorded `{recorded}`, now `{now}`")
}

pub(super) fn other_version(tool: &str, recorded: &str, now: &str) -> String {
    format!("the tool `{tool}` has version {now}, and the recorded call is of version {recorded}")
}

pub(super) fn needs_approval(tool: &str) -> String {
    format!("the call of `{tool}` needs approval now, and needed none in the recording")
}

pub(super) fn needs_no_approval(tool: &str) -> String {
    format!("the call of `{tool}` needs no approval now, and was approved in the recording")
}

pub(super) fn work_dropped(tool: &str) -> String {
    format!(
        "the work on the call of `{tool}` was dropped in the recording, and the run waits for it now"
    )
}

pub(super) fn question_dropped(tool: &str) -> String {
    format!(
        "the question about the call of `{tool}` was dropped in the recording before it was decided, and the run waits \
         for a decision now"
    )
}

pub(super) fn request_dropped(request: usize) -> String {
    format!(
        "request {request} was dropped in the recording before its answer, and the run waits for it now"
    )
}

pub(super) fn other_answer(recorded: &str, now: &str) -> String {
    format!("the answer differs from the recording: recorded `{recorded}`, now `{now}`")
}

pub(super) fn fails_otherwise(recorded: &str, now: &str) -> String {
    format!("the run ends with another error: recorded `{recorded}`, now `{now}`")
}

pub(super) fn fails_now(error: &str) -> String {
    format!("the recorded run had an answer, and now it fails: {error}")
}

pub(super) fn answers_now(error: &str) -> String {
    format!("the recorded run failed, and now it has an answer; it was: {error}")
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
