//! Bytes -> a [`Reply`], all at once or as they come. Both give the same.

use crate::{
    answer::{Answer, Fault, Sink},
    error::Place,
    salvage,
    transport::{Body, Broken},
};
use agents_core::model::{
    Delta, ModelError, Reply, Request, ToolCall,
    prompted::{Constrained, read_constrained},
};
use std::time::Duration;

/// How long to wait for the end of the body once the server has said that it is done: only a
/// connection that has been read to its end can be used again.
const FAREWELL: Duration = Duration::from_millis(250);

/// The answer, all at once.
pub(crate) async fn whole(
    place: &Place<'_>,
    body: Body,
    request: &Request<'_>,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let read = |bytes: &[u8], broken: Option<Broken>| {
        let mut answer = Answer::default();
        match answer.read(bytes, sink) {
            Err(fault) if broken.is_some() || fault.is_cut() => {
                return Err(place.broke_off(answer.len(), broken.as_ref()));
            }
            Err(fault) => return ended(place, answer, fault, bytes, request),
            Ok(()) => {}
        }
        if answer.is_done() || (broken.is_none() && answer.is_whole()) {
            return Ok(answer.into_reply());
        }
        if answer.spoke() || broken.is_some() || bytes.is_empty() {
            return Err(place.broke_off(answer.len(), broken.as_ref()));
        }
        Err(place.no_message(bytes))
    };
    body.whole(read).await
}

/// The answer as it is written, line by line.
pub(crate) async fn streamed(
    place: &Place<'_>,
    mut body: Body,
    request: &Request<'_>,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let mut answer = Answer::default();
    let mut rest = Vec::new();
    let broken = loop {
        let piece = match body.next().await {
            Ok(Some(piece)) => piece,
            Ok(None) => break None,
            Err(broken) => break Some(broken),
        };
        let piece = piece.as_ref();
        let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') else {
            rest.extend_from_slice(piece);
            continue;
        };
        let (lines, begun) = piece.split_at(end + 1);
        let read = if rest.is_empty() {
            answer
                .read(lines, sink)
                .map_err(|fault| (fault, lines.to_vec()))
        } else {
            rest.extend_from_slice(lines);
            answer
                .read(&rest, sink)
                .map_err(|fault| (fault, rest.clone()))
        };
        if let Err((fault, bytes)) = read {
            return ended(place, answer, fault, &bytes, request);
        }
        rest.clear();
        rest.extend_from_slice(begun);
        if answer.is_done() {
            if body.is_whole() {
                break None;
            }
            body.hurry(FAREWELL);
        }
    };
    // The last line may do without its end.
    if !answer.is_done() && !rest.is_empty() {
        match answer.read(&rest, sink) {
            Err(fault) if broken.is_some() || fault.is_cut() => {
                return Err(place.broke_off(answer.len(), broken.as_ref()));
            }
            Err(fault) => return ended(place, answer, fault, &rest, request),
            Ok(()) => {}
        }
    }
    if answer.is_done() || (broken.is_none() && answer.is_whole()) {
        return Ok(answer.into_reply());
    }
    if !answer.spoke() && broken.is_none() && !rest.is_empty() {
        return Err(place.no_message(&rest));
    }
    Err(place.broke_off(answer.len(), broken.as_ref()))
}

/// Something else came in the place of an answer.
fn ended(
    place: &Place<'_>,
    answer: Answer,
    fault: Fault,
    bytes: &[u8],
    request: &Request<'_>,
) -> Result<Reply, ModelError> {
    if let Fault::Reported(text) = &fault
        && let Some(call) = salvage::call(text, request)
    {
        return Ok(salvaged(answer, call));
    }
    Err(place.fault(fault, bytes))
}

/// What was said before the server stumbled over a call, and that call.
pub(crate) fn salvaged(answer: Answer, call: ToolCall) -> Reply {
    let mut reply = answer.into_reply();
    reply.calls.push(call);
    reply
}

/// What a model that was held to the grammar meant.
pub(crate) fn unwrapped(mut reply: Reply, sink: Sink<'_>) -> Reply {
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
