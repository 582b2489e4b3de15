//! Builds one [`Reply`] from a document, or from the events of a stream.

use super::{
    CALL, MESSAGE, PROVIDER,
    pieces::Pieces,
    wire::{self, FunctionCall, Item, Response, StreamEvent},
};
use agents_core::model::{Delta, DistinctCalls, FinishReason, Reply, Thinking, ToolCall, Usage};
use agents_http::{Event, Format, Problem, Progress, Sink};
use serde_json::value::RawValue;

/// A reply in the format of OpenAI's Responses that is being read.
///
/// ```
/// use agents_http::{Decoder, Ending};
/// use agents_openai::ResponsesReply;
///
/// let body = r#"{"status": "completed", "output": [
///     {"type": "message", "content": [{"type": "output_text", "text": "Oslo"}]}
/// ]}"#;
/// let mut decoder = Decoder::new(ResponsesReply::default());
/// decoder.on(body.as_bytes(), None)?;
/// decoder.end(Ending::Closed, None)?;
/// assert_eq!(decoder.into_reply().content, "Oslo");
/// # Ok::<(), agents_http::Problem>(())
/// ```
#[derive(Default)]
pub struct ResponsesReply {
    /// Items of the reply that have arrived completely.
    items: Items,
    /// Calls of a stream as far as they have come.
    pieces: Pieces,
    /// Text of the items that are still arriving, as far as it has come.
    text: String,
    thinking: String,
    refusal: String,
    has_begun: bool,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
}

/// Complete items of a reply, in their order.
#[derive(Default)]
struct Items {
    text: String,
    thinking: String,
    refusal: String,
    calls: DistinctCalls,
    /// Order of the items, as JSON: a mark for the text and for each call, and every other item as it came.
    order: Vec<String>,
    has_reasoning: bool,
}

