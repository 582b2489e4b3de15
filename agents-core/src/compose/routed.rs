//! An agent, followed by the agent that its output selects.

use super::wording;
use crate::{
    Agent, Error,
    agent::{Data, IntoInput, Profile},
    context::RunContext,
    panics::{self, guarded, guarded_while},
};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use std::fmt;

/// An agent whose output selects the agent that continues, made by [`routed`] or `branch!`.
#[derive(Clone)]
pub struct Routed<A, T, F> {
    agent: A,
    targets: T,
    route: F,
    name: String,
}

/// Agents among which a route selects: a tuple of 1 to 12.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not agents of which one can go on",
    label = "expected a tuple of agents here",
    note = "write a tuple of 1 to 12 agents such as `(deploy, report)`; a single one has a comma, `(deploy,)`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Targets: Send + Sync {
    #[doc(hidden)]
    fn profiles(&self) -> Vec<Profile>;
}

/// Runs `agent`, then the one of the `targets` that `route` selects for its output.
///
/// The function `route` gets the targets by reference, so an agent that holds state can be a target. It returns the
/// future of [`run_in`](Agent::run_in), and a `match` makes sure that every output has a target.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::compose::routed;
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// type IntoStep = Result<String, u32>;
/// let review = AgentBuilder::<String, IntoStep>::new("review")
///     .skill(Skill::native("review", "Reviews.", |code: String| async move {
///         Ok(if code.contains("unwrap") { Err(1) } else { Ok(code) })
///     }))
///     .build();
/// let deploy = AgentBuilder::<String, String>::new("deploy")
///     .skill(Skill::native("deploy", "Deploys.", |code: String| async move { Ok(format!("{code} is live")) }))
///     .build();
/// let report = AgentBuilder::<u32, String>::new("report")
///     .skill(Skill::native("report", "Reports.", |n: u32| async move { Ok(format!("{n} defects")) }))
///     .build();
/// let shipped = routed(review, (deploy, report), |cx, verdict, (deploy, report)| match verdict {
///     Ok(code) => deploy.run_in(cx, code),
///     Err(defects) => report.run_in(cx, defects),
/// });
/// assert_eq!(shipped.run("x?").await?, "x? is live");
/// assert_eq!(shipped.run("x.unwrap()").await?, "1 defects");
/// # Ok(())
/// # }
/// ```
pub fn routed<A, T, O, F>(agent: A, targets: T, route: F) -> Routed<A, T, F>
where
    A: Agent,
    T: Targets,
    O: Data,
    F: for<'a> Fn(&'a RunContext, A::Out, &'a T) -> BoxFuture<'a, Result<O, Error>> + Send + Sync,
{
    Routed::new(agent, targets, route)
}

impl<A: Agent, T, F> Routed<A, T, F> {
    pub(crate) fn new(agent: A, targets: T, route: F) -> Self {
        let name = format!("routed({})", agent.name());
        Routed {
            agent,
            targets,
            route,
            name,
        }
    }
}

#[async_trait]
impl<A, T, O, F> Agent for Routed<A, T, F>
where
    A: Agent,
    T: Targets,
    O: Data,
    F: for<'a> Fn(&'a RunContext, A::Out, &'a T) -> BoxFuture<'a, Result<O, Error>> + Send + Sync,
{
    type In = A::In;
    type Out = O;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.agent.description()
    }

    fn profile(&self) -> Profile {
        let targets = self.targets.profiles().into_iter();
        Profile::of_parts([self.agent.profile()].into_iter().chain(targets))
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<O, Error> {
        let output = self.agent.run_in(cx, input).await?;
        let panicked = |panic| panics::error(wording::function_of(&self.name))(panic);
        let cx = cx.speaking();
        let next = guarded(|| (self.route)(&cx, output, &self.targets)).map_err(panicked)?;
        guarded_while(next).await.map_err(panicked)?
    }
}

impl<A: fmt::Debug, T, F> fmt::Debug for Routed<A, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routed")
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// Helper bound: an agent with the output `O` of the agent `First`, so that both can be targets of
/// one branch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in one branch with `{First}`: it gives `{Own}`, and the other gives `{O}`",
    label = "this agent gives `{Own}`, the first one gives `{O}`",
    note = "whichever goes on, its answer is the answer: give all of them one `Out`, for example with `.map(..)` on the one that differs"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Arm<O, First, Own>: Agent<Out = O> {}

#[diagnostic::do_not_recommend]
impl<A: Agent<Out = O>, O: Data, First> Arm<O, First, O> for A {}

/// Implements [`Targets`] for the tuple `(A, B)`: `targets!(A B)`.
macro_rules! targets {
    ($($part:ident)+) => {
        #[allow(non_snake_case)]
        impl<$($part: Agent),+> Targets for ($($part,)+) {
            fn profiles(&self) -> Vec<Profile> {
                let ($($part,)+) = self;
                vec![$($part.profile()),+]
            }
        }
    };
}

targets!(A);
targets!(A B);
targets!(A B C);
targets!(A B C D);
targets!(A B C D E);
targets!(A B C D E F);
targets!(A B C D E F G);
targets!(A B C D E F G H);
targets!(A B C D E F G H I);
targets!(A B C D E F G H I J);
targets!(A B C D E F G H I J K);
targets!(A B C D E F G H I J K L);

/// Creates the composite that `branch!` expands to. [`routed`] checks the traits of all targets together. Here
/// [`go_on`] checks them one by one, so that a compiler error points at one agent.
#[doc(hidden)]
pub fn branch<A, T, O, F>(agent: A, targets: T, route: F) -> Routed<A, T, F>
where
    A: Agent,
    F: for<'a> Fn(&'a RunContext, A::Out, &'a T) -> BoxFuture<'a, Result<O, Error>> + Send + Sync,
{
    Routed::new(agent, targets, route)
}

/// Runs the agent of one `match` arm of `branch!`, `agent.run(input)`; `first` is the agent of the first `match` arm.
#[doc(hidden)]
pub fn go_on<'a, First, A, O>(
    first: &First,
    agent: &'a A,
    cx: &'a RunContext,
    input: impl IntoInput<A::In>,
) -> BoxFuture<'a, Result<O, Error>>
where
    A: Agent + Arm<O, First, <A as Agent>::Out>,
    First: Agent<Out = O>,
{
    let _ = first;
    agent.run_in(cx, input.into_input())
}
