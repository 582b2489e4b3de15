//! An agent that is repeated until its output is accepted.

use super::wording;
use crate::{
    Agent, Error, ErrorKind, Json,
    agent::{Data, Profile},
    context::RunContext,
    panics::{self, guarded},
};
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use std::fmt;

/// Maximum number of runs of the repeated agent, unless [`at_most`](Until::at_most) sets another.
const RUNS: u32 = 10;

/// Maximum number of bytes of the last output that the error of an [`until`](Agent::until) shows.
const SHOWN: usize = 300;

/// Verdict on an agent's output: accept it, or run the agent again.
///
/// ```
/// # use agents_core as agents;
/// use agents::compose::Step::{self, Again, Done};
///
/// struct Draft {
///     text: String,
///     score: u32,
/// }
///
/// /// The draft, or what is to be drafted once more.
/// fn judge(draft: Draft) -> Step<Draft, String> {
///     if draft.score >= 90 { Done(draft) } else { Again(draft.text) }
/// }
///
/// assert!(matches!(judge(Draft { text: "..".into(), score: 40 }), Again(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T, I> {
    /// Ends the repetition with this value as the result.
    Done(T),
    /// Runs the agent again with this input.
    Again(I),
}

/// Return type of the function of an [`until`](Agent::until): [`Step::Done`] with the result, or
/// [`Step::Again`] with the next input `I`.
#[diagnostic::on_unimplemented(
    message = "`until` wants `Done(..)` or `Again(..)` from its function, and gets `{Self}`",
    label = "its function gives `{Self}`",
    note = "`Done(value)` ends with that value; `Again(input)` runs the agent once more and has to hold what it takes, `{I}`: for example `|x| if good(&x) {{ Done(x) }} else {{ Again(x.into()) }}`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait IntoStep<I> {
    /// Type of the result with which the repetition ends.
    type Out: Data;

    /// Converts the value into a [`Step`]: go on, or end.
    fn into_step(self) -> Step<Self::Out, I>;
}

impl<T: Data, I> IntoStep<I> for Step<T, I> {
    type Out = T;

    fn into_step(self) -> Step<T, I> {
        self
    }
}

/// An agent that is repeated until a function accepts its output, made by [`Agent::until`].
///
/// The agent runs at least once, and at most ten times unless [`at_most`](Until::at_most) sets another number.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::compose::{IterationLimit, Step::{Again, Done}};
/// use agents::{Agent, Error};
/// use std::error::Error as _;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let double = || {
///     AgentBuilder::<u32, u32>::new("double")
///         .skill(Skill::native("double", "Doubles.", |n: u32| async move { Ok(2 * n) }))
///         .build()
/// };
/// let enough = double().until(|n| if n >= 100 { Done(format!("{n}!")) } else { Again(n) });
/// assert_eq!(enough.run(3_u32).await?, "192!");
///
/// let error = double().until(|n| if n >= 100 { Done(n) } else { Again(n) }).at_most(2).run(3_u32).await.unwrap_err();
/// assert_eq!(error.kind(), agents::ErrorKind::Budget);
/// assert_eq!(error.to_string(), "`until(double)`: 2 runs are used up (`at_most`); the last gave 12");
/// let ran_out = error.source().and_then(|source| source.downcast_ref::<IterationLimit>()).unwrap();
/// assert_eq!(ran_out.last_as::<u32>().unwrap(), 12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Until<A, F> {
    agent: A,
    verdict: F,
    most: u32,
    name: String,
}

impl<A: Agent, F> Until<A, F> {
    pub(crate) fn new(agent: A, verdict: F) -> Self {
        let name = format!("until({})", agent.name());
        Until {
            agent,
            verdict,
            most: RUNS,
            name,
        }
    }

    /// Sets how many times the agent may run; 0 counts as 1.
    ///
    /// If the last output is not accepted, the repetition fails with an error of the kind
    /// [`Budget`](ErrorKind::Budget) whose source is an [`IterationLimit`].
    #[must_use]
    pub fn at_most(mut self, runs: u32) -> Self {
        self.most = runs.max(1);
        self
    }
}

