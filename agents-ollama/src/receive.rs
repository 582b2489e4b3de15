//! Reads a [`Reply`] from a body, in one document or as a stream. Both give the same reply.

use crate::{
    answer::{Answer, AnswerError, Sink},
    error::ErrorContext,
    salvage,
};
use agents_core::model::{
    Delta, ModelError, Reply, Request, ToolCall,
    prompted::{Constrained, read_constrained},
};
use agents_http::{Body, Lines, TransportError};
use std::time::Duration;

/// Time limit for the end of the body after `"done": true`, whatever arrives until then. Only a connection that was read
/// to its end can be used again.
const END_OF_BODY_TIMEOUT: Duration = Duration::from_millis(250);

/// Reads the answer to a chat request that comes in one document.
pub(crate) async fn complete(
    context: &ErrorContext<'_>,
    body: Body,
    request: &Request<'_>,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let read = |bytes: &[u8], failure: Option<TransportError>| {
        let mut answer = Answer::default();
        match answer.read(bytes, sink) {
            Err(error) if failure.is_some() || error.is_truncated() => {
                return Err(context.truncated(answer.len(), failure.as_ref()));
            }
            Err(error) => return call_or_error(context, answer, error, bytes, request),
            Ok(()) => {}
        }
        if answer.is_done() || (failure.is_none() && answer.is_complete()) {
            return Ok(answer.into_reply());
        }
        if answer.has_message() || failure.is_some() || bytes.is_empty() {
            return Err(context.truncated(answer.len(), failure.as_ref()));
        }
        Err(context.no_message(bytes))
    };
    body.read_all(read).await
}

/// Reads the answer to a chat request as a stream of lines, and passes its fragments to the sink.
pub(crate) async fn streamed(
    context: &ErrorContext<'_>,
    mut body: Body,
    request: &Request<'_>,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let mut answer = Answer::default();
    let mut lines = Lines::default();
    let failure = loop {
        let piece = match body.next().await {
            Ok(Some(piece)) => piece,
            Ok(None) => break None,
            Err(failure) => break Some(failure),
        };
        let complete = lines.push(&piece);
        if let Err(error) = answer.read(complete, sink) {
            return call_or_error(context, answer, error, complete, request);
        }
        if answer.is_done() {
            if body.is_complete() {
                break None;
            }
            body.end_within(END_OF_BODY_TIMEOUT);
        }
    };
    // The last line may lack its line feed.
    let rest = lines.rest();
    if !answer.is_done() && !rest.is_empty() {
        match answer.read(rest, sink) {
            Err(error) if failure.is_some() || error.is_truncated() => {
                return Err(context.truncated(answer.len(), failure.as_ref()));
            }
            Err(error) => return call_or_error(context, answer, error, rest, request),
            Ok(()) => {}
        }
    }
    if answer.is_done() || (failure.is_none() && answer.is_complete()) {
        return Ok(answer.into_reply());
    }
    if !answer.has_message() && failure.is_none() && !rest.is_empty() {
        return Err(context.no_message(rest));
    }
    Err(context.truncated(answer.len(), failure.as_ref()))
}

/// Returns the error for an invalid answer, or the call of a tool that the server's error message quotes.
fn call_or_error(
    context: &ErrorContext<'_>,
    answer: Answer,
    error: AnswerError,
    bytes: &[u8],
    request: &Request<'_>,
) -> Result<Reply, ModelError> {
    if let AnswerError::Reported(text) = &error
        && let Some(call) = salvage::call(text, request)
    {
        return Ok(with_call(answer, call));
    }
    Err(context.invalid_answer(error, bytes))
}

/// Converts an incomplete answer into a reply, and adds the call that the server could not parse but has quoted.
pub(crate) fn with_call(answer: Answer, call: ToolCall) -> Reply {
    let mut reply = answer.into_reply();
    reply.calls.push(call);
    reply
}

/// Converts the JSON that a model wrote in constrained mode into the call or the answer that it stands for.
pub(crate) fn unwrap_constrained(mut reply: Reply, sink: Sink<'_>) -> Reply {
    match read_constrained(&reply.content) {
        Some(Constrained::Call(call)) => {
            reply.content.clear();
            reply.calls.push(call);
        }
        Some(Constrained::Answer(text)) => reply.content = text,
        None => {}
    }
    if let (Some(sink), false) = (sink, reply.content.is_empty()) {
        sink(Delta::Text(&reply.content));
    }
    reply
}
