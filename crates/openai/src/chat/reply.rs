//! Builds one [`Reply`] from a document, or from the events of a stream.

use super::{
    calls::Calls,
    reasoning::Reasoning,
    wire::{self, Choice, Chunk, Said},
};
use crate::reported::reported;
use agents_core::model::{Delta, FinishReason, ModelErrorKind, Reply, Usage};
use agents_http::{Event, Format, Problem, Progress, Sink};

/// A reply in the format of Chat Completions that is being read.
///
/// ```
/// use agents_http::{Decoder, Ending};
/// use agents_openai::ChatReply;
///
/// let mut decoder = Decoder::new(ChatReply::default());
/// for piece in [
///     "data: {\"choices\": [{\"delta\": {\"content\": \"Os",
///     "lo\"}}]}\n\ndata: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n",
/// ] {
///     decoder.on(piece.as_bytes(), None)?;
/// }
/// decoder.end(Ending::Closed, None)?;
/// assert_eq!(decoder.into_reply().content, "Oslo");
/// # Ok::<(), agents_http::Problem>(())
/// ```
#[derive(Default)]
pub struct ChatReply {
    content: String,
    refusal: String,
    reasoning: Reasoning,
    calls: Calls,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    has_choice: bool,
    is_ended: bool,
}

impl Format for ChatReply {
    fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) -> Result<(), Problem> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return self.end(data.as_bytes());
        }
        if data.is_empty() {
            return Ok(());
        }
        self.read(data.as_bytes(), sink, true)
    }

    fn document(&mut self, json: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
        self.read(json, sink, false)?;
        self.end(json)
    }

    fn progress(&self) -> Progress {
        let is_silent = self.content.is_empty() && self.refusal.is_empty();
        match self.finish {
            _ if self.is_ended => Progress::Ended,
            Some(_) => Progress::Complete,
            None if is_silent && self.calls.is_empty() && self.reasoning.is_empty() => {
                Progress::Nothing
            }
            None => Progress::Begun,
        }
    }

    fn into_reply(self) -> Reply {
        let is_complete = self.is_ended || self.finish.is_some();
        let calls = self.calls.finish(is_complete);
        let refusal = (!self.refusal.is_empty()).then_some(self.refusal);
        let finish = match self.finish.unwrap_or_default() {
            FinishReason::Stop if refusal.is_some() => FinishReason::Refusal,
            FinishReason::Stop if !calls.is_empty() => FinishReason::ToolCalls,
            finish => finish,
        };
        Reply {
            content: self.content,
            thinking: self.reasoning.finish(),
            calls,
            refusal,
            finish,
            usage: self.usage.unwrap_or(Usage {
                requests: 1,
                ..Usage::default()
            }),
            ..Reply::default()
        }
    }
}

impl ChatReply {
    fn end(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        if !self.has_choice {
            return Err(Problem::malformed("it has no `choices`", bytes));
        }
        self.is_ended = true;
        Ok(())
    }

    fn read(&mut self, json: &[u8], sink: Sink<'_>, is_piece: bool) -> Result<(), Problem> {
        let chunk: Chunk<'_> =
            serde_json::from_slice(json).map_err(|error| Problem::json(&error, json))?;
        if let Some(error) = chunk.error {
            return Err(reported(error.get().as_bytes()));
        }
        let groq = chunk.x_groq.and_then(|groq| groq.usage);
        for choice in chunk.choices.into_iter().flatten() {
            // Only one reply was asked for.
            if choice.index.unwrap_or_default() == 0 {
                self.choice(choice, sink, is_piece)?;
            }
        }
        if let Some(usage) = chunk.usage.or(groq) {
            self.usage = wire::Usage::of(usage);
        }
        Ok(())
    }

    fn choice(
        &mut self,
        choice: Choice<'_>,
        sink: Sink<'_>,
        is_piece: bool,
    ) -> Result<(), Problem> {
        if let Some(error) = choice.error {
            return Err(reported(error.get().as_bytes()));
        }
        self.has_choice = true;
        let said = match is_piece {
            true => choice.delta.or(choice.message),
            false => choice.message.or(choice.delta),
        };
        if let Some(said) = said {
            self.said(said, sink, is_piece);
        }
        if let Some(usage) = choice.usage {
            self.usage = wire::Usage::of(usage);
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("error") => {
                return Err(Problem::Reported {
                    kind: ModelErrorKind::Interrupted,
                    message: "the model's provider failed during the reply".to_owned(),
                });
            }
            Some(reason) => self.finish = Some(finish(reason)),
        }
        Ok(())
    }

    fn said(&mut self, said: Said<'_>, sink: Sink<'_>, is_piece: bool) {
        let tell = |delta| {
            if let Some(sink) = sink {
                sink(delta);
            }
        };
        // Servers that send both fields send the same text in both.
        let thoughts = [
            (Some("reasoning_content"), &*said.reasoning_content.text),
            (Some("reasoning"), &*said.reasoning.text),
            (None, &*said.content.thinking),
        ];
        if let Some((field, text)) = thoughts.into_iter().find(|(_, text)| !text.is_empty()) {
            self.reasoning.push(field, text);
            tell(Delta::Thinking(text));
        }
        self.reasoning
            .push_details(said.reasoning_details.unwrap_or_default());
        if !said.content.text.is_empty() {
            self.content.push_str(&said.content.text);
            tell(Delta::Text(&said.content.text));
        }
        self.refusal.push_str(&said.refusal.text);
        for call in said.tool_calls.into_iter().flatten() {
            match is_piece {
                true => self.calls.add(&call),
                false => self.calls.push(&call),
            }
        }
    }
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" | "eos" | "end_turn" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::Filter,
        "refusal" => FinishReason::Refusal,
        other => FinishReason::Other(other.to_owned()),
    }
}
