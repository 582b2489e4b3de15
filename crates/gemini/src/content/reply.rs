//! Builds one [`Reply`] from a document, or from the events of a stream.

use super::{
    PROVIDER, arguments,
    order::{Place, Stretch},
    wire::{Call, Candidate, Chunk, Part, Usage},
};
use agents_core::model::{
    Delta, DistinctCalls, FinishReason, ModelErrorKind, Reply, Thinking, ToolCall,
};
use agents_http::{Event, Format, Problem, Progress, Sink, arguments_text};
use serde_json::{Map, Value, value::RawValue};

/// A reply in the format of `generateContent` that is being read.
///
/// ```
/// use agents_gemini::ContentReply;
/// use agents_http::{Decoder, Ending};
///
/// let mut decoder = Decoder::new(ContentReply::default());
/// let body = r#"{"candidates": [{"content": {"parts": [{"text": "Oslo"}]}, "finishReason": "STOP"}]}"#;
/// decoder.on(body.as_bytes(), None)?;
/// decoder.end(Ending::Closed, None)?;
/// assert_eq!(decoder.into_reply().content, "Oslo");
/// # Ok::<(), agents_http::Problem>(())
/// ```
#[derive(Default)]
pub struct ContentReply {
    content: String,
    thoughts: String,
    calls: DistinctCalls,
    /// Call whose arguments are still arriving value by value.
    open: Option<Open>,
    order: Vec<Place>,
    finish: Option<FinishReason>,
    refusal: Option<String>,
    usage: Option<Usage>,
    is_document: bool,
}

struct Open {
    call: ToolCall,
    arguments: Value,
    place: Place,
}

impl Format for ContentReply {
    fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) -> Result<(), Problem> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        self.read(data.as_bytes(), sink)
    }

    /// Reads a reply in one document, or a stream whose events are the items of a list.
    fn document(&mut self, json: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
        if json.first() == Some(&b'[') {
            let chunks: Vec<&RawValue> =
                serde_json::from_slice(json).map_err(|error| Problem::json(&error, json))?;
            for chunk in chunks {
                self.read(chunk.get().as_bytes(), sink)?;
            }
        } else {
            self.read(json, sink)?;
        }
        if self.progress() == Progress::Nothing {
            return Err(Problem::malformed("it has no `candidates`", json));
        }
        if self.finish.is_none() && json.first() == Some(&b'[') {
            return Err(Problem::Unfinished);
        }
        self.is_document = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        match self.finish {
            _ if self.is_document => Progress::Ended,
            // No event ends the stream.
            Some(_) => Progress::Complete,
            None if self.order.is_empty() && self.open.is_none() => Progress::Nothing,
            None => Progress::Begun,
        }
    }

    fn into_reply(mut self) -> Reply {
        if self.is_document || self.finish.is_some() {
            self.close();
        }
        let calls = self.calls.into_calls();
        let finish = match self.finish.unwrap_or_default() {
            FinishReason::Stop if !calls.is_empty() => FinishReason::ToolCalls,
            finish => finish,
        };
        Reply {
            content: self.content,
            thinking: with_order(self.thoughts, &self.order),
            calls,
            refusal: self.refusal,
            finish,
            usage: self.usage.map_or_else(
                || agents_core::model::Usage {
                    requests: 1,
                    ..Default::default()
                },
                |usage| usage.read(),
            ),
            ..Reply::default()
        }
    }
}

impl ContentReply {
    fn read(&mut self, json: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
        let chunk: Chunk<'_> =
            serde_json::from_slice(json).map_err(|error| Problem::json(&error, json))?;
        let is_part = chunk.candidates.is_some()
            || chunk.prompt_feedback.is_some()
            || chunk.usage_metadata.is_some();
        if (!is_part || chunk.error.is_some())
            && let Some(problem) = Problem::in_place_of_reply(json)
        {
            return Err(problem);
        }
        if let Some(usage) = chunk.usage_metadata {
            self.usage = Usage::of(usage).map(|usage| usage.or(self.usage));
        }
        for candidate in chunk.candidates.into_iter().flatten() {
            // Only one reply was asked for.
            if candidate.index.unwrap_or_default() == 0 {
                self.candidate(candidate, sink)?;
            }
        }
        let blocked = chunk.prompt_feedback.and_then(|feedback| {
            let reason = feedback.block_reason?;
            Some(match feedback.block_reason_message {
                Some(message) => format!("the prompt was blocked ({reason}: {message})"),
                None => format!("the prompt was blocked ({reason})"),
            })
        });
        if let Some(blocked) = blocked {
            self.finish = Some(FinishReason::Filter);
            self.refusal = Some(blocked);
        }
        Ok(())
    }

