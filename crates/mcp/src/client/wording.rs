//! Texts of the client: errors of servers, answers to what servers ask for, and what stands for parts that are no text.

use super::{McpError, McpErrorKind};
use rmcp::model::ErrorData;
use std::{fmt::Display, io, time::Duration};

/// Returns the beginning that all texts about a server have, followed by `what`.
fn about(server: &str, what: impl Display) -> String {
    format!("the MCP server `{server}` {what}")
}

// ---- connections ----

/// Error of a child process that cannot be started; `error` says why.
pub(super) fn not_started(server: &str, program: &str, error: &io::Error) -> McpError {
    unreachable(
        server,
        format!(
            "cannot be started as `{program}`: {error}; check the program, and the folder of `.current_dir(..)`"
        ),
    )
}

pub(super) const NO_STREAMS: &str = "its standard streams are not there";

#[cfg(feature = "http")]
pub(super) fn header_unfit(server: &str, header: &str) -> McpError {
    unreachable(
        server,
        format!(
            "has a header that cannot be sent, `{header}`; check the name and the value in `.header(..)` or `.bearer(..)`"
        ),
    )
}

/// Error of a server with which the handshake failed; `last_lines` is what the function of this name returns, or empty.
pub(super) fn no_handshake(server: &str, error: &impl Display, last_lines: &str) -> McpError {
    unreachable(
        server,
        format!(
            "failed at the handshake: {error}; check that its program or its URL speaks MCP{last_lines}"
        ),
    )
}

pub(super) fn last_lines(lines: &[&str]) -> String {
    match lines {
        [] => String::new(),
        lines => format!("; it wrote last: {}", lines.join(" | ")),
    }
}

/// Error of a connection that was lost; `last_lines` is what the function of this name returns, or empty.
pub(super) fn lost(server: &str, error: &impl Display, last_lines: &str) -> McpError {
    unreachable(
        server,
        format!("was lost: {error}; its next use connects again{last_lines}"),
    )
}

pub(super) fn other_answer(server: &str) -> McpError {
    misspoken(
        server,
        format!("answers with something else than it was asked for; {MEND}"),
    )
}

pub(super) fn lost_soon(server: &str) -> McpError {
    unreachable(
        server,
        "was lost soon after it was connected; look into its log for the cause",
    )
}

pub(super) fn not_ready(server: &str, limit: Duration) -> McpError {
    too_slow(server, "is not ready", limit, "connect_timeout")
}

pub(super) fn no_list(server: &str, limit: Duration) -> McpError {
    too_slow(server, "does not list its tools", limit, "connect_timeout")
}

pub(super) fn no_answer(server: &str, limit: Duration) -> McpError {
    too_slow(server, "does not answer", limit, "timeout")
}

fn too_slow(server: &str, what: &str, limit: Duration, setting: &str) -> McpError {
    unreachable(
        server,
        format!("{what} within {limit:?}; allow more time with `.{setting}(..)`"),
    )
}

/// Returns the error of a use while no connection is tried: the error of the last try, with the time until the next
/// try.
pub(super) fn rests(error: &McpError, wait: Duration) -> McpError {
    let message = format!("{error}; it can be tried again in {wait:.1?}");
    error.clone().saying(message).after(wait)
}

fn unreachable(server: &str, what: impl Display) -> McpError {
    McpError::new(McpErrorKind::Unreachable, about(server, what))
}

// ---- authorization ----

pub(super) fn unauthorized(server: &str) -> McpError {
    unallowed(
        server,
        "wants to know who asks, or allows us too little; set a token with `.bearer(..)`, or set `.oauth(..)` and send a person to `Mcp::authorization_url`",
    )
}

#[cfg(feature = "auth")]
pub(super) fn no_oauth(server: &str) -> McpError {
    unallowed(
        server,
        "has no `.oauth(..)`; set it, so that a person can allow us",
    )
}

#[cfg(feature = "auth")]
pub(super) fn not_begun(server: &str) -> McpError {
    unallowed(
        server,
        "waits for no authorization; call `Mcp::authorization_url` first, in the same process",
    )
}

#[cfg(feature = "auth")]
pub(super) fn not_led_back(server: &str, why: &str) -> McpError {
    unallowed(
        server,
        format!("does not allow us yet: `.visits(..)` did not lead the person back: {why}"),
    )
}

#[cfg(feature = "auth")]
pub(super) fn not_authorized(server: &str, error: &impl Display) -> McpError {
    unallowed(
        server,
        format!(
            "cannot authorize us: {error}; check its `.oauth(..)`, and begin again with `Mcp::authorization_url`"
        ),
    )
}

fn unallowed(server: &str, what: impl Display) -> McpError {
    McpError::new(McpErrorKind::Unauthorized, about(server, what))
}

// ---- lists ----

/// Error of a server whose list is too long; `what` names its entries, in the plural.
pub(super) fn lists_too_many(server: &str, most: usize, what: &str) -> McpError {
    misspoken(
        server,
        format!("lists more than {most} {what}; allow more with `.max_tools(..)` if that is right"),
    )
}

/// Error of a server whose list has no end; `what` names its entries, in the plural.
pub(super) fn lists_in_a_circle(server: &str, what: &str) -> McpError {
    misspoken(
        server,
        format!("lists its {what} in a circle: a page leads to an earlier one; {MEND}"),
    )
}

/// Error of a server whose list has too many pages; `what` names its entries, in the plural.
pub(super) fn lists_on_too_many_pages(server: &str, most: usize, what: &str) -> McpError {
    misspoken(
        server,
        format!("lists its {what} on more than {most} pages; it has to list more on each"),
    )
}

