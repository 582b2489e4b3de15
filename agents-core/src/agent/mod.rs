//! Agents: typed async functions `In -> Out` that may use a model, their builder and their runs.
//!
//! [`Agent`] is the trait. [`AgentBuilder`] makes a [`ModelAgent`], which a model drives. A [`Skill`] is
//! one of the ways in which an agent can answer.
//!
//! ```
//! # use agents_core as agents;
//! use agents::{Agent, AgentBuilder};
//! # use agents::testing::{Script, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! # let (model, _) = ScriptedModel::new([Script::text("42"), Script::text("7")]);
//! let adder = AgentBuilder::<String, u32>::new("adder").prompt("Add.").model(model).build();
//! // A run is awaited for its answer, or for its outcome: the answer with everything else that is known.
//! assert_eq!(adder.run("17 + 25").await?, 42);
//! let outcome = adder.run("3 + 4").outcome().await?;
//! assert_eq!((outcome.result?, outcome.usage.requests), (7, 1));
//! # Ok(())
//! # }
//! ```

mod builder;
mod chat;
mod equipment;
mod escalations;
mod hand_off;
mod held;
mod io;
mod knowledge;
mod knowledge_folder;
mod policies;
mod repair_agent;
mod run;
mod runner;
mod signature;
mod skill;
mod skill_choice;
mod summarize;
mod wording;
mod work;

pub use crate::{
    definition::{ContextPolicy, IntoPrompt, IntoVerdict},
    model::{KeepLast, Shorten},
    place::{KnownTool, Profile},
};
pub use builder::{AgentBuilder, ModelAgent};
pub use chat::{Chat, Conversation};
pub(crate) use io::prompt_of;
pub use io::{Data, IntoInput};
pub use knowledge::KnowledgeText;
pub use knowledge_folder::KnowledgeFolder;
pub use run::{
    Partial, PartialStream, Progress, Run, RunStream, TextDelta, TextFollower, TextStream,
};
pub use runner::AgentRunner;
pub(crate) use signature::IntoSource;
pub use signature::{AgentData, AgentFault, ModelAnswer};
pub use skill::Skill;
pub use summarize::{Summarize, compact, trim};

#[cfg(feature = "compose")]
use crate::compose::{IntoStep, Map, Takes, Then, Until};
use crate::{Error, ErrorKind, Json, context::RunContext, engine::receipt::Leaving};
use async_trait::async_trait;

/// Typed async function `In -> Out` that may use a model to compute its result.
///
/// `#[agent]` implements the trait for a function or an `impl` block; [`AgentBuilder`] makes an agent by hand. A type
/// of your own implements [`name`](Agent::name) and [`work`](Agent::work), and may implement
/// [`description`](Agent::description) and [`profile`](Agent::profile). All other methods are the same for all agents.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, Error, async_trait, run::RunContext};
///
/// struct Shout;
///
/// #[async_trait]
/// impl Agent for Shout {
///     type In = String;
///     type Out = String;
///
///     fn name(&self) -> &str {
///         "shout"
///     }
///
///     async fn work(&self, _: &RunContext, input: String) -> Result<String, Error> {
///         Ok(input.to_uppercase())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// assert_eq!(Shout.run("hello").await?, "HELLO");
/// assert_eq!(Shout.map(|text| text.len()).run("hello").await?, 5);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "expected an agent here",
    note = "an agent is the CamelCase type that `#[agent]` leaves beside the function, an `#[agent] impl`, or agents put together such as `a.then(b)`"
)]
pub trait Agent: Send + Sync {
    /// Type of the input that the agent takes, such as `String`.
    type In: Data;
    /// Type of the output that the agent gives, such as a struct.
    type Out: Data;

    /// Returns the agent's name, which must be stable: recordings and stored runs find the agent by its name. The name
    /// is a constant of the program, not made of data.
    fn name(&self) -> &str;

    /// Returns the description that callers of the agent are shown; empty by default.
    fn description(&self) -> &str {
        ""
    }

    /// Describes the agent before it runs: its tools, its skills and its bounds. By default, the profile is empty.
    ///
    /// An agent that hands its work to another agent returns the profile of that agent.
    fn profile(&self) -> Profile {
        Profile::new()
    }

    /// Does the agent's work, at the place in the run that `cx` stands for.
    ///
    /// Call [`run`](Agent::run) or [`run_in`](Agent::run_in) instead of this method: they keep the records of the run.
    ///
    /// # Errors
    /// With the reason why there is no answer. [`Error::escalated`] hands the failure to the agent above, and
    /// [`Error::thrown`] ends the whole run.
    async fn work(&self, cx: &RunContext, input: Self::In) -> Result<Self::Out, Error>;

    /// Prepares a run of the agent; await the returned [`Run`] for the answer, or configure it
    /// first.
    ///
    /// Inside a tool or another agent, the run is a part of the run that goes on there. It shares that run's budget,
    /// cancellation and model, unless a setting makes it [a run of its own](Run). In a spawned task, a run of its own
    /// starts instead; use [`run_in`](Agent::run_in) there.
    fn run(&self, input: impl IntoInput<Self::In>) -> Run<'_, Self>
    where
        Self: Sized,
    {
        Run::new(self, input.into_input())
    }

    /// Starts a conversation, in which each [`send`](Chat::send) continues the previous ones.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Ada"), Script::text("Ada, as you said")]);
    /// # let agent = AgentBuilder::<String, String>::new("host").model(model).build();
    /// let mut chat = agent.chat();
    /// chat.send("My name is Ada.").await?;
    /// assert_eq!(chat.send("What is my name?").await?, "Ada, as you said");
    /// # Ok(())
    /// # }
    /// ```
    fn chat(&self) -> Chat<'_, Self>
    where
        Self: Sized,
    {
        Chat::new(self)
    }

