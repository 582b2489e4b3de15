//! Builds one [`Reply`] from a document, or from the events of a stream.

use super::{
    PROVIDER,
    order::Place,
    wire::{self, Delta as Piece, Event as Wire, Message, StopDetails, Text, Usage},
};
use agents_core::model::{Delta, DistinctCalls, FinishReason, Reply, Thinking, ToolCall};
use agents_http::{Event, Format, Problem, Progress, Sink, arguments_text};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

/// A reply in the format of the Messages API that is being read.
///
/// ```
/// use agents_anthropic::MessagesReply;
/// use agents_http::{Decoder, Ending};
///
/// let mut decoder = Decoder::new(MessagesReply::default());
/// decoder.on(br#"{"type": "message", "content": [{"type": "text", "text": "Oslo"}], "stop_reason": "end_turn"}"#, None)?;
/// decoder.end(Ending::Closed, None)?;
/// assert_eq!(decoder.into_reply().content, "Oslo");
/// # Ok::<(), agents_http::Problem>(())
/// ```
#[derive(Default)]
pub struct MessagesReply {
    blocks: Vec<Block>,
    finish: Option<FinishReason>,
    refusal: Option<String>,
    /// Tokens of the reply, as the server counts them at the beginning of a stream.
    usage_at_start: Option<Usage>,
    usage: Option<Usage>,
    is_ended: bool,
}

/// Block of the reply's content, which is still arriving.
struct Block {
    index: Option<u64>,
    content: Content,
    is_ended: bool,
}

enum Content {
    Text {
        text: String,
        /// Citations of the text that go back to the server.
        citations: Vec<Box<RawValue>>,
    },
    Thinking {
        text: String,
        signature: Option<String>,
    },
    Call {
        call: ToolCall,
        /// Arguments that came with the beginning of the call, as JSON; they apply if no fragments follow.
        input: String,
    },
    /// Block that is neither text nor call nor thinking; it goes back to the server as it came.
    Other {
        json: Box<RawValue>,
        input: String,
        summary: Option<String>,
    },
}

impl Block {
    /// Returns `true` if the block is the beginning of this call, and nothing more.
    fn is_begun(&self, index: Option<u64>, begun: &ToolCall) -> bool {
        let is_it = |call: &ToolCall| call.id == begun.id && call.arguments.is_empty();
        let is_call = matches!(&self.content, Content::Call { call, .. } if is_it(call));
        is_call && self.index == index && !self.is_ended && !begun.id.is_empty()
    }
}

