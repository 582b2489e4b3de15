use super::{Agent, Data, IntoInput, ModelAgent, Run, held::Held, prompt_of};
use crate::{
    Error, ErrorKind,
    context::{Earlier, Exchange},
    model::{History, Message, Model, ToolCall},
};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Marker for agents that are driven by a model and can hold a conversation with [`Agent::chat`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be talked to",
    label = "no one model drives this",
    note = "a conversation goes on with one model: chat with an agent without a body, or an `#[agent] impl` with a skill without one; agents put together are asked anew with each `.run(..)`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait ModelDriven {}

#[diagnostic::do_not_recommend]
impl<I: Data, O: Data> ModelDriven for ModelAgent<'_, I, O> {}

#[diagnostic::do_not_recommend]
impl<A: ModelDriven + ?Sized> ModelDriven for Arc<A> {}

/// Conversation with an agent, in which each [`send`](Chat::send) continues the previous ones.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, Error, agent::ModelAgent, run::tokens};
/// # async fn talk(crm: ModelAgent<'_, String, String>) -> Result<(), Error> {
/// let mut chat = crm.chat();
/// let who = chat.send("Who is ACME?").await?;
/// let order = chat.send("And their last order?").budget(tokens(5_000)).await?;
///
/// // Another day, perhaps in another process:
/// let stored = chat.snapshot();
/// let mut chat = crm.chat().resume(stored)?;
/// chat.send("Has it been paid?").await?;
/// # Ok(())
/// # }
/// ```
///
/// Each send is a run with its own budget and its own outcome, and takes all settings of a run. A send may end without
/// an answer, because it failed, was cancelled or was dropped. If no tool that writes has run, it is forgotten: the
/// conversation stays as it was, and the same message can be sent again. Otherwise it is kept, with the calls, their
/// results and a remark in place of the answer, so that the model knows of a payment that was made; then send a message
/// that goes on from there.
///
/// The answer of a skill without a model belongs to the conversation as well.
///
/// Messages are never left out, so the model's request grows with each send. If a conversation has become too long, a
/// bound on the tokens of a send ends the send with an error of the kind [`Budget`](ErrorKind::Budget). A server whose
/// context is smaller may cut the beginning off without an error. Before that, go on from a summary:
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, Error, agent::ModelAgent};
/// # async fn talk(crm: ModelAgent<'_, String, String>, question: String) -> Result<(), Error> {
/// # let mut chat = crm.chat();
/// if chat.messages().len() > 60 {
///     let so_far = chat.send("Sum up what was said, for yourself.").await?;
///     chat = crm.chat();
///     chat.send(format!("We have talked before. In short: {so_far}")).await?;
/// }
/// chat.send(question).await?;
/// # Ok(())
/// # }
/// ```
pub struct Chat<'a, A: Agent> {
    agent: Held<'a, A>,
    model: Option<Arc<dyn Model>>,
    earlier: Arc<Mutex<Earlier>>,
}

impl<A: Agent + ModelDriven> Chat<'static, A> {
    pub(super) fn owned(agent: A) -> Self {
        Chat::with(Held::Owned(Box::new(agent)))
    }
}

impl<'a, A: Agent + ModelDriven> Chat<'a, A> {
    pub(super) fn new(agent: &'a A) -> Self {
        Chat::with(Held::Borrowed(agent))
    }

    fn with(agent: Held<'a, A>) -> Self {
        Chat {
            agent,
            model: None,
            earlier: Arc::default(),
        }
    }