#[async_trait]
impl<A, F, V> Agent for Until<A, F>
where
    A: Agent,
    F: Fn(A::Out) -> V + Send + Sync,
    V: IntoStep<A::In>,
{
    type In = A::In;
    type Out = V::Out;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.agent.description()
    }

    fn profile(&self) -> Profile {
        Profile::of_parts([self.agent.profile()])
    }

    async fn work(&self, cx: &RunContext, mut input: A::In) -> Result<V::Out, Error> {
        let cx = &cx.speaking();
        for _ in 1..self.most {
            cx.node.begin_anew();
            let output = self.agent.run_in(cx, input).await?;
            match self.verdict_on(output)? {
                Step::Done(value) => return Ok(value),
                Step::Again(next) => input = next,
            }
        }
        cx.node.begin_anew();
        let output = self.agent.run_in(cx, input).await?;
        // The function takes the value, so the value is encoded before.
        let last = Json::of(&output);
        match self.verdict_on(output)? {
            Step::Done(value) => Ok(value),
            Step::Again(_) => {
                Err(self
                    .ran_out(last.unwrap_or_else(|error| Json::string(&wording::not_json(&error)))))
            }
        }
    }
}

impl<A, F> Until<A, F> {
    fn verdict_on<T, V: IntoStep<I>, I>(&self, output: T) -> Result<Step<V::Out, I>, Error>
    where
        F: Fn(T) -> V,
    {
        let verdict = guarded(|| (self.verdict)(output).into_step());
        verdict.map_err(panics::error(wording::function_of(&self.name)))
    }

    fn ran_out(&self, last: Json) -> Error {
        let ran_out = IterationLimit {
            runs: self.most,
            last,
        };
        Error::new(ErrorKind::Budget, ran_out.to_string())
            .with_source(ran_out)
            .context(format!("`{}`", self.name))
    }
}

impl<A: fmt::Debug, F> fmt::Debug for Until<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until")
            .field("agent", &self.agent)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

/// Source of the error of an [`until`](Agent::until) that used up its runs: the number of runs and the last
/// output.
///
/// [`Error::source`](std::error::Error::source) returns it.
///
/// ```
/// # use agents_core as agents;
/// use agents::compose::{IterationLimit, Step::{Again, Done}};
/// use agents::{Agent, AgentBuilder, Error, agent::Skill};
/// use std::error::Error as _;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let plus = AgentBuilder::<u32, u32>::new("plus").skill(Skill::native("add", "Adds.", |x: u32| async move { Ok(x + 1) })).build();
/// let enough = plus.until(|x| if x > 100 { Done(x) } else { Again(x) }).at_most(3);
/// let error = enough.run(1_u32).await.unwrap_err();
/// assert_eq!(error.kind(), agents::ErrorKind::Budget);
///
/// // The last draft is better than none.
/// let ran_out = error.source().and_then(|source| source.downcast_ref::<IterationLimit>()).unwrap();
/// assert_eq!((ran_out.runs(), ran_out.last_as::<u32>()?), (3, 4));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IterationLimit {
    runs: u32,
    last: Json,
}

impl IterationLimit {
    /// Returns how many times the agent ran.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// Returns the last output of the agent, as JSON.
    pub fn last(&self) -> &Json {
        &self.last
    }

    /// Deserializes the last output as the agent's `Out`.
    ///
    /// # Errors
    /// When the last output is not a `T`.
    pub fn last_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.last.to()
    }
}

impl fmt::Display for IterationLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (last, end) = (
            self.last.as_str(),
            self.last.as_str().floor_char_boundary(SHOWN),
        );
        let (last, more) = (&last[..end], if end < last.len() { " …" } else { "" });
        let runs = match self.runs {
            1 => "1 run is".to_owned(),
            n => format!("{n} runs are"),
        };
        write!(f, "{runs} used up (`at_most`); the last gave {last}{more}")
    }
}

impl std::error::Error for IterationLimit {}
