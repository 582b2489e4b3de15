//! Several agents at once, each of which runs to its end.

use super::{Parallel, ends_everything};
use crate::{
    Agent, Error, ErrorKind, Severity, agent::Profile, context::RunContext,
    engine::receipt::Leaving, panics,
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Composite in which every agent runs to its end, whether the others fail or not, made by [`settled`].
#[derive(Clone, Debug)]
pub struct Settled<P> {
    parts: P,
    name: String,
}

/// Runs several agents concurrently and waits for all: each returns `Ok(answer)` or `Err(Failed)`, in the order in
/// which they are written.
///
/// A failure is stored with the run; when the run is resumed, an agent that has failed does not run again.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::compose::settled;
/// use agents::{Agent, Error, ErrorKind};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let number = AgentBuilder::<String, u32>::new("number")
///     .skill(Skill::native("parse", "Reads.", |text: String| async move {
///         text.parse().map_err(|_| Error::new(ErrorKind::Failed, "no number"))
///     }))
///     .build();
/// let length = AgentBuilder::<String, usize>::new("length")
///     .skill(Skill::native("count", "Counts.", |text: String| async move { Ok(text.len()) }))
///     .build();
/// let (number, length) = settled((number, length)).run("ten").await?;
/// assert_eq!(number.unwrap_err().to_string(), "agent `number` failed: no number");
/// assert_eq!(length, Ok(3));
/// # Ok(())
/// # }
/// ```
pub fn settled<P: Parallel>(parts: P) -> Settled<P> {
    let name = format!("settled{}", parts.names());
    Settled { parts, name }
}

#[async_trait]
impl<P: Parallel> Agent for Settled<P> {
    type In = P::In;
    type Out = P::Settled;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.parts.described()
    }

    fn profile(&self) -> Profile {
        self.parts.profiles()
    }

    async fn work(&self, cx: &RunContext, input: P::In) -> Result<P::Settled, Error> {
        self.parts.settle(cx, input).await
    }
}

/// The failure of one agent, as data: what [`settled`] returns in place of an answer.
///
/// `?` turns it back into an [`Error`].
///
/// ```
/// # use agents_core as agents;
/// use agents::{Error, ErrorKind, compose::Failed};
///
/// // `?` in an agent's body: back to an `Error`, with the agent's name before it.
/// fn of_both(number: Result<u32, Failed>, length: Result<usize, Failed>) -> Result<String, Error> {
///     Ok(format!("{} in {}", number?, length?))
/// }
///
/// let failed = Failed { agent: "number".into(), kind: ErrorKind::Failed, message: "no number".into(), severity: None };
/// let error = of_both(Err(failed), Ok(3)).unwrap_err();
/// assert_eq!(error.to_string(), "agent `number` failed: no number");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("agent `{agent}` failed: {message}")]
pub struct Failed {
    /// Name of the agent.
    pub agent: String,
    /// Kind of the error.
    #[schemars(with = "String")]
    pub kind: ErrorKind,
    /// Message of the error, with its context.
    pub message: String,
    /// Severity, if the failure was an escalation.
    #[schemars(with = "Option<String>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

impl Failed {
    fn new(agent: &str, error: &Error) -> Self {
        Failed {
            agent: agent.to_owned(),
            kind: error.kind(),
            message: error.to_string(),
            severity: error.severity(),
        }
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        let error = match failed.severity {
            Some(severity) => Error::escalated(&failed.message, severity),
            None => Error::new(failed.kind, &failed.message),
        };
        let agent = format!("agent `{}` failed", failed.agent);
        error.context(agent).with_source(failed)
    }
}

/// Agent whose failure is an answer, and is stored as one.
struct Settling<'a, A>(&'a A);

#[async_trait]
impl<A: Agent> Agent for Settling<'_, A> {
    type In = A::In;
    type Out = Result<A::Out, Failed>;

    fn name(&self) -> &str {
        self.0.name()
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<Self::Out, Error> {
        match panics::of_agent(self.name(), self.0.work(cx, input)).await {
            Ok(output) => Ok(Ok(output)),
            Err(error) if ends_everything(&error) => Err(error),
            Err(error) => {
                drop(Leaving::of(cx));
                cx.node.begin_anew();
                Ok(Err(Failed::new(self.name(), &error)))
            }
        }
    }
}

pub(super) async fn settle_one<A: Agent>(
    agent: &A,
    cx: &RunContext,
    input: A::In,
) -> Result<Result<A::Out, Failed>, Error> {
    Settling(agent).run_in(cx, input).await
}
