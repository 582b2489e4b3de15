//! Builds one [`Reply`] from a document, or from the events of a stream.

use super::{
    calls::Calls,
    reasoning::Reasoning,
    wire::{self, Choice, Chunk, Said},
};
use agents_core::model::{Delta, FinishReason, ModelErrorKind, Reply, Usage};
use agents_http::{Event, Format, Problem, Progress, Sink};
use std::borrow::Cow;

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
        self.end(json)?;
        // A document is whole, with or without a reason.
        self.finish.get_or_insert_default();
        Ok(())
    }

    fn progress(&self) -> Progress {
        let is_silent = self.content.is_empty() && self.refusal.is_empty();
        match self.finish {
            Some(_) if self.is_ended => Progress::Ended,
            Some(_) => Progress::Complete,
            None if self.is_ended => Progress::Stopped,
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
        let is_part =
            chunk.usage.is_some() || chunk.choices.as_ref().is_some_and(|all| !all.is_empty());
        if (!is_part || chunk.error.is_some())
            && let Some(problem) = Problem::in_place_of_reply(json)
        {
            return Err(problem);
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
            return Err(Problem::reported(error.get().as_bytes()));
        }
        self.has_choice = true;
        match (choice.delta, choice.message) {
            (Some(delta), None) => self.said(delta, sink, true),
            (None, Some(message)) => self.message(message, sink, is_piece),
            (Some(delta), Some(_)) if is_piece => self.said(delta, sink, true),
            (_, Some(message)) => self.message(message, sink, false),
            (None, None) => {}
        }
        if let Some(usage) = choice.usage {
            self.usage = wire::Usage::of(usage);
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some(
                "error"
                | "abort"
                | "aborted"
                | "cancelled"
                | "network_error"
                | "server_error"
                | "insufficient_system_resource",
            ) => {
                return Err(Problem::Reported {
                    kind: ModelErrorKind::Interrupted,
                    message: "the model's provider failed during the reply".to_owned(),
                });
            }
            Some(reason) => self.finish = Some(finish(reason)),
        }
        Ok(())
    }

    /// Reads a whole message. In a stream, some servers repeat it while it grows: what is new of its text is told.
    fn message(&mut self, mut said: Said<'_>, sink: Sink<'_>, is_piece: bool) {
        if !is_piece {
            return self.said(said, sink, false);
        }
        let calls = said.tool_calls.take();
        for (field, so_far) in [
            (&mut said.content, &*self.content),
            (&mut said.reasoning_content, self.reasoning.text()),
            (&mut said.reasoning, self.reasoning.text()),
        ] {
            if let Some(new) = field.text.strip_prefix(so_far) {
                field.text = Cow::Owned(new.to_owned());
            }
        }
        self.said(said, sink, true);
        for call in calls.into_iter().flat_map(|calls| calls.0) {
            self.calls.grow(&call);
        }
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
        let function = said.function_call.filter(|_| said.tool_calls.is_none());
        let old = function.map(wire::Call::of);
        let calls = said.tool_calls.into_iter().flat_map(|calls| calls.0);
        for call in calls.chain(old) {
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
        "content_filter" | "sensitive" => FinishReason::Filter,
        "refusal" => FinishReason::Refusal,
        other => FinishReason::Other(other.to_owned()),
    }
}
