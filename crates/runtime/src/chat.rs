//! Conversations with an agent, in which each message is a run.

use crate::{AgentRef, ConversationRef, RuntimeError, Start};
use agents_core::{
    agent::{Data, IntoInput},
    model::Message,
    tool::Scope,
};
use std::fmt;

/// Conversation with an agent of a runtime: each [`send`](Chat::send) is a run that begins with what was said before.
///
/// ```
/// use agents::{prelude::*, agent::KeepLast};
/// use agents_runtime::{Runtime, SqliteStore};
/// # use agents::testing::{Script, ScriptedModel};
///
/// /// You know our customers.
/// #[agent]
/// async fn crm(question: String) -> String;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, handle) = ScriptedModel::new(["A customer.", "A lathe."].map(Script::text));
/// let store = SqliteStore::in_memory().await?;
/// let runtime = Runtime::open(store.clone()).model(model);
/// let crm = runtime.agent(Crm).shorten(KeepLast::exchanges(20));
///
/// let chat = crm.chat("support-42").scope("acme");
/// chat.send("Who is ACME?").await?;
/// // `start()` only stores the message, and a worker anywhere answers it.
/// let answer = chat.send("And their last order?").await?;
/// assert_eq!(answer, "A lathe.");
///
/// // From any process, without agents:
/// let said = Runtime::client(store).conversation("acme", "support-42").messages().await?;
/// assert_eq!(said.len(), 5, "the prompt, two questions and two answers");
/// # Ok(())
/// # }
/// ```
///
/// The messages of a conversation are answered one after the other, in the order in which they were stored, whatever
/// their priorities. A message that waits for a decision, or that is held, keeps the later ones waiting. A message that
/// ends without an answer is forgotten, unless a tool that writes has run: then it is kept, with its calls and a remark,
/// so that the model knows of the effect. This is as in [a conversation within one process](agents_core::agent::Chat).
///
/// A conversation belongs to the tenant of the scope, to one agent, and to its author: see
/// [`ConversationRef::admits`]. Whoever [wrote](Start::by) in it may not decide
/// about its requests for approval, except for the operator.
pub struct Chat<In, Out> {
    agent: AgentRef<In, Out>,
    id: String,
    scope: Scope,
}

impl<In, Out> Chat<In, Out> {
    pub(crate) fn new(agent: AgentRef<In, Out>, id: String) -> Self {
        Chat {
            agent,
            id,
            scope: Scope::default(),
        }
    }

    /// Sets the scope that the messages work for, unless a message sets a scope of its own.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Returns the id of the conversation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the messages of the conversation, tool calls and their results included: see
    /// [`ConversationRef::messages`].
    ///
    /// # Errors
    /// As [`ConversationRef::messages`].
    pub async fn messages(&self) -> Result<Vec<Message>, RuntimeError> {
        self.stored().messages().await
    }

    /// Returns a handle to the conversation as it is stored.
    pub fn stored(&self) -> ConversationRef {
        let client = self.agent.runtime().as_client();
        client.conversation(self.scope.tenant_id(), &self.id)
    }
}

impl<In: Data, Out: Data> Chat<In, Out> {
    /// Prepares a message. [`start`](Start::start) stores the message, and returns the handle of its run. Awaiting the
    /// message stores it, works on its run in this process, and returns the answer.
    pub fn send(&self, input: impl IntoInput<In>) -> Start<Out> {
        let run = self.agent.run(input).scope(self.scope.clone());
        run.part_of(&self.id)
    }
}

impl<In, Out> Clone for Chat<In, Out> {
    fn clone(&self) -> Self {
        Chat {
            agent: self.agent.clone(),
            id: self.id.clone(),
            scope: self.scope.clone(),
        }
    }
}

impl<In, Out> fmt::Debug for Chat<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("agent", &self.agent.name())
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