pub(super) fn not_a_list(server: &str) -> McpError {
    misspoken(
        server,
        format!("does not answer `tools/list` with a list of tools; {MEND}"),
    )
}

const MEND: &str = "whoever wrote the server has to mend that";

pub(super) fn no_tool(server: &str, tool: &str) -> McpError {
    changed(
        server,
        format!("does not list `{tool}`; `Mcp::tools` returns what it lists"),
    )
}

pub(super) fn tool_changed(server: &str, tool: &str) -> McpError {
    changed(
        server,
        format!(
            "has changed the description or the schema of `{tool}`; look at it with `Mcp::changed`, admit it with `Mcp::admit`, and run anew"
        ),
    )
}

fn changed(server: &str, what: impl Display) -> McpError {
    McpError::new(McpErrorKind::Changed, about(server, what))
}

fn misspoken(server: &str, what: impl Display) -> McpError {
    McpError::new(McpErrorKind::Protocol, about(server, what))
}

// ---- tools that are left out ----

pub(super) const SAYS_IT_IS_A_RESOURCE: &str = "it says of itself that it is a resource";

pub(super) fn tool_too_large(bytes: usize, most: usize) -> String {
    format!("its description and schemas have {bytes} bytes, and at most {most} are read")
}

/// Reason why a tool is left out: another tool has its name. `own_name` is that other tool's name at the server.
pub(super) fn name_taken(name: &str, own_name: &str) -> String {
    format!("its name for models, `{name}`, is taken by the tool `{own_name}`")
}

// ---- answers of a server ----

/// Error that a server has answered with; `said` is the text of its answer.
pub(super) fn answers_with_error(server: &str, kind: McpErrorKind, said: &str) -> McpError {
    let what = format!("answers with an error: {said}");
    McpError::new(kind, about(server, what))
}

pub(super) fn fails_silently(server: &str) -> McpError {
    let what = "says that the call has failed, and not why; look into its log";
    McpError::new(McpErrorKind::Failed, about(server, what))
}

pub(super) fn unreadable(server: &str, why: &str) -> McpError {
    misspoken(server, cannot_be_read(why))
}

fn cannot_be_read(why: &str) -> String {
    format!("sends what cannot be read: {why}")
}

// ---- requests of a server for a model ----

pub(super) fn no_model(server: &str) -> ErrorData {
    refused(server, "is lent no model; lend it one with `.lends(..)`")
}

pub(super) fn tokens_used_up(server: &str, most: u64) -> ErrorData {
    refused(
        server,
        format!("has used up the {most} tokens of its model; lend it more with `.lends(..)`"),
    )
}

pub(super) fn asks_with_tools(server: &str) -> ErrorData {
    refused(
        server,
        "asks for a model with tools, and is lent one without; ask it without `tools`",
    )
}

pub(super) fn asks_with_other_parts(server: &str) -> ErrorData {
    refused(
        server,
        "asks its model about something that is no text, image or sound; leave that out",
    )
}

pub(super) fn asks_unreadably(server: &str, why: &str) -> ErrorData {
    refused(server, cannot_be_read(why))
}

pub(super) fn model_failed(server: &str, error: &impl Display) -> ErrorData {
    unanswered(server, format!("the model that it is lent failed: {error}"))
}

fn refused(server: &str, what: impl Display) -> ErrorData {
    ErrorData::invalid_request(about(server, what), None)
}

fn unanswered(server: &str, why: impl Display) -> ErrorData {
    ErrorData::internal_error(about(server, format!("gets no answer: {why}")), None)
}

// ---- questions of a server ----

/// Refusal of a server's question whose answer does not follow the schema; `why` says what is wrong with it.
pub(super) fn answer_unfit(server: &str, why: &str) -> ErrorData {
    unanswered(
        server,
        format!("that of `.answers(..)` does not follow the schema: {why}"),
    )
}

pub(super) const NOT_AN_OBJECT: &str = "it is not an object";

// Reasons to decline, for the log.
pub(super) const NOBODY_IS_ASKED: &str = "`.answers(..)` does not say who is asked";
pub(super) const ASKS_FOR_A_VISIT: &str =
    "it asks for a visit to a page, and `.answers(..)` gives values alone";

// ---- parts that are no text ----

pub(super) const UNKNOWN_PART: &str = "a part of an unknown kind";
pub(super) const UNKNOWN_RESOURCE: &str = "a resource of an unknown kind";
pub(super) const UNKNOWN_TYPE: &str = "of unknown type";

pub(super) fn not_base64(kind: &str, error: &impl Display) -> String {
    format!("a part of type {kind} is not Base64: {error}")
}

/// Text in an output that stands for a link to a resource.
pub(super) fn link(name: &str, uri: &str) -> String {
    format!("[resource {name}: {uri}]")
}

/// Text in an output that stands for a file of this many bytes.
pub(super) fn file(what: &str, kind: &str, bytes: usize) -> String {
    format!("[{what}, {kind}, {bytes} bytes]")
}

// ---- knowledge ----

// A digest is made of these texts: other words would be another tool, which has to be admitted anew.

/// Comment in the schema of a tool that was made of a resource, by which such tools are recognised.
pub(super) const READS_A_RESOURCE: &str = "reads a resource of an MCP server";

pub(super) fn reads(name: &str, uri: &str, description: &str) -> String {
    match description {
        "" => format!("Reads {name} ({uri})."),
        description => format!("Reads {name}: {description}"),
    }
}
