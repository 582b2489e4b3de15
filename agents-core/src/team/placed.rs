use super::Placement;
use crate::{Agent, Error, agent::Profile, run::Cx};
use async_trait::async_trait;
use std::{fmt, sync::Arc, time::Duration};

/// An agent at its place in a team: it has the tools that its place grants, and its delegates.
///
/// [`delegate`](super::delegate()) gives one to code, which runs it like any agent:
///
/// ```
/// # use agents_core as agents;
/// use agents::team::{Placed, delegate};
/// use agents::{Agent, Error};
///
/// async fn ask<C: Agent<In = String, Out = String> + 'static>(task: String) -> Result<String, Error> {
///     let coder = delegate::<C>()?;
///     let coder: &Placed<C> = &coder;
///     coder.run(task).await
/// }
/// ```
pub struct Placed<A> {
    pub(super) agent: A,
    pub(super) placement: Arc<Placement>,
}

impl<A: Agent> Placed<A> {
    /// The agent's work under what its place says; `allowed` where a call bounds its time.
    pub(super) async fn work_within(
        &self,
        cx: &Cx,
        input: A::In,
        allowed: Option<Duration>,
    ) -> Result<A::Out, Error> {
        let cx = cx.placed(&self.placement, allowed);
        let budget = &self.placement.budget;
        cx.node.bound_place(budget);
        // A call has its own deadline.
        let is_called = cx.place().is_some_and(|place| place.allowed.is_some());
        let time = budget.time.filter(|_| !is_called);
        let work = async |cx: &Cx| cx.clone().enter(self.agent.work(cx, input)).await;
        cx.within(time, work).await
    }
}

#[async_trait]
#[diagnostic::do_not_recommend]
impl<A: Agent> Agent for Placed<A> {
    type In = A::In;
    type Out = A::Out;

    fn name(&self) -> &str {
        self.agent.name()
    }

    fn description(&self) -> &str {
        self.agent.description()
    }

    fn profile(&self) -> Profile {
        Profile::of_team(self.placement.clone())
    }

    async fn work(&self, cx: &Cx, input: A::In) -> Result<A::Out, Error> {
        self.work_within(cx, input, None).await
    }
}

impl<A> fmt::Debug for Placed<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed")
            .field("agent", &self.placement.name)
            .finish_non_exhaustive()
    }
}