impl Format for ResponsesReply {
    fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) -> Result<(), Problem> {
        let data = event.data.trim().as_bytes();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let event: StreamEvent<'_> =
            serde_json::from_slice(data).map_err(|error| Problem::json(&error, data))?;
        let piece = || -> String {
            let piece = event.delta.map(|delta| serde_json::from_str(delta.get()));
            piece.and_then(Result::ok).unwrap_or_default()
        };
        let tell = |delta| {
            if let Some(sink) = sink {
                sink(delta);
            }
        };
        match &*event.kind {
            "response.output_text.delta" => {
                let piece = piece();
                self.text.push_str(&piece);
                tell(Delta::Text(&piece));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let piece = piece();
                self.thinking.push_str(&piece);
                tell(Delta::Thinking(&piece));
            }
            "response.refusal.delta" => self.refusal.push_str(&piece()),
            "response.output_item.added" => {
                if let Some(call) = event.item.and_then(call) {
                    self.pieces.begin(&call, event.output_index);
                }
            }
            "response.function_call_arguments.delta" => self.pieces.add(&event),
            "response.function_call_arguments.done" => self.pieces.set(&event),
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.items
                        .push(item, event.output_index, &mut self.pieces)?;
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.map_or("{}", RawValue::get);
                return self.response(response.as_bytes());
            }
            "error" => return Err(Problem::reported(data)),
            // Some servers send the error without a type.
            "" => {
                let error = Problem::in_place_of_reply(data);
                return Err(error.unwrap_or_else(|| Problem::reported(data)));
            }
            _ => return Ok(()),
        }
        self.has_begun = true;
        Ok(())
    }

    fn document(&mut self, json: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
        self.response(json)?;
        if let Some(sink) = sink {
            let Items { text, thinking, .. } = &self.items;
            if !thinking.is_empty() {
                sink(Delta::Thinking(thinking));
            }
            if !text.is_empty() {
                sink(Delta::Text(text));
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (&self.finish, self.has_begun) {
            (Some(_), _) => Progress::Ended,
            (None, true) => Progress::Begun,
            (None, false) => Progress::Nothing,
        }
    }

    fn into_reply(self) -> Reply {
        let ResponsesReply {
            items,
            text,
            thinking,
            refusal,
            finish,
            usage,
            ..
        } = self;
        // Until the end, the pieces say more than the items that are complete.
        let longer = |whole: String, pieces: String| match finish {
            Some(_) if !whole.is_empty() => whole,
            _ => pieces,
        };
        let refusal = Some(longer(items.refusal, refusal)).filter(|words| !words.is_empty());
        let thinking = Thinking::from(longer(items.thinking, thinking));
        let calls = items.calls.into_calls();
        let thinking = match items.has_reasoning {
            true => thinking.with_opaque(PROVIDER, format!("[{}]", items.order.join(","))),
            false => thinking,
        };
        Reply {
            content: longer(items.text, text),
            thinking: (!thinking.is_empty()).then_some(thinking),
            finish: match finish.unwrap_or_default() {
                FinishReason::Stop if refusal.is_some() => FinishReason::Refusal,
                FinishReason::Stop if !calls.is_empty() => FinishReason::ToolCalls,
                finish => finish,
            },
            refusal,
            calls,
            usage: usage.unwrap_or(Usage {
                requests: 1,
                ..Usage::default()
            }),
            ..Reply::default()
        }
    }
}

impl ResponsesReply {
    /// Takes over the contents of a whole reply, whose JSON comes as one document or in the last event of a stream.
    fn response(&mut self, json: &[u8]) -> Result<(), Problem> {
        let response: Response<'_> =
            serde_json::from_slice(json).map_err(|error| Problem::json(&error, json))?;
        if let Some(error) = response.error.filter(|error| error.get() != "null") {
            return Err(Problem::reported(error.get().as_bytes()));
        }
        let status = response.status.as_deref().unwrap_or_default();
        if let Some(usage) = response.usage {
            self.usage = wire::Usage::of(usage);
        }
        // Some servers leave the items out at the end of a stream.
        if let Some(output) = response.output.filter(|output| !output.is_empty()) {
            self.items = Items::default();
            self.pieces.reset();
            for (position, item) in (0..).zip(output) {
                self.items.push(item, Some(position), &mut self.pieces)?;
            }
        }
        self.pieces.left().for_each(|call| self.items.call(call));
        let reason = response
            .incomplete_details
            .and_then(|details| details.reason);
        self.finish = Some(match (status, reason.as_deref()) {
            ("completed", _) => FinishReason::Stop,
            ("incomplete", Some("max_output_tokens") | None) => FinishReason::Length,
            ("incomplete", Some("content_filter")) => FinishReason::Filter,
            ("incomplete", Some(reason)) => FinishReason::Other(reason.to_owned()),
            _ => return Err(Problem::malformed("it has no `status` of a reply", json)),
        });
        Ok(())
    }
}

impl Items {
    /// Adds an item that stands at this position of the reply.
    fn push(
        &mut self,
        raw: &RawValue,
        position: Option<u64>,
        pieces: &mut Pieces,
    ) -> Result<(), Problem> {
        let json = raw.get();
        let item = serde_json::from_str(json);
        match item.map_err(|error| Problem::malformed(error, json.as_bytes()))? {
            Item::Message { content } => {
                for part in content {
                    self.text.push_str(part.text.as_deref().unwrap_or_default());
                    let words = part.refusal.as_deref().unwrap_or_default();
                    self.refusal.push_str(words);
                }
                self.order.push(format!("\"{MESSAGE}\""));
            }
            Item::Reasoning { summary, content } => {
                for part in summary.iter().chain(content.iter().flatten()) {
                    self.thinking
                        .push_str(part.text.as_deref().unwrap_or_default());
                }
                self.order.push(json.to_owned());
                self.has_reasoning = true;
            }
            Item::FunctionCall {} => {
                let call = serde_json::from_str(json);
                let call = call.map_err(|error| Problem::malformed(error, json.as_bytes()))?;
                self.call(pieces.complete(&call, position));
            }
            // A call of the server's own tool: reasoning is refused without the item that follows it.
            Item::Other => self.order.push(json.to_owned()),
        }
        Ok(())
    }

    fn call(&mut self, call: ToolCall) {
        if self.calls.add(call) {
            self.order.push(format!("\"{CALL}\""));
        }
    }
}

/// Reads an item as a call; `None` for any other item.
fn call(item: &RawValue) -> Option<FunctionCall<'_>> {
    let is_call = matches!(serde_json::from_str(item.get()), Ok(Item::FunctionCall {}));
    serde_json::from_str(item.get()).ok().filter(|_| is_call)
}
