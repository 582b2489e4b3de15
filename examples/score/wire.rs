//! Decoding of a recorded reply, shared by the examples that do it.

use agents::{
    anthropic::MessagesReply,
    gemini::ContentReply,
    model::FinishReason,
    openai::{ChatReply, ResponsesReply},
};
use agents_http::{Decoder, Ending, Format, Framing, Problem, Progress};
use serde_json::{Value, json};

/// Way in which a body reaches the decoder.
#[derive(Clone, Copy, Default)]
pub(crate) struct Delivery {
    /// Framing of the body; `None` to tell it from the body.
    pub(crate) framing: Option<Framing>,
    /// Number of bytes that arrive at a time; `None` for the whole body at once.
    pub(crate) chunk: Option<usize>,
    /// Number of bytes after which the connection breaks.
    pub(crate) stop: Option<usize>,
}

/// Decodes a body in the format of this name; `None` if there is no such format.
pub(crate) fn decoded(format: &str, body: &[u8], delivery: Delivery) -> Option<Value> {
    Some(match format {
        "openai-chat" => in_format(ChatReply::default(), body, delivery),
        "openai-responses" => in_format(ResponsesReply::default(), body, delivery),
        "anthropic" => in_format(MessagesReply::default(), body, delivery),
        "gemini" => in_format(ContentReply::default(), body, delivery),
        _ => return None,
    })
}

fn in_format(format: impl Format, body: &[u8], delivery: Delivery) -> Value {
    let mut decoder = match delivery.framing {
        Some(framing) => Decoder::framed(format, framing),
        None => Decoder::new(format),
    };
    let stop = delivery.stop.unwrap_or(body.len()).min(body.len());
    let ending = match stop < body.len() {
        true => Ending::BrokeOff,
        false => Ending::Closed,
    };
    let mut chunks = body[..stop].chunks(delivery.chunk.unwrap_or(usize::MAX));
    let error = chunks
        .try_for_each(|chunk| decoder.on(chunk, None))
        .and_then(|()| decoder.end(ending, None))
        .err();
    line(decoder, error)
}

fn line(decoder: Decoder<impl Format>, error: Option<Problem>) -> Value {
    let is_complete = decoder.progress() >= Progress::Complete;
    let reply = decoder.into_reply();
    let usage = reply.usage;
    // The contract has no word for other reasons.
    let is_other = matches!(reply.finish, FinishReason::Other(_));
    let calls = reply.calls.iter();
    json!({
        "text": reply.content,
        "calls": calls
            .map(|call| json!({ "name": call.name, "arguments": call.arguments }))
            .collect::<Vec<_>>(),
        "finish": (is_complete && !is_other).then_some(&reply.finish),
        "usage": (usage.tokens() > 0)
            .then(|| json!({ "input": usage.input_tokens, "output": usage.output_tokens })),
        "error": error.map(|error| error.to_string()),
    })
}
