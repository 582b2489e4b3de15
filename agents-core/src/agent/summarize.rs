//! Conversations that are summed up.

use super::{Agent, wording};
use crate::{
    Error, ErrorKind,
    definition::ContextPolicy,
    model::{Content, Halves, Message, Shorten, last_exchanges},
};
use async_trait::async_trait;
use std::fmt;

/// Policy that shortens a conversation: an agent sums up the older part.
///
/// If the conversation has more than [`after`](Summarize::after) messages, all but the last exchanges are given to the
/// agent as text. Its answer takes their place. The agent works as a part of the send. It needs a model of its own,
/// unless the [chat](super::Chat::model) or the send has a model.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::agent::Summarize;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, handle) = ScriptedModel::new(["Hello.", "A lathe.", "Ada asked for a lathe.", "Blue."].map(Script::text));
/// # let host = AgentBuilder::<String, String>::new("host").build();
/// let summarizer = AgentBuilder::<String, String>::new("summarizer")
///     .prompt("Sum up the conversation in three sentences. Keep names and numbers.");
/// let summary = Summarize::with(summarizer.build()).after(3).keep(1);
/// let mut chat = host.into_chat().model(model).shorten(summary);
/// for message in ["I am Ada.", "What do you sell?", "Which colour?"] {
///     chat.send(message).await?;
/// }
/// assert_eq!(chat.messages().len(), 2 + 2 + 2, "the summary, the exchange before, and the last one");
/// # assert_eq!(handle.requests()[2].last(), "user: I am Ada.\nassistant: Hello.\n");
/// # Ok(())
/// # }
/// ```
pub struct Summarize<A> {
    agent: A,
    after: usize,
    keep: usize,
}

impl<A: Agent<In = String, Out = String>> Summarize<A> {
    /// Has this agent sum up conversations of more than 40 messages, and keeps the last 4 exchanges as they are.
    #[must_use]
    pub fn with(agent: A) -> Self {
        Summarize {
            agent,
            after: 40,
            keep: 4,
        }
    }

    /// Sets the number of messages, calls and results included, that a conversation may have without being summed up;
    /// 40 by default.
    #[must_use]
    pub fn after(mut self, messages: usize) -> Self {
        self.after = messages;
        self
    }

    /// Sets the number of exchanges that are kept as they are; 4 by default.
    #[must_use]
    pub fn keep(mut self, exchanges: usize) -> Self {
        self.keep = exchanges;
        self
    }
}

#[async_trait]
impl<A: Agent<In = String, Out = String>> Shorten for Summarize<A> {
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
        let last = last_exchanges(messages, self.keep);
        let older = &messages[..messages.len() - last.len()];
        if messages.len() <= self.after || older.is_empty() {
            return Ok(None);
        }
        let summary = summary(&self.agent, older).await?;
        let asked = Message::User {
            content: Content::told(wording::SUMMARY_ASKED),
        };
        let said = Message::Assistant {
            content: summary,
            thinking: None,
            calls: Vec::new(),
        };
        Ok(Some(
            [asked, said]
                .into_iter()
                .chain(last.iter().cloned())
                .collect(),
        ))
    }
}

/// Creates the policy that leaves out the older half of an agent's conversation while the agent works.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, model::{Reply, Usage}, testing::{Script, ScriptedModel}};
/// use agents::agent::trim;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("done")]);
/// // From half of a window of 8192 tokens on.
/// let reader = AgentBuilder::<String, String>::new("reader").model(model).context(trim().at(0.5).window(8192)).build();
/// reader.run("Read all of it.").await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn trim() -> ContextPolicy {
    ContextPolicy::trim()
}

/// Creates the policy by which the agent `by` sums up the older half of another agent's conversation while that agent
/// works.
///
/// The agent `by` is given the messages as text, and works as a part of the run: within its budget, and with the model
/// of the agent at work, unless `by` has a model of its own.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, agent::compact};
///
/// let summariser = AgentBuilder::<String, String>::new("summariser")
///     .prompt("Sum up the conversation. Keep names, numbers and decisions.")
///     .build();
/// let clerk = AgentBuilder::<String, String>::new("clerk").context(compact(summariser).at(0.75)).build();
/// # let _ = clerk;
/// ```
#[must_use]
pub fn compact(by: impl Agent<In = String, Out = String> + 'static) -> ContextPolicy {
    ContextPolicy::by(Compact(by))
}

/// Policy that has an agent sum up the older half of a conversation.
struct Compact<A>(A);

#[async_trait]
impl<A: Agent<In = String, Out = String>> Shorten for Compact<A> {
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
        let Some(halves) = Halves::of(messages) else {
            return Ok(None);
        };
        let summary = summary(&self.0, &halves.older).await?;
        Ok(Some(halves.with(wording::summed_up(&summary))))
    }
}

/// Has an agent sum up messages.
async fn summary(
    agent: &impl Agent<In = String, Out = String>,
    messages: &[Message],
) -> Result<String, Error> {
    let summary = agent.run(transcript(messages)).await?;
    if summary.trim().is_empty() {
        let why = wording::empty_summary(agent.name());
        return Err(Error::new(ErrorKind::InvalidOutput, why));
    }
    Ok(summary)
}

/// Writes messages as text, one a line.
fn transcript(messages: &[Message]) -> String {
    let lines = messages.iter().map(|message| match message {
        Message::System { .. } => String::new(),
        Message::User { content } => format!("user: {content}\n"),
        Message::Assistant { content, calls, .. } => {
            let calls = calls.iter();
            let calls = calls.map(|call| format!("calls {}({})\n", call.name, call.arguments));
            let said = match content.is_empty() {
                true => String::new(),
                false => format!("assistant: {content}\n"),
            };
            calls.fold(said, |said, call| said + &call)
        }
        Message::Tool { name, content, .. } => format!("{name} gave: {content}\n"),
    });
    lines.collect()
}

impl<A: fmt::Debug> fmt::Debug for Summarize<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarize")
            .field("agent", &self.agent)
            .field("after", &self.after)
            .field("keep", &self.keep)
            .finish()
    }
}
