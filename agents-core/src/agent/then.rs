use super::Agent;
use crate::{Error, run::Cx};
use async_trait::async_trait;

/// An agent that can follow one that gives a `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot follow here: the agent before it gives `{T}`",
    label = "this agent does not take `{T}`",
    note = "put an agent between the two that turns the one into the other, or change the one's `Out` or the other's `In`"
)]
pub trait Takes<T>: Agent<In = T> {}

#[diagnostic::do_not_recommend]
impl<A: Agent<In = T>, T> Takes<T> for A {}

/// Two agents in a row; made by [`Agent::then`].
#[derive(Debug)]
pub struct Then<A, B> {
    first: A,
    second: B,
    name: String,
}

impl<A: Agent, B: Takes<A::Out>> Then<A, B> {
    pub(super) fn new(first: A, second: B) -> Self {
        let name = format!("{} > {}", first.name(), second.name());
        Then {
            first,
            second,
            name,
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

    async fn work(&self, cx: &Cx, input: A::In) -> Result<B::Out, Error> {
        let between = self.first.run_in(cx, input).await?;
        self.second.run_in(cx, between).await
    }
}
