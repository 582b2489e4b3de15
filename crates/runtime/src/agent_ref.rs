//! Handles of registered agents, which start runs.

use crate::{Chat, Principal, RunRef, Runtime, RuntimeError, data::RunData};
use agents_core::{
    Budget, Error, Json,
    agent::{Data, Shorten},
    tool::Scope,
};
use agents_store::NewRun;
use futures_util::future::BoxFuture;
use std::{collections::BTreeMap, fmt, future::IntoFuture, marker::PhantomData};

/// Handle of an agent of a runtime, made by [`Runtime::agent`] and [`Runtime::agent_for`]. Clones are handles of the
/// same agent.
///
/// [`run`](AgentRef::run) prepares a run, and [`chat`](AgentRef::chat) begins a conversation or goes on with one.
///
/// ```
/// use agents::prelude::*;
/// use agents_runtime::{Runtime, SqliteStore};
/// # use agents::testing::{Script, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("A machine tool."), Script::text("A lathe."), Script::text("From 900 euros.")]);
/// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
/// let support = runtime.agent(AgentBuilder::<String, String>::new("support").build());
/// assert_eq!(support.name(), "support");
///
/// // A run of its own.
/// assert_eq!(support.run("What is a lathe?").await?, "A machine tool.");
///
/// // Two messages of one conversation: the second knows the first.
/// support.chat("case-7").send("I turn wood. What do I need?").await?;
/// assert_eq!(support.chat("case-7").send("And what does it cost?").await?, "From 900 euros.");
/// # Ok(())
/// # }
/// ```
pub struct AgentRef<In, Out> {
    runtime: Runtime,
    name: String,
    types: PhantomData<fn(In) -> Out>,
}

impl<In, Out> Clone for AgentRef<In, Out> {
    fn clone(&self) -> Self {
        AgentRef::new(self.runtime.clone(), self.name.clone())
    }
}

impl<In, Out> fmt::Debug for AgentRef<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentRef").field(&self.name).finish()
    }
}

impl<In, Out> AgentRef<In, Out> {
    pub(crate) fn new(runtime: Runtime, name: String) -> Self {
        AgentRef {
            runtime,
            name,
            types: PhantomData,
        }
    }

    /// Returns the name of the agent, by which runs name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Shortens the conversations of this agent before each message, as [`KeepLast`](agents_core::agent::KeepLast) or
    /// [`Summarize`](agents_core::agent::Summarize) does, or a policy of your own. Set it in every process that works.
    ///
    /// ```
    /// use agents::{agent::KeepLast, prelude::*};
    /// use agents_runtime::{Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, asked) = ScriptedModel::always(Script::text("Yes."));
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// let support = runtime.agent(AgentBuilder::<String, String>::new("support").build()).shorten(KeepLast::exchanges(2));
    /// for question in ["Is it a lathe?", "Is it new?", "Is it mine?", "Is it heavy?"] {
    ///     support.chat("case-7").send(question).await?;
    /// }
    /// // The last message came with the two exchanges before it, and nothing else.
    /// assert_eq!(asked.requests()[3].messages.len(), 2 * 2 + 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn shorten(self, policy: impl Shorten + 'static) -> Self {
        self.runtime.shared.shorten_with(&self.name, policy);
        self
    }

    /// Returns the conversation with this id, which begins with its first message. The id may be any text, such as the
    /// number of a support case.
    pub fn chat(&self, id: impl Into<String>) -> Chat<In, Out> {
        Chat::new(self.clone(), id.into())
    }
}

impl<In: Data, Out: Data> AgentRef<In, Out> {
    /// Prepares a run. [`start`](Start::start) stores the run, and returns its handle. Awaiting the run stores it,
    /// works on it in this process, and returns the answer.
    pub fn run(&self, input: impl agents_core::agent::IntoInput<In>) -> Start<Out> {
        Start {
            runtime: self.runtime.clone(),
            agent: self.name.clone(),
            input: Json::of(&input.into_input()).map_err(|error| error.to_string()),
            scope: Scope::default(),
            budget: None,
            by: None,
            key: None,
            priority: 0,
            conversation: None,
            streamed: false,
            labels: BTreeMap::new(),
            out: PhantomData,
        }
    }
}

/// Run that is about to start, made by [`AgentRef::run`] and [`Chat::send`].
///
/// [`start`](Start::start) stores the run, and returns its handle at once: a worker of any process works on it. Awaiting
/// the value itself stores the run as well, works on it in this process, and returns the answer.
///
/// ```
/// use agents::prelude::*;
/// use agents_runtime::{Principal, Runtime, SqliteStore};
/// # use agents::testing::{Script, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
/// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
/// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
/// let ada = Principal::new("ada", "acme");
/// let october = payer.run("Pay the bills of October.").scope("acme").by(&ada).key("bills-2026-10");
/// let run = october.start().await?;
///
/// // The key stands for this run: starting it again starts no other one.
/// let again = payer.run("Pay the bills of October.").scope("acme").key("bills-2026-10").start().await?;
/// assert_eq!(again.id(), run.id());
///
/// let answer = payer.run("Pay the bills of November.").scope("acme").await?;
/// assert_eq!(answer, "Paid.");
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing until it is started or awaited"]
pub struct Start<Out> {
    runtime: Runtime,
    agent: String,
    input: Result<Json, String>,
    scope: Scope,
    budget: Option<Budget>,
    by: Option<Principal>,
    key: Option<String>,
    priority: i32,
    conversation: Option<String>,
    streamed: bool,
    labels: BTreeMap<String, String>,
    out: PhantomData<fn() -> Out>,
}

