//! Conversations that are shortened, and what a conversation has to keep.

use super::{
    Message, ToolCall,
    wording::{self, REFUSED},
};
use crate::Error;
use async_trait::async_trait;
use std::sync::Arc;

/// Policy that shortens a conversation before each message: see [`Chat::shorten`](crate::agent::Chat::shorten).
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
    /// Each call of a tool needs its result right behind the message that makes it. The future is a part of the send:
    /// agents that it runs share the budget and the cancellation.
    ///
    /// # Errors
    /// With the reason why the conversation cannot be shortened, which ends the send.
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error>;
}

/// Shortens a conversation to its last exchanges: each is a message of the user, and all that follows up to the next
/// one.
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
    /// Creates the policy that keeps this number of exchanges, the last ones, and leaves out the ones before.
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

/// Returns the last `number` exchanges of a conversation, each from a message of the user on.
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

/// Checks that each call in the messages has one result, before any other message; the error names the message.
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
