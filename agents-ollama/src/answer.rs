//! Lines -> one [`Reply`]. The whole answer at once is a stream of one line.

use crate::wire::{Line, error_text};
use agents_core::model::{Delta, FinishReason, Reply, ToolCall};

/// Where pieces go as they come.
pub(crate) type Sink<'a> = Option<&'a (dyn Fn(Delta<'_>) + Send + Sync)>;

/// Why a line ended the answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is not what the protocol promises.
    NotJson(serde_json::Error),
    /// The server reported an error in the place of an answer.
    Reported(String),
}

impl Fault {
    /// Whether it would have been JSON, had there been more of it.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Fault::NotJson(error) if error.is_eof())
    }
}

/// An answer that is being put together.
#[derive(Default)]
pub(crate) struct Answer {
    content: String,
    thinking: String,
    calls: Vec<ToolCall>,
    reply: Reply,
    spoke: bool,
    done: Option<bool>,
}

impl Answer {
    /// Reads every document in `bytes`: one for a whole answer, or a line of a stream.
    pub(crate) fn read(&mut self, bytes: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        for line in serde_json::Deserializer::from_slice(bytes).into_iter::<Line<'_>>() {
            self.take(line.map_err(Fault::NotJson)?, sink)?;
        }
        Ok(())
    }

    fn take(&mut self, line: Line<'_>, sink: Sink<'_>) -> Result<(), Fault> {
        let Line {
            message,
            done,
            done_reason,
            prompt_eval_count,
            eval_count,
            error,
        } = line;
        if let Some(error) = error {
            return Err(Fault::Reported(error_text(error)));
        }
        if self.is_done() {
            return Ok(());
        }
        if let Some(said) = message {
            self.spoke = true;
            piece(&mut self.thinking, &said.thinking.0, sink, Delta::Thinking);
            piece(&mut self.content, &said.content.0, sink, Delta::Text);
            let calls = said.tool_calls.unwrap_or_default();
            // They stay in the conversation: no room for more than there are.
            self.calls.reserve_exact(calls.len());
            for call in calls {
                self.calls.push(ToolCall {
                    arguments: call.function.arguments_text(),
                    id: call.id.0.into_owned(),
                    name: call.function.name.0.into_owned(),
                });
            }
        }
        self.done = done.or(self.done);
        let usage = &mut self.reply.usage;
        usage.input_tokens = prompt_eval_count.unwrap_or(usage.input_tokens);
        usage.output_tokens = eval_count.unwrap_or(usage.output_tokens);
        match &*done_reason.0 {
            "" => {}
            "stop" => self.reply.finish = FinishReason::Stop,
            "length" => self.reply.finish = FinishReason::Length,
            other => self.reply.finish = FinishReason::Other(other.to_owned()),
        }
        Ok(())
    }

    /// Whether the server said that this was all.
    pub(crate) fn is_done(&self) -> bool {
        self.done == Some(true)
    }

    /// Whether there was a message at all, and nothing said that more would come.
    pub(crate) fn is_whole(&self) -> bool {
        self.spoke && self.done != Some(false)
    }

    /// Whether anything was said.
    pub(crate) fn spoke(&self) -> bool {
        self.spoke
    }

    /// What was said so far, in characters.
    pub(crate) fn len(&self) -> usize {
        self.content.chars().count() + self.thinking.chars().count()
    }

    /// The answer.
    pub(crate) fn into_reply(self) -> Reply {
        let Answer {
            content,
            thinking,
            calls,
            mut reply,
            ..
        } = self;
        reply.content = content;
        reply.thinking = (!thinking.is_empty()).then_some(thinking);
        reply.calls = calls;
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
