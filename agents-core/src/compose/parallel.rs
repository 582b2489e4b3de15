//! Several agents at once, on the same input: tuples, `Vec`s and arrays are agents.
//!
//! By default the first failure ends them all. [`settled`](super::settled()) lets each agent run to its end.

use super::{
    failed::{Failed, settle_one},
    keep,
    wording::{self, listed},
};
use crate::{
    Agent, Error, ErrorKind,
    agent::{Data, Profile},
    context::RunContext,
};
use async_trait::async_trait;
use futures_util::future::{try_join, try_join_all};

/// Helper bound: an agent that takes the same input `T` as the agent `First` and can run beside it.
///
/// A tuple of 2 to 8 agents with the same input type is an agent. The tuple gives its input to all of them and
/// runs them at once. Its output is a tuple of their outputs, in the order in which they are written. A `Vec` or
/// an array of agents of one type returns a `Vec` or an array. The input has to be `Clone`.
///
/// The first failure ends the others at once: they are dropped, and the failure is the tuple's. The tokens and the
/// cost that they used until then stay charged. [`settled`](super::settled()) is the other policy.
///
/// An array has a `map` of its own, which goes over the agents; to [`map`](Agent::map) their outputs, write
/// `vec![..]`.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let length = AgentBuilder::<String, usize>::new("length")
///     .skill(Skill::native("count", "Counts.", |text: String| async move { Ok(text.len()) }))
///     .build();
/// let shout = AgentBuilder::<String, String>::new("shout")
///     .skill(Skill::native("shout", "Shouts.", |text: String| async move { Ok(text.to_uppercase()) }))
///     .build();
/// let both = (length, shout);
/// assert_eq!(both.name(), "(length, shout)");
/// assert_eq!(both.run("ah").await?, (2, "AH".to_owned()));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand beside `{First}`: it takes `{Own}`, and the other takes `{T}`",
    label = "this agent takes `{Own}`, the first one takes `{T}`",
    note = "agents that run together get one and the same input: change what this agent takes, or put an agent before it, as in `(a, convert.then(b))`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait ParallelWith<T, First, Own>: Agent<In = T> {}

#[diagnostic::do_not_recommend]
impl<A: Agent<In = T>, T: Data, First> ParallelWith<T, First, T> for A {}

/// Several agents that run concurrently on the same input: a tuple of 2 to 8 agents, a `Vec` or an
/// array; the input is `Clone`.
///
/// ```
/// # use agents_core as agents;
/// use agents::compose::{Parallel, settled};
/// use agents::{Agent, AgentBuilder, Error, agent::Skill};
///
/// // Code that hears all reviewers out, however many they are and of whatever types.
/// async fn reviewed<R: Parallel<In = String>>(reviewers: R, text: &str) -> Result<R::Settled, Error> {
///     settled(reviewers).run(text).await
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # let length = |name| AgentBuilder::<String, usize>::new(name)
/// #     .skill(Skill::native("count", "Counts.", |text: String| async move { Ok(text.len()) })).build();
/// assert_eq!(reviewed(vec![length("a"), length("b"), length("c")], "ok").await?, [Ok(2), Ok(2), Ok(2)]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not agents that can run side by side",
    label = "expected several agents here that take one and the same input",
    note = "write a tuple of 2 to 8 agents such as `(a, b)`, more of them in a tuple within, `(a, b, (c, d))`; or a `Vec` or an array of agents of one type; all of them get the same input, which has to be `Clone`",
    note = "where one takes something else, put an agent before it that makes it, as in `(a, convert.then(b))`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Parallel: Send + Sync {
    /// Input that each agent gets a copy of.
    type In: Data + Clone;
    /// Outputs of all agents, as a tuple, a `Vec` or an array.
    type Out: Data;
    /// Results of all agents, each an output or a [`Failed`].
    type Settled: Data;

    #[doc(hidden)]
    fn names(&self) -> &str;

    #[doc(hidden)]
    fn described(&self) -> &str;

    #[doc(hidden)]
    fn profiles(&self) -> Profile;

    /// Runs the agents until one fails.
    ///
    /// # Errors
    /// The error of the first agent that fails.
    #[doc(hidden)]
    async fn all(&self, cx: &RunContext, input: Self::In) -> Result<Self::Out, Error>;

    /// Runs all agents to their ends.
    ///
    /// # Errors
    /// Only errors that concern the whole run.
    #[doc(hidden)]
    async fn settle(&self, cx: &RunContext, input: Self::In) -> Result<Self::Settled, Error>;
}

/// Implements [`Agent`] for a type, if the type implements [`Parallel`]: `several!([A, B] (A, B))`. The generic
/// parameters stand in the brackets.
macro_rules! several {
    ([$($generics:tt)+] $together:ty) => {
        #[async_trait]
        impl<$($generics)+> Agent for $together
        where
            $together: Parallel,
        {
            type In = <$together as Parallel>::In;
            type Out = <$together as Parallel>::Out;

            fn name(&self) -> &str {
                self.names()
            }

            fn description(&self) -> &str {
                self.described()
            }

            fn profile(&self) -> Profile {
                self.profiles()
            }

            async fn work(&self, cx: &RunContext, input: Self::In) -> Result<Self::Out, Error> {
                self.all(cx, input).await
            }
        }
    };
}

/// Joins several futures, polled in this order, until the first error: `joined!(a, b, c)` is
/// `try_join(a, try_join(b, c))`. rustc compiles the code of `try_join` in programs
/// that use the tuple, and not in this crate.
macro_rules! joined {
    ($last:expr) => { $last };
    ($first:expr, $($rest:expr),+) => { try_join($first, joined!($($rest),+)) };
}

