use super::wording;
use crate::{
    Agent, Error, ErrorKind, Json,
    agent::unwritable,
    context::RunContext,
    place::{Placement, Profile, tool_name},
    run::{Approval, ApprovalReason, ApprovalRequest},
    shared::Shared,
};
use async_trait::async_trait;
use std::{fmt, sync::Arc, time::Duration};

/// Agent at its place in a team, with its delegates and the tools that its place grants.
///
/// [`delegate`](super::delegate()) returns one to code, which runs it like any agent:
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
    agent: Arc<A>,
    pub(super) placement: Shared<Placement>,
    /// Name of the agent above, if its code needs approval before each run of this agent; else `None`.
    confirmed_for: Option<String>,
}

impl<A> Placed<A> {
    pub(super) fn new(agent: A, placement: Shared<Placement>) -> Self {
        Placed {
            agent: Arc::new(agent),
            placement,
            confirmed_for: None,
        }
    }

    /// Returns the delegate for code of the agent `above`, which needs approval before each run of it.
    pub(super) fn confirmed_for(&self, above: &str) -> Self {
        Placed {
            agent: self.agent.clone(),
            placement: self.placement.clone(),
            confirmed_for: Some(above.to_owned()),
        }
    }
}

impl<A: Agent> Placed<A> {
    /// Asks the approver whether code of the agent `above` may run this agent with these arguments. Any decision but a
    /// plain approval is an error.
    async fn confirm(&self, cx: &RunContext, above: &str, args: Json) -> Result<(), Error> {
        let name = self.name();
        let place = cx.node.path().to_string();
        let request = ApprovalRequest {
            id: place.clone(),
            effects: self.placement.effects(),
            reasons: vec![ApprovalReason::Place],
            call_id: place,
            ..ApprovalRequest::new(above, tool_name(name), args)
        };
        let why = match cx.approve(request).await {
            Approval::Approve => return Ok(()),
            Approval::ApproveWith { .. } => wording::INPUT_CANNOT_BE_CHANGED.to_owned(),
            Approval::Answer { .. } => wording::ASKS_NOTHING.to_owned(),
            Approval::Deny { reason } | Approval::Expired { reason } => wording::denied(&reason),
            Approval::Revise { note } => wording::to_be_revised(&note),
        };
        Err(Error::new(ErrorKind::Denied, why).context(format!("agent `{name}`")))
    }

    /// Runs the agent with the settings of its place. `allowed` is the time limit of the call; `None` if code runs it.
    pub(super) async fn work_within(
        &self,
        cx: &RunContext,
        input: A::In,
        allowed: Option<Duration>,
    ) -> Result<A::Out, Error> {
        let cx = cx.placed(&self.placement, allowed);
        let budget = &self.placement.budget;
        cx.node.bound_place(budget);
        // A call has its own deadline.
        let is_called = cx.place().is_some_and(|place| place.allowed.is_some());
        let time = budget.time.filter(|_| !is_called);
        let work = async |cx: &RunContext| cx.clone().enter(self.agent.work(cx, input)).await;
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

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<A::Out, Error> {
        if let Some(above) = &self.confirmed_for {
            let args = Json::of(&input);
            let args = args.map_err(|error| unwritable(self.name(), "input", &error))?;
            self.confirm(cx, above, args).await?;
        }
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