    /// Sets the model for every message of this conversation, for agents that bring none of their own.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Sends a message; await the returned [`Run`] for the answer, or configure it first.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, handle) = ScriptedModel::new([Script::text("A customer"), Script::text("A lathe")]);
    /// # let crm = AgentBuilder::<String, String>::new("crm").model(model).build();
    /// let mut chat = crm.chat();
    /// chat.send("Who is ACME?").await?;
    /// chat.send("And their last order?").await?;
    /// // The second time the model is shown all that was said before.
    /// # assert_eq!(handle.requests()[1].messages.len(), 3);
    /// assert_eq!(chat.messages().len(), 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send(&mut self, input: impl IntoInput<A::In>) -> Run<'_, A> {
        let input = input.into_input();
        let exchange = Exchange::new(&self.earlier, prompt_of(&input));
        self.part_of(Run::new(&*self.agent, input), exchange)
    }

    fn part_of<'r>(&self, run: Run<'r, A>, exchange: Exchange) -> Run<'r, A> {
        let run = run.part_of(exchange);
        match &self.model {
            Some(model) => run.model(model.clone()),
            None => run,
        }
    }

    /// Returns the conversation so far, to be stored.
    pub fn snapshot(&self) -> Conversation {
        let Earlier {
            history,
            turns,
            handed_to,
        } = self.earlier().clone();
        Conversation {
            version: Conversation::VERSION,
            agent: self.agent.name().to_owned(),
            messages: history.messages().to_vec(),
            turns,
            handed_to,
        }
    }

    /// Returns the name of the agent that answers the next message: the agent of the conversation, or the one to which
    /// it was [handed](super::AgentBuilder::hand_off).
    pub fn answering(&self) -> String {
        let earlier = self.earlier();
        let last = earlier.handed_to.last().map(String::as_str);
        last.unwrap_or(self.agent.name()).to_owned()
    }

    /// Continues a stored conversation.
    ///
    /// # Errors
    /// When the conversation was had with another agent, or was stored in a format that this version cannot read.
    pub fn resume(self, stored: Conversation) -> Result<Self, Error> {
        stored.check(self.agent.name())?;
        *self.earlier() = Earlier {
            history: Arc::new(History::from(stored.messages)),
            turns: stored.turns,
            handed_to: stored.handed_to,
        };
        Ok(self)
    }

    /// Starts from messages that were exchanged elsewhere, in place of those so far: with another agent, in another
    /// program, or written by hand as examples.
    ///
    /// System messages are left out, since the agent says its own prompt. Each call of a tool needs its result right
    /// behind the message that makes it, as every provider demands.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::model::Message;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, handle) = ScriptedModel::new([Script::text("A lathe.")]);
    /// # let crm = AgentBuilder::<String, String>::new("crm").prompt("You know customers.").model(model).build();
    /// let mut chat = crm.chat().with_messages([
    ///     Message::User { content: "Who is ACME?".into() },
    ///     Message::Assistant { content: "A customer.".into(), thinking: None, calls: vec![] },
    /// ])?;
    /// assert_eq!(chat.send("And their last order?").await?, "A lathe.");
    /// # assert_eq!(handle.requests()[0].messages.len(), 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a call has no result, or a result no call. The error names the message by its number, from 1.
    pub fn with_messages(self, messages: impl IntoIterator<Item = Message>) -> Result<Self, Error> {
        let messages: Vec<_> = messages.into_iter().collect();
        check_results(&messages).map_err(|problem| Error::new(ErrorKind::Build, problem))?;
        let is_system = |message: &Message| matches!(message, Message::System { .. });
        let messages: Vec<_> = messages.into_iter().filter(|one| !is_system(one)).collect();
        let is_reply = |message: &&Message| matches!(message, Message::Assistant { .. });
        let turns = messages.iter().filter(is_reply).count();
        *self.earlier() = Earlier {
            history: Arc::new(History::from(messages)),
            turns: u32::try_from(turns).unwrap_or(u32::MAX),
            handed_to: Vec::new(),
        };
        Ok(self)
    }

    /// Returns all messages so far, tool calls and their results included.
    pub fn messages(&self) -> Vec<Message> {
        self.earlier().history.messages().to_vec()
    }

    fn earlier(&self) -> MutexGuard<'_, Earlier> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that each call has one result, before any other message.
fn check_results(messages: &[Message]) -> Result<(), String> {
    let mut open: Vec<&ToolCall> = Vec::new();
    let unanswered = |open: &[&ToolCall]| {
        let call = open.first()?;
        let (id, name) = (&call.id, &call.name);
        Some(format!("the call `{id}` of `{name}` has no result"))
    };
    for (number, message) in (1..).zip(messages) {
        let at = |problem: String| format!("message {number} does not fit: {problem}");
        if let Message::Tool { tool_call_id, .. } = message {
            let answered = open.iter().position(|call| call.id == *tool_call_id);
            let answered = answered.ok_or_else(|| {
                at(format!(
                    "it is a result for `{tool_call_id}`, and no call with that id is open"
                ))
            })?;
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
    unanswered(&open).map_or(Ok(()), |problem| Err(format!("at the end, {problem}")))
}

impl<A: Agent> fmt::Debug for Chat<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("agent", &self.agent.name())
            .finish_non_exhaustive()
    }
}

/// Conversation in storable form; [`Chat::resume`] continues it.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::agent::Conversation;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("A customer"), Script::text("A lathe")]);
/// # let crm = AgentBuilder::<String, String>::new("crm").model(model).build();
/// let mut chat = crm.chat();
/// chat.send("Who is ACME?").await?;
/// let row = serde_json::to_string(&chat.snapshot())?;
///
/// // The next request of the same user, perhaps in another process.
/// let stored: Conversation = serde_json::from_str(&row)?;
/// let mut chat = crm.chat().resume(stored)?;
/// assert_eq!(chat.send("And their last order?").await?, "A lathe");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    version: u32,
    agent: String,
    messages: Vec<Message>,
    turns: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    handed_to: Vec<String>,
}

impl Conversation {
    const VERSION: u32 = 1;

    /// Returns the name of the agent that took part in the conversation.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the messages of the conversation, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn check(&self, agent: &str) -> Result<(), Error> {
        let (version, wanted) = (self.version, Self::VERSION);
        let problem = if version != wanted {
            format!(
                "the stored conversation has format {version}; this version reads format {wanted}"
            )
        } else if self.agent != agent {
            let other = &self.agent;
            format!("the stored conversation was had with agent `{other}`, not with `{agent}`")
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Build, problem))
    }
}