impl Format for MessagesReply {
    fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) -> Result<(), Problem> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let bytes = data.as_bytes();
        let wire: Wire<'_> =
            serde_json::from_slice(bytes).map_err(|error| Problem::json(&error, bytes))?;
        self.read(wire, bytes, sink)
    }

    fn document(&mut self, json: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
        let message: Message<'_> =
            serde_json::from_slice(json).map_err(|error| Problem::json(&error, json))?;
        let Some(blocks) = message.content else {
            let problem = Problem::in_place_of_reply(json);
            return Err(problem.unwrap_or_else(|| Problem::malformed("it has no `content`", json)));
        };
        if let Some(error) = message.error {
            return Err(Problem::reported(error.get().as_bytes()));
        }
        for block in blocks {
            self.begin(None, block, sink)?;
            self.end(None);
        }
        self.usage = message.usage.and_then(Usage::of);
        self.stop(&message.stop_reason, message.stop_details);
        // A document is whole, with or without a reason.
        self.finish.get_or_insert_default();
        self.is_ended = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        match self.finish {
            Some(_) if self.is_ended => Progress::Ended,
            Some(_) => Progress::Complete,
            None if self.is_ended => Progress::Stopped,
            None if self.blocks.is_empty() => Progress::Nothing,
            None => Progress::Begun,
        }
    }

    fn into_reply(self) -> Reply {
        let is_complete = self.is_ended || self.finish.is_some();
        let (mut content, mut thinking) = (String::new(), String::new());
        let (mut calls, mut order) = (DistinctCalls::default(), Vec::new());
        for block in self.blocks {
            let is_whole = is_complete || block.is_ended;
            match block.content {
                Content::Text { text, citations } => {
                    content.push_str(&text);
                    let length = text.len();
                    order.push(match citations.is_empty() {
                        true => Place::Text(length),
                        false => Place::Cited { length, citations },
                    });
                }
                Content::Thinking { text, signature } => {
                    thinking.push_str(&text);
                    order.push(Place::Thinking {
                        length: text.len(),
                        signature,
                    });
                }
                Content::Call { mut call, input } if is_whole => {
                    if matches!(call.arguments.trim(), "" | "{}") {
                        call.arguments = input;
                    }
                    if calls.add(call) {
                        order.push(Place::Call);
                    }
                }
                Content::Other {
                    json,
                    input,
                    summary,
                } if is_whole => order.push(Place::Block(whole(json, &input, summary))),
                Content::Call { .. } | Content::Other { .. } => {}
            }
        }
        let calls = calls.into_calls();
        let finish = match self.finish.unwrap_or_default() {
            FinishReason::Stop if !calls.is_empty() => FinishReason::ToolCalls,
            finish => finish,
        };
        Reply {
            content,
            thinking: with_order(thinking, &order),
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

impl MessagesReply {
    fn read(&mut self, event: Wire<'_>, bytes: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
        if let Some(error) = event.error {
            return Err(Problem::reported(error.get().as_bytes()));
        }
        match &*event.kind {
            // Every event of a reply has a type.
            "" => return Problem::in_place_of_reply(bytes).map_or(Ok(()), Err),
            "message_start" => {
                // Some gateways begin anew when the model's server has failed.
                *self = MessagesReply::default();
                let message: Option<Message<'_>> = parse(event.message)?;
                let usage = message.and_then(|message| message.usage);
                self.usage_at_start = usage.and_then(Usage::of).map(Usage::at_start);
            }
            "content_block_start" => {
                let Some(block) = event.content_block else {
                    return Err(Problem::malformed("it has no `content_block`", bytes));
                };
                self.begin(event.index, block, sink)?;
            }
            "content_block_delta" => {
                if let Some(delta) = parse(event.delta)? {
                    self.add(event.index, delta, sink);
                }
            }
            "content_block_stop" => self.end(event.index),
            "message_delta" => {
                if let Some(usage) = event.usage {
                    let before = self.usage.take().or(self.usage_at_start.take());
                    self.usage = Usage::of(usage).map(|usage| usage.or(before));
                }
                if let Some(delta) = parse::<Piece<'_>>(event.delta)? {
                    self.stop(&delta.stop_reason, delta.stop_details);
                }
            }
            "message_stop" if self.progress() == Progress::Nothing => {
                return Err(Problem::malformed("it ends before it begins", bytes));
            }
            "message_stop" => self.is_ended = true,
            // `ping`, and events that were added later.
            _ => {}
        }
        Ok(())
    }

    /// Begins a block of the reply's content.
    fn begin(
        &mut self,
        index: Option<u64>,
        json: &RawValue,
        sink: Sink<'_>,
    ) -> Result<(), Problem> {
        let bytes = json.get().as_bytes();
        let block: wire::Block<'_> =
            serde_json::from_slice(bytes).map_err(|error| Problem::malformed(error, bytes))?;
        let content = match &*block.kind {
            "text" => {
                tell(sink, Delta::Text(&block.text));
                let citations = block.citations.map(RawValue::get).unwrap_or_default();
                let citations: Vec<&RawValue> = serde_json::from_str(citations).unwrap_or_default();
                Content::Text {
                    text: owned(block.text),
                    citations: citations.into_iter().filter_map(wanted_back).collect(),
                }
            }
            "thinking" => {
                tell(sink, Delta::Thinking(&block.thinking));
                Content::Thinking {
                    text: owned(block.thinking),
                    signature: block.signature,
                }
            }
            "tool_use" => Content::Call {
                call: ToolCall {
                    id: owned(block.id),
                    name: owned(block.name),
                    arguments: String::new(),
                },
                input: match &*arguments_text(block.input) {
                    "" => "{}".to_owned(),
                    input => input.to_owned(),
                },
            },
            _ => Content::Other {
                json: json.to_owned(),
                input: String::new(),
                summary: None,
            },
        };
        // Some gateways begin a call twice.
        if let Content::Call { call, .. } = &content
            && self
                .blocks
                .last()
                .is_some_and(|last| last.is_begun(index, call))
        {
            self.blocks.pop();
        }
        self.blocks.push(Block {
            index,
            content,
            is_ended: false,
        });
        Ok(())
    }

    /// Returns the block of this index, or the last one if there is no index.
    fn block(&mut self, index: Option<u64>) -> Option<&mut Block> {
        self.blocks
            .iter_mut()
            .rfind(|block| index.is_none() || block.index == index)
    }

    /// Adds a fragment to the block of this index, and passes it to the sink.
    fn add(&mut self, index: Option<u64>, piece: Piece<'_>, sink: Sink<'_>) {
        if self.block(index).is_none() {
            // Some gateways leave out the beginning of a text.
            let content = match piece.text.is_empty() {
                true => return,
                false => Content::Text {
                    text: String::new(),
                    citations: Vec::new(),
                },
            };
            self.blocks.push(Block {
                index,
                content,
                is_ended: false,
            });
        }
        let Some(block) = self.block(index) else {
            return;
        };
        match &mut block.content {
            Content::Text { text, citations } => {
                text.push_str(&piece.text);
                citations.extend(piece.citation.and_then(wanted_back));
                tell(sink, Delta::Text(&piece.text));
            }
            Content::Thinking { text, signature } => {
                text.push_str(&piece.thinking);
                tell(sink, Delta::Thinking(&piece.thinking));
                if !piece.signature.is_empty() {
                    signature.get_or_insert_default().push_str(&piece.signature);
                }
            }
            Content::Call { call, .. } => call.arguments.push_str(&piece.partial_json),
            Content::Other { input, summary, .. } => {
                input.push_str(&piece.partial_json);
                let said = piece.content.map(RawValue::get);
                if let Some(said) = said.and_then(|json| serde_json::from_str::<String>(json).ok())
                {
                    summary.get_or_insert_default().push_str(&said);
                }
            }
        }
    }

    fn end(&mut self, index: Option<u64>) {
        if let Some(block) = self.block(index) {
            block.is_ended = true;
        }
    }

    fn stop(&mut self, reason: &str, details: Option<StopDetails>) {
        if !reason.is_empty() {
            self.finish = Some(finish(reason));
        }
        if self.finish == Some(FinishReason::Refusal) {
            self.refusal = details.and_then(|details| details.explanation);
        }
    }
}

/// Parses a part of an event from its JSON; `None` if the event does not have the part.
fn parse<'a, T: Deserialize<'a>>(json: Option<&'a RawValue>) -> Result<Option<T>, Problem> {
    let Some(json) = json else { return Ok(None) };
    serde_json::from_str(json.get())
        .map_err(|error| Problem::malformed(error, json.get().as_bytes()))
}

fn tell(sink: Sink<'_>, delta: Delta<'_>) {
    let (Delta::Text(piece) | Delta::Thinking(piece)) = delta;
    if let Some(sink) = sink.filter(|_| !piece.is_empty()) {
        sink(delta);
    }
}

fn owned(text: Text<'_>) -> String {
    text.0.into_owned()
}

/// Returns the citation if the server wants it back: one of its own search, by its `encrypted_index`. Others are not
/// missed, and some have fields that the server does not take.
fn wanted_back(citation: &RawValue) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Citation {
        #[serde(rename = "encrypted_index")]
        _index: String,
    }
    let is_wanted = serde_json::from_str::<Citation>(citation.get()).is_ok();
    is_wanted.then(|| citation.to_owned())
}

