use std::fmt;

/// Kind of an [`Error`](super::Error).
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, AgentBuilder, ErrorKind};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let nobody = AgentBuilder::<String, String>::new("nobody").prompt("You answer.").build();
/// let error = nobody.run("Who is there?").await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Build); // no model anywhere
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The agent is put together wrongly, for instance without any model or with two tools of one name.
    Build,
    /// The model could not be reached or did not answer, for instance because the connection was
    /// refused or the model is unknown.
    Model,
    /// A budget is used up: turns, tool calls, recursion, tokens, cost, time or depth.
    Budget,
    /// A policy refused a request to a model, or a delegate that code wanted to run was not approved.
    Denied,
    /// The run's cancellation token was triggered.
    Cancelled,
    /// A tool, an arm or a repair agent ended the run with `throw`.
    Thrown,
    /// An escalation reached the top without being resolved by an agent.
    Escalated,
    /// The final answer did not fit the agent's `Out`, and the model's tries to correct it are used up.
    InvalidOutput,
    /// No skill of the agent accepts this input.
    InvalidInput,
    /// A run on recorded replies made a request that the recorded run did not make.
    Replay,
    /// A journal could not be read or written, or belongs to another run.
    Journal,
    /// The agent's own body returned an `Err`.
    Failed,
    /// User code that an agent runs panicked: a body, a condition, or a function given to `until`
    /// or `map`.
    Panicked,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::Build => "build",
            ErrorKind::Model => "model",
            ErrorKind::Budget => "budget",
            ErrorKind::Denied => "denied",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::Thrown => "thrown",
            ErrorKind::Escalated => "escalated",
            ErrorKind::InvalidOutput => "invalid output",
            ErrorKind::InvalidInput => "invalid input",
            ErrorKind::Replay => "replay",
            ErrorKind::Journal => "journal",
            ErrorKind::Failed => "failed",
            ErrorKind::Panicked => "panicked",
        })
    }
}
