use super::{Agent, IntoInput, Run, held::Held, prompt_of, wording};
use crate::{
    Error, ErrorKind, Json,
    context::{Earlier, Exchange, Talk, Unfinished},
    engine::turn_of,
    model::{History, Message, Model, Shorten, mended},
};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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
/// an answer, because it failed, was cancelled or was dropped. What happens then depends on the tools that ran:
///
/// - If no tool that writes has run, the send is forgotten: the conversation stays as it was, and the same message can
///   be sent again.
/// - Otherwise, the send is kept, with its calls, their results, and a remark in place of the answer. So the model
///   knows of what was done, such as a payment. The next message goes on from there. If code or a composition does the
///   work, only the message and the remark are kept.
///
/// An agent may answer with a [skill](crate::agent::Skill) that is a function instead of a model. Its answers belong to
/// the conversation, too.
///
/// An agent can be made of several agents. Its conversation consists of the messages and the answers of the whole, and
/// is given to the agents whose answer is the answer of the whole:
///
/// - the last agent of a chain, and the one that `compose::routed` or `branch!` selects,
/// - the agent that `until` repeats,
/// - each agent of `compose::first_of`,
/// - the captain of a `compose::forum`.
///
/// The agents of a tuple, and the agents before the last one of a chain, do not get the conversation.
///
/// A conversation grows with each send. [`shorten`](Chat::shorten) keeps it short. A [bound](crate::Budget::tokens) on
/// the tokens of a send ends a send whose conversation has become too long, with an error of the kind
/// [`Budget`](ErrorKind::Budget). A server whose context is smaller may cut the beginning off without an error.
pub struct Chat<'a, A: Agent> {
    agent: Held<'a, A>,
    model: Option<Arc<dyn Model>>,
    shorten: Option<Arc<dyn Shorten>>,
    talk: Arc<Mutex<Talk>>,
}

impl<A: Agent> Chat<'static, A> {
    pub(super) fn owned(agent: A) -> Self {
        Chat::with(Held::Owned(Box::new(agent)))
    }
}

impl<'a, A: Agent> Chat<'a, A> {
    pub(super) fn new(agent: &'a A) -> Self {
        Chat::with(Held::Borrowed(agent))
    }

    fn with(agent: Held<'a, A>) -> Self {
        Chat {
            agent,
            model: None,
            shorten: None,
            talk: Arc::default(),
        }
    }

    /// Sets the model for every message of this conversation, for agents that bring none of their own.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Shortens the conversation before each message that is [sent](Chat::send), as [`KeepLast`](super::KeepLast) or
    /// [`Summarize`](super::Summarize) does, or a policy of your own.
    ///
    /// What is left out is gone from the conversation, also if the message gets no answer.
    #[must_use]
    pub fn shorten(mut self, policy: impl Shorten + 'static) -> Self {
        self.shorten = Some(Arc::new(policy));
        self
    }

