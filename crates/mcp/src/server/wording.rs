//! Texts of the server: answers to hosts, errors of what a host is asked for, and what its person and its model are told.

use super::HostError;
use agents_core::model::{ModelError, ModelErrorKind};
use rmcp::{ErrorData, service::ServiceError};
use std::fmt::Display;

// ---- requests of a host ----

pub(super) fn no_tool(name: &str) -> ErrorData {
    let why = offers_no("tool", name, "`tools/list`");
    ErrorData::invalid_params(why, None)
}

pub(super) fn no_prompt(name: &str) -> ErrorData {
    let why = offers_no("prompt", name, "`prompts/list`");
    ErrorData::invalid_params(why, None)
}

pub(super) fn no_resource(uri: &str) -> ErrorData {
    let lists = "`resources/list` and `resources/templates/list`";
    ErrorData::resource_not_found(offers_no("resource", uri, lists), None)
}

/// Error of a request for something that the server does not have; `lists` are the requests that say what it has.
fn offers_no(kind: &str, name: &str, lists: &str) -> String {
    format!("this server has no {kind} `{name}`; ask it which it has with {lists}")
}

pub(super) fn resource_unreadable(uri: &str, why: &str) -> ErrorData {
    ErrorData::internal_error(format!("the resource `{uri}` cannot be read: {why}"), None)
}

pub(super) fn needs_argument(prompt: &str, argument: &str) -> ErrorData {
    let why = format!("the prompt `{prompt}` needs the argument `{argument}`; send it");
    ErrorData::invalid_params(why, None)
}

// ---- results of calls ----

pub(super) const CALL_WITHOUT_RESULT: &str = "the call has neither an output nor an error";
pub(super) const CALL_NOT_MADE: &str = "the run has ended before the call was made";

// ---- progress ----

pub(super) fn begins(agent: &str) -> String {
    format!("{agent} begins")
}

pub(super) fn turn(agent: &str, turn: impl Display) -> String {
    format!("{agent}, turn {turn}")
}

pub(super) fn calls(agent: &str, tool: &str) -> String {
    format!("{agent} calls {tool}")
}

// ---- approvals ----

/// Answer to a call that was not run, since it needs approval. `effect` is what the call does, if the tool says so;
/// `place` is where calls can be approved.
pub(super) fn needs_approval(effect: Option<&str>, place: Option<&str>) -> String {
    let effect = effect.map_or_else(String::new, |effect| format!(" ({effect})"));
    let way = match place {
        Some(place) => format!("; ask for it at {place}"),
        None => ", and this server asks nobody; whoever runs it can set an approver".to_owned(),
    };
    format!("this call needs a person's approval{effect}{way}")
}

pub(super) const NOT_ALLOWED: &str = "the person at the host did not allow it";

/// Question to the person at a host whether a call may run. `effect` is what the call does, if the tool says so.
pub(super) fn allow(tool: &str, effect: Option<&str>, args: &str) -> String {
    match effect {
        Some(effect) => format!("Allow `{tool}`, which {effect}?"),
        None => format!("Allow `{tool}` with {args}?"),
    }
}

/// Title of the box that a person ticks to allow a call.
pub(super) const ALLOW: &str = "Allow this call";

// ---- the person at a host ----

pub(super) fn asks_nobody() -> HostError {
    HostError::new(
        "the host does not ask people (it offers no elicitation); go on without an answer, or use another host",
    )
}

pub(super) fn schema_unfit(error: &impl Display) -> HostError {
    HostError::new(format!(
        "a host cannot ask for this schema: {error}; ask for an object whose properties are strings, numbers, booleans or choices"
    ))
}

pub(super) fn no_answer(error: &impl Display) -> HostError {
    HostError::new(format!("the host did not answer: {error}"))
}

pub(super) fn other_answer() -> HostError {
    HostError::new(
        "the host answered, but not the question; whoever wrote the host has to mend that",
    )
}

// ---- models ----

pub(super) fn no_model() -> ModelError {
    refused(
        "this agent has no model; give it one, or set one for the server with `.model(..)` or `.host_model()`",
    )
}

pub(super) fn no_host() -> ModelError {
    refused(
        "no call of a host is at work here, so there is no model of a host; give the agent a model",
    )
}

pub(super) fn lends_nothing() -> ModelError {
    refused("the host lends no model (it offers no sampling); give the agent a model")
}

pub(super) fn lends_without_tools() -> ModelError {
    refused("the host's model cannot call tools; give the agent a model, or no tools")
}

/// Error of an agent that the host's model drives; `error` is that of the request to the host.
pub(super) fn model_failed(error: ServiceError) -> ModelError {
    let (kind, why) = match error {
        ServiceError::McpError(said) => (
            ModelErrorKind::Refused,
            format!("the host's model was refused: {}", said.message),
        ),
        ServiceError::Timeout { .. } => (
            ModelErrorKind::TimedOut,
            "the host's model did not answer in time".to_owned(),
        ),
        error => (
            ModelErrorKind::Interrupted,
            format!("the host's model was lost: {error}"),
        ),
    };
    ModelError::new(kind, why)
}

fn refused(why: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Refused, why)
}

/// Sentence of the system prompt that asks for an answer that follows a schema.
pub(super) fn answer_with(schema: &impl Display) -> String {
    format!("Answer with JSON alone, which follows this schema:\n{schema}")
}