/// Pattern of the outputs of [`joined`]: `pairs!(A B C)` is `(A, (B, C))`.
macro_rules! pairs {
    ($last:ident) => { $last };
    ($first:ident $($rest:ident)+) => { ($first, pairs!($($rest)+)) };
}

/// Implements [`Parallel`] and [`Agent`] for the tuple `(A, B, C)`: `tuple!(A B C)`.
macro_rules! tuple {
    ($first:ident $($part:ident)+) => {
        several!([$first, $($part),+] ($first, $($part),+));

        #[async_trait]
        #[allow(non_snake_case)]
        impl<$first: Agent, $($part: Agent + ParallelWith<$first::In, $first, <$part as Agent>::In>),+> Parallel for ($first, $($part),+)
        where
            $first::In: Clone,
        {
            type In = $first::In;
            type Out = ($first::Out, $($part::Out),+);
            type Settled = (Result<$first::Out, Failed>, $(Result<$part::Out, Failed>),+);

            fn names(&self) -> &str {
                let ($first, $($part),+) = self;
                keep(format!("({})", [$first.name(), $($part.name()),+].join(", ")))
            }

            fn described(&self) -> &str {
                let ($first, $($part),+) = self;
                keep(wording::parallel(&[$first.name(), $($part.name()),+]))
            }

            fn profiles(&self) -> Profile {
                let ($first, $($part),+) = self;
                Profile::of_parts([$first.profile(), $($part.profile()),+])
            }

            async fn all(&self, cx: &RunContext, input: Self::In) -> Result<Self::Out, Error> {
                let ($first, $($part),+) = self;
                let pairs!($first $($part)+) = joined!(
                    $first.run_in(cx, input.clone()),
                    $($part.run_in(cx, input.clone())),+
                ).await?;
                Ok(($first, $($part),+))
            }

            async fn settle(&self, cx: &RunContext, input: Self::In) -> Result<Self::Settled, Error> {
                let ($first, $($part),+) = self;
                let pairs!($first $($part)+) = joined!(
                    settle_one($first, cx, input.clone()),
                    $(settle_one($part, cx, input.clone())),+
                ).await?;
                Ok(($first, $($part),+))
            }
        }
    };
}

tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);
tuple!(A B C D E F G);
tuple!(A B C D E F G H);

// A tuple of more than 8 agents is not `Parallel`, and with these impls rustc reports exactly that. Without them
// rustc would report that the tuple has no method `run`, and is no iterator.
several!([A, B, C, D, E, F, G, H, I](A, B, C, D, E, F, G, H, I));
several!([A, B, C, D, E, F, G, H, I, J](A, B, C, D, E, F, G, H, I, J));
several!([A, B, C, D, E, F, G, H, I, J, K](
    A, B, C, D, E, F, G, H, I, J, K
));
several!([A, B, C, D, E, F, G, H, I, J, K, L](
    A, B, C, D, E, F, G, H, I, J, K, L
));

several!([A: Agent] Vec<A>);
several!([A: Agent, const N: usize] [A; N]);

#[async_trait]
impl<A: Agent> Parallel for Vec<A>
where
    A::In: Clone,
{
    type In = A::In;
    type Out = Vec<A::Out>;
    type Settled = Vec<Result<A::Out, Failed>>;

    fn names(&self) -> &str {
        name_of(self)
    }

    fn described(&self) -> &str {
        described(self)
    }

    fn profiles(&self) -> Profile {
        Profile::of_parts(self.iter().map(A::profile))
    }

    async fn all(&self, cx: &RunContext, input: A::In) -> Result<Self::Out, Error> {
        try_join_all(self.iter().map(|agent| agent.run_in(cx, input.clone()))).await
    }

    async fn settle(&self, cx: &RunContext, input: A::In) -> Result<Self::Settled, Error> {
        try_join_all(
            self.iter()
                .map(|agent| settle_one(agent, cx, input.clone())),
        )
        .await
    }
}

#[async_trait]
impl<A: Agent, const N: usize> Parallel for [A; N]
where
    A::In: Clone,
    [A::Out; N]: Data,
    [Result<A::Out, Failed>; N]: Data,
{
    type In = A::In;
    type Out = [A::Out; N];
    type Settled = [Result<A::Out, Failed>; N];

    fn names(&self) -> &str {
        name_of(self)
    }

    fn described(&self) -> &str {
        described(self)
    }

    fn profiles(&self) -> Profile {
        Profile::of_parts(self.iter().map(A::profile))
    }

    async fn all(&self, cx: &RunContext, input: A::In) -> Result<Self::Out, Error> {
        let parts = self.iter().map(|agent| agent.run_in(cx, input.clone()));
        try_join_all(parts).await.and_then(as_array)
    }

    async fn settle(&self, cx: &RunContext, input: A::In) -> Result<Self::Settled, Error> {
        let parts = self
            .iter()
            .map(|agent| settle_one(agent, cx, input.clone()));
        try_join_all(parts).await.and_then(as_array)
    }
}

/// Returns the description of a composition of agents that run side by side.
fn described<A: Agent>(agents: &[A]) -> &'static str {
    let names: Vec<_> = agents.iter().map(A::name).collect();
    keep(wording::parallel(&names))
}

fn name_of<A: Agent>(agents: &[A]) -> &'static str {
    let names: Vec<_> = agents.iter().map(A::name).collect();
    keep(format!("[{}]", listed(&names)))
}

/// Converts the answers into an array; there are as many answers as agents.
fn as_array<T, const N: usize>(answers: Vec<T>) -> Result<[T; N], Error> {
    let count = answers.len();
    answers
        .try_into()
        .map_err(|_| Error::new(ErrorKind::Failed, wording::other_count(count, N)))
}