impl<Out: Data> Start<Out> {
    /// Makes the run a message in the conversation with this id.
    pub(crate) fn part_of(mut self, conversation: &str) -> Self {
        self.conversation = Some(conversation.to_owned());
        self
    }

    /// Sets the scope that the run works for; by default, the tenant `""` without a user.
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Names the principal who starts the run. This principal may not decide about the run's requests for approval,
    /// unless it is the [operator](Principal::operator), but may answer its questions. By default nobody is named, so
    /// that nobody is kept from deciding on this ground.
    pub fn by(mut self, by: &Principal) -> Self {
        self.by = Some(by.clone());
        self
    }

    /// Sets a key by which the caller knows the run; none by default. Starting a run of the agent with the same key
    /// again, for the same tenant, returns the run that is there; with another input, scope or conversation, it fails.
    /// The key of a run that was erased is free again.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the budget of the whole run, in addition to the budgets of its agents. By default, the budgets of the
    /// agents apply alone.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Sets the priority: of the runs that can go on, the one with the highest goes first. 0 by default.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Stores the text of models as it is written, for readers in any process: see
    /// [`Events::text`](crate::Events::text) and [`Events::with_text`](crate::Events::with_text). Text is stored ten times
    /// a second at most, or once for each kilobyte, and is kept for an hour.
    ///
    /// A model that is asked for a stream is not asked [again](agents_core::model::Retry) after a failure, once a part
    /// of its reply was read. So do not call this method where nobody reads along.
    pub fn streamed(mut self) -> Self {
        self.streamed = true;
        self
    }

    /// Adds a label, by which runs are found: see [`RunFilter`](agents_store::RunFilter). Labels are not encrypted, so
    /// they are no place for personal data. If the [key](Start::key) stands for a run that is there already, the labels
    /// of that run stay as they are.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::always(Script::text("Paid."));
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
    /// use agents_store::RunFilter;
    ///
    /// let run = payer.run("Pay the bills of October.").label("month", "2026-10").start().await?;
    ///
    /// let labels = [("month".to_owned(), "2026-10".to_owned())].into();
    /// let of_october = runtime.as_client().runs(&RunFilter { labels, ..RunFilter::default() }).await?;
    /// assert_eq!(of_october[0].id, run.id());
    /// # Ok(())
    /// # }
    /// ```
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Stores the run, and returns its handle. A worker works on the run: [`Runtime::work`].
    ///
    /// # Errors
    /// When the input cannot be stored, the key belongs to a run with another input, scope or conversation, or the
    /// conversation is one with another agent, or does not [admit](crate::ConversationRef::admits) whoever
    /// [sends](Start::by) the message. When the keyring cannot be read or written, or the store fails.
    pub async fn start(self) -> Result<RunRef<Out>, RuntimeError> {
        let Start {
            runtime,
            agent,
            input,
            scope,
            budget,
            by,
            key,
            priority,
            conversation,
            streamed,
            labels,
            ..
        } = self;
        let input = input.map_err(|why| crate::wording::input_not_stored(&why))?;
        let client = runtime.client.clone();
        if let (Some(id), Some(by)) = (&conversation, &by) {
            let conversation = client.conversation(scope.tenant_id(), id);
            if !conversation.admits(by).await? {
                return Err(crate::wording::conversation_of_another(id, by.id()));
            }
        }
        let data = RunData {
            budget,
            by,
            conversation,
            unchecked: runtime.shared.agent(&agent).is_none(),
            streamed,
            ..RunData::new(input, scope)
        };
        let new = NewRun {
            key,
            priority,
            labels,
            ..data.run_of(agent, &*client.keys()?)?
        };
        let stored = client.created(&new, &data).await?;
        runtime.shared.news.notify_waiters();
        Ok(RunRef::new(client, stored.id))
    }
}

impl<Out: Data> IntoFuture for Start<Out> {
    type Output = Result<Out, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    /// Starts the run, works on it in this process until it is over, and returns its answer. The future waits for
    /// people as long as they take, and for another process if this one does not have the agent. A run that is held is
    /// an error.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let runtime = self.runtime.clone();
            let run = self.start().await?;
            runtime.work_on(run.id()).await?;
            run.outcome().await?.result
        })
    }
}

impl<Out> fmt::Debug for Start<Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("agent", &self.agent)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