    /// Sends a message; await the returned [`Run`] for the answer, or configure it first. After this call,
    /// [`go_on`](Chat::go_on) cannot go on with an earlier message.
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
        self.talk().unfinished = None;
        let input = input.into_input();
        let exchange = self.exchange(&input);
        self.part_of(Run::new(&*self.agent, input), exchange)
    }

    /// Goes on with the last message if its send ended without an answer, from the point at which it broke off: after
    /// a limit, an error, a cancellation, or because it was dropped. All calls that were made stay made.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, tool::FnTool, testing::{Script, ScriptedModel}};
    /// use agents::{Budget, ErrorKind};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("a lathe") });
    /// # let (model, handle) = ScriptedModel::new([Script::call("look", "{}"), Script::text("A lathe.")]);
    /// # let crm = AgentBuilder::<String, String>::new("crm").tool(look).model(model).build();
    /// let mut chat = crm.chat();
    /// let question = chat.send("What did ACME buy?").budget(Budget::new().max_turns(1));
    /// assert_eq!(question.await.unwrap_err().kind(), ErrorKind::Budget);
    ///
    /// // With the budget of another run. The tool does not run again.
    /// assert_eq!(chat.go_on()?.await?, "A lathe.");
    /// # assert_eq!(handle.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is nothing to go on with, for instance because the last message has its answer, no model was told of
    /// it, or the agent is a composition. The same holds if a model has answered, and the answer was neither accepted
    /// nor given back to the model. When the message cannot be read as the agent's input.
    pub fn go_on(&mut self) -> Result<Run<'_, A>, Error> {
        let unfinished = self.talk().unfinished.clone();
        let unfinished = unfinished
            .ok_or_else(|| Error::new(ErrorKind::InvalidInput, wording::NOTHING_UNFINISHED))?;
        let input: A::In = unfinished.input.to().map_err(|error| {
            Error::new(
                ErrorKind::InvalidInput,
                wording::unfinished_unreadable(&error),
            )
        })?;
        let exchange = self.exchange(&input).from(unfinished.until);
        Ok(self.part_of(Run::new(&*self.agent, input), exchange))
    }

    fn exchange(&self, input: &A::In) -> Exchange {
        let exchange = Exchange::new(&self.talk, Json::of(input).ok(), prompt_of(input));
        exchange.shorten(self.shorten.clone())
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
        let Talk {
            earlier,
            unfinished,
        } = self.talk().clone();
        Conversation {
            version: Conversation::VERSION,
            agent: self.agent.name().to_owned(),
            kept: Kept::of(&earlier),
            unfinished: unfinished.map(|Unfinished { input, until }| StoredUnfinished {
                input,
                until: Kept::of(&until),
            }),
        }
    }

    /// Returns the name of the agent that answers the next message: the agent of this chat, or the agent to which the
    /// conversation was [handed](super::AgentBuilder::hand_off).
    pub fn answering(&self) -> String {
        let talk = self.talk();
        let last = talk.earlier.handed_to.last().map(String::as_str);
        last.unwrap_or(self.agent.name()).to_owned()
    }

    /// Continues a stored conversation, in place of the messages so far. A call without a result gets one which says
    /// that nobody knows whether the call was carried out.
    ///
    /// # Errors
    /// When the conversation was had with another agent, was stored in a format that this version cannot read, or has a
    /// result without its call.
    pub fn resume(self, stored: Conversation) -> Result<Self, Error> {
        stored.check(self.agent.name())?;
        let unfinished = match stored.unfinished {
            Some(one) => Some(Unfinished {
                input: one.input,
                until: Earlier {
                    is_said: true,
                    ..one.until.restored()?
                },
            }),
            None => None,
        };
        *self.talk() = Talk {
            earlier: stored.kept.restored()?,
            unfinished,
        };
        Ok(self)
    }

    /// Starts from messages that were exchanged elsewhere, in place of the messages so far. They may come from another
    /// agent or another program, or be written by hand as examples.
    ///
    /// System messages are left out, since the agent has its own prompt. Every provider demands that each call of a
    /// tool has its result right behind the message that makes the call. A call without a result gets one which says
    /// that nobody knows whether the call was carried out.
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
    /// When a result has no call. The error names the message by its number, from 1.
    pub fn with_messages(self, messages: impl IntoIterator<Item = Message>) -> Result<Self, Error> {
        let messages: Vec<_> = messages.into_iter().collect();
        let messages = mended(messages).map_err(|problem| Error::new(ErrorKind::Build, problem))?;
        let is_system = |message: &Message| matches!(message, Message::System { .. });
        let messages: Vec<_> = messages.into_iter().filter(|one| !is_system(one)).collect();
        let turns = turns_of(&messages);
        *self.talk() = Talk {
            earlier: Earlier {
                history: Arc::new(History::from(messages)),
                turns,
                ..Earlier::default()
            },
            unfinished: None,
        };
        Ok(self)
    }

    /// Returns all messages so far, with the calls of tools and their results. The agent's prompt comes first once its
    /// model has answered.
    pub fn messages(&self) -> Vec<Message> {
        self.talk().earlier.history.messages().to_vec()
    }

    fn talk(&self) -> MutexGuard<'_, Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    #[serde(flatten)]
    kept: Kept,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unfinished: Option<StoredUnfinished>,
}

/// Messages of a conversation as they are stored, with the number of its turns and the agents to which it was handed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    messages: Vec<Message>,
    turns: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    handed_to: Vec<String>,
}

/// Last message of a stored conversation, if its send ended without an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredUnfinished {
    input: Json,
    until: Kept,
}

impl Kept {
    fn of(earlier: &Earlier) -> Self {
        Kept {
            messages: earlier.history.messages().to_vec(),
            turns: earlier.turns,
            handed_to: earlier.handed_to.clone(),
        }
    }

    fn restored(self) -> Result<Earlier, Error> {
        let messages = mended(self.messages);
        let messages = messages.map_err(|problem| Error::new(ErrorKind::Build, problem))?;
        Ok(Earlier {
            history: Arc::new(History::from(messages)),
            turns: self.turns,
            handed_to: self.handed_to,
            is_said: false,
        })
    }
}

/// Returns the number of turns after which new ids of calls differ from the ids in the messages: the number of
/// replies, or the greatest number of a turn in an id that a run has made, whichever is greater.
fn turns_of(messages: &[Message]) -> u32 {
    let calls = messages.iter().flat_map(|message| match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    let turns = calls.filter_map(|call| turn_of(&call.id));
    let is_reply = |message: &&Message| matches!(message, Message::Assistant { .. });
    let replies = messages.iter().filter(is_reply).count();
    let replies = u32::try_from(replies).unwrap_or(u32::MAX);
    turns.fold(replies, u32::max)
}

impl Conversation {
    const VERSION: u32 = 1;

    /// Returns the name of the agent with which the conversation was had, and with which [`Chat::resume`] continues
    /// it.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the messages of the conversation, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.kept.messages
    }

    fn check(&self, agent: &str) -> Result<(), Error> {
        let (version, wanted) = (self.version, Self::VERSION);
        let problem = if version != wanted {
            wording::chat_of_other_format(version, wanted)
        } else if self.agent != agent {
            wording::chat_of_another(&self.agent, agent)
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Build, problem))
    }
}