    /// Starts a conversation that owns the agent, so that it can be a field of a struct, or wait in the state of a
    /// server.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, agent::ModelAgent, testing::{Script, ScriptedModel}};
    /// use agents::agent::Chat;
    ///
    /// struct Session {
    ///     user: String,
    ///     chat: Chat<'static, ModelAgent<'static, String, String>>,
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Ada"), Script::text("Ada, as you said")]);
    /// # let host = AgentBuilder::<String, String>::new("host").model(model).build();
    ///
    /// // An agent that several conversations share is in an `Arc`: `Chat<'static, Arc<Host>>`.
    /// let mut session = Session { user: "Ada".into(), chat: host.into_chat() };
    /// session.chat.send(format!("My name is {}.", session.user)).await?;
    /// assert_eq!(session.chat.send("What is my name?").await?, "Ada, as you said");
    /// # Ok(())
    /// # }
    /// ```
    fn into_chat(self) -> Chat<'static, Self>
    where
        Self: Sized,
    {
        Chat::owned(self)
    }

    /// Runs the agent as a part of the run that `cx` belongs to.
    ///
    /// # Errors
    /// When the agent's own work fails, or the run is over. When the input or the output cannot be written as JSON, or
    /// the answer in a stored run cannot be read. If the agent throws, the whole run ends, and the call never returns.
    async fn run_in(&self, cx: &RunContext, input: Self::In) -> Result<Self::Out, Error> {
        let key = Json::of(&input).map_err(|error| unwritable(self.name(), "input", &error))?;
        let child = cx.agent_child(self.name(), key.as_str());
        // A partial result of a repair agent concerns the repair, and not the call.
        let top = child
            .enclosing_repair()
            .map_or(0, |repair| repair.level() + 1);
        if let Some(done) = child.result() {
            child.node.hand_up_partial(top);
            return done.to().map_err(|error| {
                Error::new(
                    ErrorKind::Replay,
                    wording::stored_answer_misfits(self.name(), &error),
                )
            });
        }
        let working = child.began();
        let leaving = Leaving::of(&child);
        let result = child.carry_out(self.name(), self.work(&child, input)).await;
        working.ended(result.is_ok());
        let output = match result {
            Ok(output) => {
                leaving.done();
                output
            }
            // The whole run ends, even if a caller of the agent would handle an error.
            Err(error) if error.kind() == ErrorKind::Thrown => {
                match child.thrown(self.name(), &error).await {}
            }
            Err(error) => return Err(error),
        };
        child.finish(Json::of(&output).map_err(|error| unwritable(self.name(), "output", &error))?);
        child.node.hand_up_partial(top);
        Ok(output)
    }

    /// Chains `next` after this agent: the input of `next` is this agent's output; see [`Then`].
    #[cfg(feature = "compose")]
    fn then<B>(self, next: B) -> Then<Self, B>
    where
        Self: Sized,
        B: Agent + Takes<Self::Out, Self, <B as Agent>::In>,
    {
        Then::new(self, next)
    }

    /// Repeats this agent until `verdict` returns `Done(value)`. With `Again(input)`, the agent runs once more.
    ///
    /// Bound the number of runs with [`at_most`](Until::at_most); see [`Until`].
    #[cfg(feature = "compose")]
    fn until<F, V>(self, verdict: F) -> Until<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Out) -> V + Send + Sync,
        V: IntoStep<Self::In>,
    {
        Until::new(self, verdict)
    }

    /// Applies a plain function to this agent's output; see [`Map`].
    #[cfg(feature = "compose")]
    fn map<F, T>(self, function: F) -> Map<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Out) -> T + Send + Sync,
        T: Data,
    {
        Map::new(self, function)
    }

    /// Boxes the agent as a trait object, so that different agents of one signature can share a
    /// type.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, Error, agent::Skill};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// # let ten = AgentBuilder::<u32, u32>::new("ten").skill(Skill::native("add", "Adds.", |x: u32| async move { Ok(x + 10) })).build();
    /// # let twice = AgentBuilder::<u32, u32>::new("twice").skill(Skill::native("add", "Adds.", |x: u32| async move { Ok(x * 2) })).build();
    /// // Which agents there are is known at run time only, from a file for one.
    /// let plugins = vec![ten.boxed(), twice.map(|n| n + 1).boxed()];
    /// assert_eq!(plugins.run(5_u32).await?, [15, 11]);
    /// # Ok(())
    /// # }
    /// ```
    fn boxed<'a>(self) -> Box<dyn Agent<In = Self::In, Out = Self::Out> + 'a>
    where
        Self: Sized + 'a,
    {
        Box::new(self)
    }
}

pub(crate) fn unwritable(agent: &str, what: &str, error: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Failed, wording::not_json(what, agent, error))
}

#[async_trait]
#[diagnostic::do_not_recommend]
impl<A: Agent + ?Sized> Agent for Box<A> {
    type In = A::In;
    type Out = A::Out;

    fn name(&self) -> &str {
        (**self).name()
    }

    fn description(&self) -> &str {
        (**self).description()
    }

    fn profile(&self) -> Profile {
        (**self).profile()
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<A::Out, Error> {
        (**self).work(cx, input).await
    }
}

#[async_trait]
#[diagnostic::do_not_recommend]
impl<A: Agent + ?Sized> Agent for std::sync::Arc<A> {
    type In = A::In;
    type Out = A::Out;

    fn name(&self) -> &str {
        (**self).name()
    }

    fn description(&self) -> &str {
        (**self).description()
    }

    fn profile(&self) -> Profile {
        (**self).profile()
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<A::Out, Error> {
        (**self).work(cx, input).await
    }
}
