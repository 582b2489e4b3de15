//! Two agents, one after the other.

use super::said_of;
use crate::{
    Agent, Error,
    agent::{Data, Profile},
    context::RunContext,
};
use async_trait::async_trait;

/// Helper bound: an agent whose input is the output `T` of the agent `Before`, so that it can
/// follow it.
///
/// The parameter `Own` is the agent's own input type. With it the compiler can name both agents and
/// both types when they do not fit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot follow `{Before}`: it takes `{Own}`, and is given `{T}`",
    label = "this agent takes `{Own}`, the one before it gives `{T}`",
    note = "put an agent between the two that turns the one into the other, use `.map(..)` on the first, or change the one's `Out` or the other's `In`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Takes<T, Before, Own>: Agent<In = T> {}

#[diagnostic::do_not_recommend]
impl<A: Agent<In = T>, T: Data, Before> Takes<T, Before, T> for A {}

/// Two agents in sequence, made by [`Agent::then`].
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let count = AgentBuilder::<String, usize>::new("count")
///     .skill(Skill::native("count", "Counts.", |text: String| async move { Ok(text.len()) }))
///     .build();
/// let double = AgentBuilder::<usize, usize>::new("double")
///     .skill(Skill::native("double", "Doubles.", |n: usize| async move { Ok(2 * n) }))
///     .build();
/// let both = count.then(double);
/// assert_eq!(both.name(), "count > double");
/// assert_eq!(both.run("abc").await?, 6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Then<A, B> {
    first: A,
    second: B,
    name: String,
    description: String,
}

impl<A: Agent, B: Agent> Then<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        let name = format!("{} > {}", first.name(), second.name());
        let description = format!("{}; then: {}", said_of(&first), said_of(&second));
        Then {
            first,
            second,
            name,
            description,
        }
    }
}

#[async_trait]
impl<A: Agent, B: Agent<In = A::Out>> Agent for Then<A, B> {
    type In = A::In;
    type Out = B::Out;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn profile(&self) -> Profile {
        let second = self.second.profile();
        let answer = second.answer.clone();
        Profile {
            answer,
            ..Profile::of_parts([self.first.profile(), second])
        }
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<B::Out, Error> {
        let between = self.first.run_in(cx, input).await?;
        self.second.run_in(&cx.speaking(), between).await
    }
}
