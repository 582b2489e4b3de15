//! A plain function on an agent's answer.

use super::wording;
use crate::{
    Agent, Error,
    agent::{Data, Profile},
    context::RunContext,
    panics::{self, guarded},
};
use async_trait::async_trait;
use std::fmt;

/// An agent followed by a plain function on its output, made by [`Agent::map`].
///
/// The composite has the agent's name and works in the agent's place: a function adds no depth and no entry of its own
/// in a journal. If a run goes on that was stored before the composite had ended, the function is called again.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let greet = AgentBuilder::<String, String>::new("greet")
///     .skill(Skill::native("greet", "Greets.", |name: String| async move { Ok(format!("hi {name}")) }))
///     .build();
/// let length = greet.map(|text| text.len());
/// assert_eq!(length.name(), "greet");
/// assert_eq!(length.run("Ann").await?, 6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Map<A, F> {
    agent: A,
    function: F,
}

impl<A, F> Map<A, F> {
    pub(crate) fn new(agent: A, function: F) -> Self {
        Map { agent, function }
    }
}

#[async_trait]
impl<A, F, T> Agent for Map<A, F>
where
    A: Agent,
    F: Fn(A::Out) -> T + Send + Sync,
    T: Data,
{
    type In = A::In;
    type Out = T;

    fn name(&self) -> &str {
        self.agent.name()
    }

    fn description(&self) -> &str {
        self.agent.description()
    }

    fn profile(&self) -> Profile {
        self.agent.profile()
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<T, Error> {
        let output = self.agent.work(cx, input).await?;
        let what = || wording::function_behind(self.agent.name());
        guarded(|| (self.function)(output)).map_err(|panic| panics::error(what())(panic))
    }
}

impl<A: fmt::Debug, F> fmt::Debug for Map<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map")
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}
