//! A race: the first answer wins.

use super::{
    ends_everything,
    wording::{self, listed},
};
use crate::{
    Agent, Error, ErrorKind,
    agent::{Data, Profile},
    context::RunContext,
};
use async_trait::async_trait;
use futures_util::stream::{FuturesUnordered, StreamExt};

/// Helper bound: an agent with the input `I` and the output `O` of the agent `First`, so that the
/// two can race.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot race with `{First}`: it takes `{OwnIn}` and gives `{OwnOut}`, and the other takes `{I}` and gives `{O}`",
    label = "this agent takes `{OwnIn}` and gives `{OwnOut}`, the first one takes `{I}` and gives `{O}`",
    note = "whichever wins, its answer is the answer: give all racers one `In` and one `Out`, for example with `.map(..)` on the one that differs"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait RaceWith<I, O, First, OwnIn, OwnOut>: Agent<In = I, Out = O> {}

#[diagnostic::do_not_recommend]
impl<A: Agent<In = I, Out = O>, I: Data, O: Data, First> RaceWith<I, O, First, I, O> for A {}

/// Agents that can race: a tuple of 2 to 8, a `Vec` or an array, all with the same input and output
/// types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not agents that can race",
    label = "expected a tuple of agents here",
    note = "write a tuple of 2 to 8 agents such as `first_of((fast, slow))`, or a `Vec` or an array of agents of one type"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Race: Send + Sync {
    /// Input that each agent gets a copy of.
    type In: Data + Clone;
    /// Output that every one of the agents gives.
    type Out: Data;

    /// Returns the agents, in the order in which they are written.
    fn racers(&self) -> Vec<&dyn Agent<In = Self::In, Out = Self::Out>>;
}

/// Composite in which the first agent to answer wins, made by [`first_of`].
#[derive(Clone, Debug)]
pub struct FirstOf<P> {
    racers: P,
    name: String,
    description: String,
}

/// Runs several agents concurrently and returns the first successful answer; the others are
/// cancelled.
///
/// The failure of one agent does not end the race: the others run on. Only an error that concerns the whole run ends
/// the race at once, such as a cancellation or a critical escalation. A race of an empty `Vec` or array is an error.
///
/// As soon as one agent has answered, the others are dropped, with all their work. The tokens and the cost of their
/// finished requests stay charged, and their receipts are kept. A request in progress is not charged, because its cost
/// is unknown. The agents start in the order in which they are written. If one agent answers at once, the agents after
/// it do not start.
///
/// If all agents fail, the error is that of the agent that failed last, with the other errors in its context.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, ModelAgent, Skill};
/// use agents::compose::first_of;
/// use agents::{Agent, Error};
/// use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Error> {
///
/// fn waits(name: &'static str, millis: u64) -> ModelAgent<'static, String, String> {
///     let body = move |question: String| async move {
///         tokio::time::sleep(Duration::from_millis(millis)).await;
///         Ok(format!("{name}: {question}"))
///     };
///     AgentBuilder::new(name).skill(Skill::native("wait", "Waits.", body)).build()
/// }
/// let race = first_of((waits("slow", 60_000), waits("fast", 5)));
/// assert_eq!(race.name(), "first_of(slow, fast)");
/// assert_eq!(race.run("who?").await?, "fast: who?");
/// # Ok(())
/// # }
/// ```
pub fn first_of<P: Race>(racers: P) -> FirstOf<P> {
    let names: Vec<_> = racers.racers().iter().map(|agent| agent.name()).collect();
    let name = format!("first_of({})", listed(&names));
    let description = wording::race(&names);
    FirstOf {
        racers,
        name,
        description,
    }
}

#[async_trait]
impl<P: Race> Agent for FirstOf<P> {
    type In = P::In;
    type Out = P::Out;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn profile(&self) -> Profile {
        Profile::of_parts(self.racers.racers().iter().map(|agent| agent.profile()))
    }

    async fn work(&self, cx: &RunContext, input: P::In) -> Result<P::Out, Error> {
        let racers = self.racers.racers();
        let cx = &cx.speaking();
        let mut race: FuturesUnordered<_> = racers
            .iter()
            .map(|agent| {
                let answer = agent.run_in(cx, input.clone());
                async move { (agent.name(), answer.await) }
            })
            .collect();
        let mut failed = Vec::new();
        while let Some((agent, answer)) = race.next().await {
            match answer {
                Err(error) if loses(&error) => failed.push((agent, error)),
                Err(error) => return Err(error),
                Ok(answer) => {
                    // The others are dropped here, and their open work is closed.
                    return Ok(answer);
                }
            }
        }
        Err(nobody(&self.name, failed))
    }
}

/// Returns `true` if the race goes on with the other agents after this error. A recording does not hold the requests of
/// a loser after it was dropped. In a replay such a loser therefore fails, and loses by that.
fn loses(error: &Error) -> bool {
    error.kind() == ErrorKind::Replay || !ends_everything(error)
}

/// Returns the error of a race that no agent has won: the last error, with those of the other agents as context.
fn nobody(race: &str, mut failed: Vec<(&str, Error)>) -> Error {
    let Some((last, error)) = failed.pop() else {
        return Error::new(ErrorKind::Build, wording::NO_RACERS);
    };
    error.context(wording::nobody_won(race, &failed, last))
}

/// Implements [`Race`] for the tuple `(A, B)`: `racers!(A B)`.
macro_rules! racers {
    ($first:ident $($part:ident)+) => {
        #[allow(non_snake_case)]
        impl<$first: Agent, $($part: Agent),+> Race for ($first, $($part),+)
        where
            $first::In: Clone,
            $($part: RaceWith<$first::In, $first::Out, $first, <$part as Agent>::In, <$part as Agent>::Out>),+
        {
            type In = $first::In;
            type Out = $first::Out;

            fn racers(&self) -> Vec<&dyn Agent<In = Self::In, Out = Self::Out>> {
                let ($first, $($part),+) = self;
                vec![$first, $($part),+]
            }
        }
    };
}

racers!(A B);
racers!(A B C);
racers!(A B C D);
racers!(A B C D E);
racers!(A B C D E F);
racers!(A B C D E F G);
racers!(A B C D E F G H);

impl<A: Agent> Race for Vec<A>
where
    A::In: Clone,
{
    type In = A::In;
    type Out = A::Out;

    fn racers(&self) -> Vec<&dyn Agent<In = A::In, Out = A::Out>> {
        self.iter().map(|agent| agent as _).collect()
    }
}

impl<A: Agent, const N: usize> Race for [A; N]
where
    A::In: Clone,
{
    type In = A::In;
    type Out = A::Out;

    fn racers(&self) -> Vec<&dyn Agent<In = A::In, Out = A::Out>> {
        self.iter().map(|agent| agent as _).collect()
    }
}
