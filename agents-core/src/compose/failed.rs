//! Failure of an agent as an answer.

use super::{ends_everything, wording};
use crate::{
    Agent, Error, ErrorKind, Severity, context::RunContext, engine::receipt::Leaving, panics,
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The failure of one agent, as data: what [`settled`](super::settled()) returns in place of an answer.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// Name of the agent that failed.
    pub agent: String,
    /// Kind of the agent's error.
    #[schemars(with = "String")]
    pub kind: ErrorKind,
    /// Message of the error, with its context.
    pub message: String,
    /// Severity of the escalation; `None` if the failure was not an escalation.
    #[schemars(with = "Option<String>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

impl std::error::Error for Failed {}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failed { agent, message, .. } = self;
        write!(f, "agent `{agent}` failed: {message}")
    }
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
        let agent = wording::failed(&failed.agent);
        error.context(agent).with_source(failed)
    }
}

/// Wrapper of an agent whose failure becomes an answer ([`Failed`]), and is stored as one.
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