    fn candidate(&mut self, candidate: Candidate<'_>, sink: Sink<'_>) -> Result<(), Problem> {
        let parts = candidate.content.and_then(|content| content.parts);
        for json in parts.into_iter().flatten() {
            self.part(json, sink)?;
        }
        let Some(reason) = candidate.finish_reason else {
            return Ok(());
        };
        self.finish = Some(match &*reason {
            "FINISH_REASON_UNSPECIFIED" => return Ok(()),
            "STOP" => FinishReason::Stop,
            "MAX_TOKENS" => FinishReason::Length,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => {
                self.refusal = Some(match &candidate.finish_message {
                    Some(message) => format!("{reason}: {message}"),
                    None => reason,
                });
                FinishReason::Filter
            }
            // The model made a call that the server cannot read. It does not say which.
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE" => {
                let said = candidate.finish_message.unwrap_or_default();
                return Err(Problem::Reported {
                    kind: ModelErrorKind::Interrupted,
                    message: format!("the model's reply cannot be read ({reason}) {said}")
                        .trim_end()
                        .to_owned(),
                });
            }
            _ => FinishReason::Other(reason),
        });
        Ok(())
    }

    fn part(&mut self, json: &RawValue, sink: Sink<'_>) -> Result<(), Problem> {
        let part: Part<'_> = serde_json::from_str(json.get())
            .map_err(|error| Problem::malformed(error, json.get().as_bytes()))?;
        let Part {
            text,
            thought,
            thought_signature: mut signature,
            function_call,
        } = part;
        if let Some(text) = &text {
            // The signature of a part with a call is that of the call.
            let signature = signature.take_if(|_| function_call.is_none());
            if thought == Some(true) {
                self.thoughts.push_str(text);
                tell(sink, Delta::Thinking(text));
                stretch(&mut self.order, Place::Thought, text, signature);
            } else {
                self.content.push_str(text);
                tell(sink, Delta::Text(text));
                stretch(&mut self.order, Place::Text, text, signature);
            }
        }
        match function_call {
            Some(call) => return self.call(call, signature),
            None if text.is_some() => {}
            // An image that the model made would be sent back with every request.
            None if json.get().len() > MAX_PART => {}
            None => self.order.push(Place::Part(json.to_owned())),
        }
        Ok(())
    }

    fn call(&mut self, call: Call<'_>, signature: Option<String>) -> Result<(), Problem> {
        if let Some(name) = call.name {
            self.close();
            let id = call.id.unwrap_or_default();
            self.open = Some(Open {
                place: Place::Call {
                    id: !id.is_empty(),
                    signature,
                },
                call: ToolCall {
                    id,
                    name,
                    arguments: arguments_text(call.args).into_owned(),
                },
                arguments: Value::Object(Map::new()),
            });
        }
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        for piece in call.partial_args.into_iter().flatten() {
            let path = piece.json_path.clone();
            if !arguments::set(&mut open.arguments, piece) {
                let why = "an argument has a path that leads nowhere";
                return Err(Problem::malformed(why, path.as_bytes()));
            }
        }
        if call.will_continue != Some(true) {
            self.close();
        }
        Ok(())
    }

    /// Ends the call whose arguments were arriving, and adds it to the calls of the reply.
    fn close(&mut self) {
        let Some(Open {
            mut call,
            arguments,
            place,
        }) = self.open.take()
        else {
            return;
        };
        if call.arguments.is_empty() {
            call.arguments = arguments.to_string();
        }
        if self.calls.add(call) {
            self.order.push(place);
        }
    }
}

/// Maximum size in bytes of a part of a reply that is neither text nor a call. Parts up to this size are sent back with
/// later requests; a larger part, such as an image, is left out.
const MAX_PART: usize = 256 << 10;

fn tell(sink: Sink<'_>, delta: Delta<'_>) {
    let (Delta::Text(piece) | Delta::Thinking(piece)) = delta;
    if let Some(sink) = sink.filter(|_| !piece.is_empty()) {
        sink(delta);
    }
}

/// Adds a stretch to the order of the reply. It continues the one before it, unless one of them has a thought
/// signature.
fn stretch(
    order: &mut Vec<Place>,
    place: fn(Stretch) -> Place,
    text: &str,
    signature: Option<String>,
) {
    if text.is_empty() && signature.is_none() {
        return;
    }
    let new = place(Stretch {
        length: text.len(),
        signature,
    });
    match (order.last_mut(), &new) {
        (Some(Place::Text(held)), Place::Text(new))
        | (Some(Place::Thought(held)), Place::Thought(new))
            if held.signature.is_none() && new.signature.is_none() =>
        {
            held.length += new.length;
        }
        _ => order.push(new),
    }
}

/// Returns the reasoning of a reply with the order of its parts, to be sent back later. The order is left out if the
/// message alone leads to the same parts.
fn with_order(text: String, order: &[Place]) -> Option<Thinking> {
    let says_more = |place: &Place| match place {
        Place::Text(stretch) | Place::Thought(stretch) => stretch.signature.is_some(),
        Place::Call { id, signature } => *id || signature.is_some(),
        Place::Part(_) => true,
    };
    let thinking = Thinking::from(text);
    let thinking = match order.iter().any(says_more) {
        // Numbers, texts and JSON always serialise.
        true => thinking.with_opaque(PROVIDER, serde_json::to_string(order).unwrap_or_default()),
        false => thinking,
    };
    (!thinking.is_empty()).then_some(thinking)
}