/// Returns the reasoning of a reply with the order of its blocks, to be sent back later. The order is left out if the
/// message alone leads to the same blocks.
fn with_order(text: String, order: &[Place]) -> Option<Thinking> {
    let says_more = |place: &Place| {
        matches!(
            place,
            Place::Cited { .. } | Place::Thinking { .. } | Place::Block(_)
        )
    };
    let thinking = Thinking::from(text);
    let thinking = match order.iter().any(says_more) {
        // Numbers, texts and JSON always serialise.
        true => thinking.with_opaque(PROVIDER, serde_json::to_string(order).unwrap_or_default()),
        false => thinking,
    };
    (!thinking.is_empty()).then_some(thinking)
}

/// Joins a reply that the server has paused with the reply that continues it.
pub(crate) fn joined(paused: Reply, rest: Reply) -> Reply {
    let mut order = order_of(&paused);
    order.append(&mut order_of(&rest));
    let thinking = [&paused, &rest]
        .into_iter()
        .filter_map(|reply| reply.thinking.as_deref());
    let thinking = with_order(thinking.collect(), &order);
    let mut calls = paused.calls;
    calls.extend(rest.calls);
    let mut usage = paused.usage;
    usage += rest.usage;
    Reply {
        content: paused.content + &rest.content,
        thinking,
        calls,
        usage,
        ..rest
    }
}

/// Returns the order of a reply's blocks, which was kept with its reasoning.
fn order_of(reply: &Reply) -> Vec<Place> {
    let thinking = reply.thinking.as_ref();
    let kept = thinking.and_then(|thinking| thinking.opaque(PROVIDER));
    kept.and_then(|kept| serde_json::from_str(kept).ok())
        .unwrap_or_else(|| {
            let calls = reply.calls.iter().map(|_| Place::Call);
            [Place::Text(reply.content.len())]
                .into_iter()
                .chain(calls)
                .collect()
        })
}

/// Returns the JSON of a block with the parts that arrived in later events.
fn whole(json: Box<RawValue>, input: &str, summary: Option<String>) -> Box<RawValue> {
    if input.is_empty() && summary.is_none() {
        return json;
    }
    let Ok(mut block) = serde_json::from_str::<Map<String, Value>>(json.get()) else {
        return json;
    };
    if let Ok(input) = serde_json::from_str(input) {
        block.insert("input".into(), input);
    }
    if let Some(summary) = summary {
        block.insert("content".into(), summary.into());
    }
    serde_json::value::to_raw_value(&block).unwrap_or(json)
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::Refusal,
        other => FinishReason::Other(other.to_owned()),
    }
}
