//! Builds one [`Reply`] from the lines of an answer. An answer in one document is read as a stream of one line.

use crate::wire::{Line, error_text};
use agents_core::model::{Delta, DistinctCalls, FinishReason, Reply, ToolCall};
use agents_http::arguments_text;
use serde_json::{
    StreamDeserializer,
    de::{Read, SliceRead, StrRead},
    value::RawValue,
};

/// Callback that is given the fragments of an answer as they arrive; `None` if nobody wants them.
pub(crate) type Sink<'a> = Option<&'a (dyn Fn(Delta<'_>) + Send + Sync)>;

/// Reason why a line of the stream has ended the answer with an error.
#[derive(Debug)]
pub(crate) enum AnswerError {
    /// The line is not the JSON that the protocol requires.
    NotJson(serde_json::Error),
    /// The server reported an error instead of an answer.
    Reported(String),
}

impl AnswerError {
    /// Returns `true` if the JSON only lacks its end, so that the answer was cut off.
    pub(crate) fn is_truncated(&self) -> bool {
        matches!(self, AnswerError::NotJson(error) if error.is_eof())
    }
}

/// Answer of the server that is still arriving.
#[derive(Default)]
pub(crate) struct Answer {
    content: String,
    thinking: String,
    calls: DistinctCalls,
    reply: Reply,
    has_message: bool,
    done: Option<bool>,
}

impl Answer {
    /// Reads every document in `bytes`: one for a whole answer, or a line of a stream.
    pub(crate) fn read(&mut self, bytes: &[u8], sink: Sink<'_>) -> Result<(), AnswerError> {
        match str::from_utf8(bytes) {
            // The text is checked once here, and not string by string.
            Ok(text) => self.read_from(StrRead::new(text), sink),
            Err(_) => self.read_from(SliceRead::new(bytes), sink),
        }
    }

    fn read_from<'a>(&mut self, json: impl Read<'a>, sink: Sink<'_>) -> Result<(), AnswerError> {
        for line in StreamDeserializer::<_, Line<'a>>::new(json) {
            self.take(line.map_err(AnswerError::NotJson)?, sink)?;
        }
        Ok(())
    }

    fn take(&mut self, line: Line<'_>, sink: Sink<'_>) -> Result<(), AnswerError> {
        let Line {
            message,
            done,
            done_reason,
            prompt_eval_count,
            eval_count,
            error,
            detail,
        } = line;
        if let Some(error) = error.or(detail) {
            return Err(AnswerError::Reported(error_text(error)));
        }
        if self.is_done() {
            return Ok(());
        }
        if let Some(said) = message {
            self.has_message = true;
            piece(&mut self.thinking, &said.thinking.0, sink, Delta::Thinking);
            piece(&mut self.content, &said.content.0, sink, Delta::Text);
            for call in said.tool_calls.unwrap_or_default() {
                self.calls.add(ToolCall {
                    arguments: arguments_text(call.function.arguments).into_owned(),
                    id: call.id.0.into_owned(),
                    name: call.function.name.0.into_owned(),
                });
            }
        }
        // Some servers leave `done` out of the last line, which has a reason.
        let has_reason = !done_reason.0.is_empty();
        self.done = done.or(has_reason.then_some(true)).or(self.done);
        let usage = &mut self.reply.usage;
        usage.input_tokens = prompt_eval_count.map_or(usage.input_tokens, count);
        usage.output_tokens = eval_count.map_or(usage.output_tokens, count);
        match &*done_reason.0 {
            "" => {}
            "stop" => self.reply.finish = FinishReason::Stop,
            "length" => self.reply.finish = FinishReason::Length,
            other => self.reply.finish = FinishReason::Other(other.to_owned()),
        }
        Ok(())
    }

    /// Returns `true` if the server sent `"done": true`.
    pub(crate) fn is_done(&self) -> bool {
        self.done == Some(true)
    }

    /// Returns `true` if the answer counts as complete: there was a message, and the last `done` was not `false`.
    pub(crate) fn is_complete(&self) -> bool {
        self.has_message && self.done != Some(false)
    }

    /// Returns `true` if any line of the answer had a message.
    pub(crate) fn has_message(&self) -> bool {
        self.has_message
    }

    /// Returns the number of characters of text and thinking received so far.
    pub(crate) fn len(&self) -> usize {
        self.content.chars().count() + self.thinking.chars().count()
    }

    /// Converts the answer into a reply of the model.
    pub(crate) fn into_reply(self) -> Reply {
        let Answer {
            content,
            thinking,
            calls,
            mut reply,
            ..
        } = self;
        reply.content = content;
        reply.thinking = (!thinking.is_empty()).then(|| thinking.into());
        reply.calls = calls.into_calls();
        reply.usage.requests = 1;
        reply
    }
}

fn piece<'a>(
    whole: &mut String,
    piece: &'a str,
    sink: Sink<'_>,
    delta: impl FnOnce(&'a str) -> Delta<'a>,
) {
    if !piece.is_empty() {
        whole.push_str(piece);
        if let Some(sink) = sink {
            sink(delta(piece));
        }
    }
}

/// Reads a number of tokens. A value that is not a number of tokens counts as 0, like an unknown count.
fn count(json: &RawValue) -> u64 {
    serde_json::from_str(json.get()).unwrap_or_default()
}
