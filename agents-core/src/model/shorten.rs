//! Conversations that are shortened, and what a conversation has to keep.

use super::{
    Content, Message, ToolCall,
    wording::{self, REFUSED},
};
use crate::Error;
use async_trait::async_trait;
use std::sync::Arc;

/// Code that shortens a conversation: before each message of a chat ([`Chat::shorten`](crate::agent::Chat::shorten)),
/// or while an agent works ([`ContextPolicy::by`](crate::agent::ContextPolicy::by)).
///
/// ```
/// # use agents_core as agents;
/// use agents::{Error, agent::Shorten, async_trait, model::Message};
///
/// /// Forgets long results of tools, except for their beginning.
/// struct CutResults;
///
/// #[async_trait]
/// impl Shorten for CutResults {
///     async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
///         let mut messages = messages.to_vec();
///         for message in &mut messages {
///             if let Message::Tool { content, .. } = message {
///                 content.text = content.chars().take(200).collect();
///             }
///         }
///         Ok(Some(messages))
///     }
/// }
/// ```
#[async_trait]
pub trait Shorten: Send + Sync {
    /// Returns the messages to go on with, in place of these; `None` keeps all of them.
    ///
    /// Each call of a tool needs its result right behind the message that makes the call. Agents that the method runs
    /// share the budget and the cancellation of the work for which the conversation is shortened.
    ///
    /// # Errors
    /// With the reason why the conversation cannot be shortened. The message of the chat then fails, or the agent's
    /// work.
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error>;
}

/// Shortens a conversation to its last exchanges: each is a message of the user, and all that follows up to the next
/// message of the user. A message by which a model is told that its answer cannot be used begins no exchange.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::agent::KeepLast;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, handle) = ScriptedModel::always(Script::text("Yes."));
/// # let host = AgentBuilder::<String, String>::new("host").model(model).build();
/// let mut chat = host.into_chat().shorten(KeepLast::exchanges(2));
/// for question in ["One?", "Two?", "Three?", "Four?"] {
///     chat.send(question).await?;
/// }
/// // Two exchanges, and the question.
/// assert_eq!(handle.requests()[3].messages.len(), 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KeepLast(usize);

impl KeepLast {
    /// Creates the value that keeps the last `number` exchanges of a conversation, and leaves out the earlier ones.
    #[must_use]
    pub fn exchanges(number: usize) -> Self {
        KeepLast(number)
    }
}

#[async_trait]
impl<S: Shorten + ?Sized> Shorten for Arc<S> {
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
        (**self).shorten(messages).await
    }
}

#[async_trait]
impl Shorten for KeepLast {
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
        let last = last_exchanges(messages, self.0);
        Ok((last.len() < messages.len()).then(|| last.to_vec()))
    }
}

/// Returns the last `number` exchanges of a conversation, each from a message of the user on; the whole conversation if
/// it has no more.
pub(crate) fn last_exchanges(messages: &[Message], number: usize) -> &[Message] {
    let begins = |message: &Message| matches!(message, Message::User { content } if !content.starts_with(REFUSED));
    let starts = (0..messages.len()).filter(|at| begins(&messages[*at]));
    let starts: Vec<_> = starts.collect();
    let from = match starts.len().checked_sub(number) {
        None | Some(0) => 0,
        Some(left_out) => starts.get(left_out).copied().unwrap_or(messages.len()),
    };
    &messages[from..]
}

/// Returns an estimate of the tokens of messages: one for every four bytes of text, four more for each message, and
/// 1,000 for an image or a file.
pub(crate) fn estimated(messages: &[Message]) -> u64 {
    let of = |message: &Message| {
        let beside = match message {
            Message::Assistant {
                thinking, calls, ..
            } => {
                let calls = calls.iter();
                let calls = calls.map(|call| call.name.len() + call.arguments.len());
                calls.sum::<usize>() + thinking.as_ref().map_or(0, |thinking| thinking.len())
            }
            Message::Tool { name, .. } => name.len(),
            Message::System { .. } | Message::User { .. } => 0,
        };
        (message.text().len() + beside).div_ceil(4) + 4 + 1_000 * message.media().len()
    };
    u64::try_from(messages.iter().map(of).sum::<usize>()).unwrap_or(u64::MAX)
}

/// Conversation that is divided into what is left out and what stays.
pub(crate) struct Halves<'a> {
    /// Messages that are left out, oldest first.
    pub(crate) older: Vec<Message>,
    /// Last message of the user, if it is older than `newer`; it stays.
    pub(crate) task: Option<&'a Message>,
    /// Newest messages, which stay as they are. They have at most half of the tokens, or are only the last reply and
    /// what follows it.
    pub(crate) newer: &'a [Message],
}

impl<'a> Halves<'a> {
    /// Divides a conversation between two rounds, so that a call stays with its result; `None` if no reply can be left
    /// out.
    pub(crate) fn of(messages: &'a [Message]) -> Option<Self> {
        let begins = |at: &usize| !matches!(messages[*at], Message::Tool { .. });
        let is_reply = |message: &Message| matches!(message, Message::Assistant { .. });
        let last = messages.iter().rposition(is_reply)?;
        let half = estimated(messages) / 2;
        let fits = |at: &usize| *at == last || estimated(&messages[*at..]) <= half;
        let starts = (0..=last).filter(begins);
        let cut = starts.rev().take_while(fits).last()?;
        let (older, newer) = messages.split_at(cut);
        let is_said =
            |message: &Message| matches!(message, Message::User { content } if !content.is_told());
        let task = messages.iter().rposition(is_said).filter(|at| *at < cut);
        let left_out = older.iter().enumerate();
        let left_out = left_out.filter(|(at, _)| Some(*at) != task);
        let older: Vec<_> = left_out.map(|(_, message)| message.clone()).collect();
        older.iter().any(is_reply).then_some(Halves {
            older,
            task: task.map(|at| &messages[at]),
            newer,
        })
    }

    /// Returns the conversation with this remark in place of the older messages; the `task`, if there is one, stays in
    /// front of it.
    pub(crate) fn with(self, remark: String) -> Vec<Message> {
        let remark = Message::User {
            content: Content::told(remark),
        };
        let kept = self.task.cloned().into_iter().chain([remark]);
        kept.chain(self.newer.iter().cloned()).collect()
    }
}

/// Leaves out the older half of a conversation, except for the last message of the user.
pub(crate) struct Trim;

#[async_trait]
impl Shorten for Trim {
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
        let halves = Halves::of(messages);
        Ok(halves.map(|halves| halves.with(wording::LEFT_OUT.to_owned())))
    }
}

/// Mends a conversation that was loaded: each call without a result gets a result that says so, right behind the
/// results of the other calls. Providers refuse a conversation with a call that has no result.
///
/// # Errors
/// When a result has no call.
pub(crate) fn mended(messages: Vec<Message>) -> Result<Vec<Message>, String> {
    let mut mended = Vec::with_capacity(messages.len());
    let mut open: Vec<ToolCall> = Vec::new();
    let close = |open: &mut Vec<ToolCall>, mended: &mut Vec<Message>| {
        mended.extend(open.drain(..).map(|call| Message::Tool {
            tool_call_id: call.id,
            name: call.name,
            content: Content::told(wording::RESULT_LOST),
        }));
    };
    for (number, message) in (1..).zip(messages) {
        match &message {
            Message::Tool { tool_call_id, .. } => {
                let answered = open.iter().position(|call| call.id == *tool_call_id);
                let answered = answered.ok_or_else(|| {
                    wording::unfit_message(number, &wording::no_call(tool_call_id))
                })?;
                open.remove(answered);
            }
            Message::Assistant { calls, .. } => {
                close(&mut open, &mut mended);
                open.clone_from(calls);
            }
            Message::System { .. } | Message::User { .. } => close(&mut open, &mut mended),
        }
        mended.push(message);
    }
    close(&mut open, &mut mended);
    Ok(mended)
}

/// Checks that each call has one result, before any other message.
pub(crate) fn check_results(messages: &[Message]) -> Result<(), String> {
    let mut open: Vec<&ToolCall> = Vec::new();
    let unanswered = |open: &[&ToolCall]| {
        let call = open.first()?;
        Some(wording::no_result(&call.id, &call.name))
    };
    for (number, message) in (1..).zip(messages) {
        let at = |problem: String| wording::unfit_message(number, &problem);
        if let Message::Tool { tool_call_id, .. } = message {
            let answered = open.iter().position(|call| call.id == *tool_call_id);
            let answered = answered.ok_or_else(|| at(wording::no_call(tool_call_id)))?;
            open.remove(answered);
            continue;
        }
        if let Some(problem) = unanswered(&open) {
            return Err(at(problem));
        }
        if let Message::Assistant { calls, .. } = message {
            open.extend(calls);
        }
    }
    unanswered(&open).map_or(Ok(()), |problem| Err(wording::unfit_end(&problem)))
}
