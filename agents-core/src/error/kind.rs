use std::fmt;

/// What kind of failure left an agent. Each variant says when it happens.
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
    /// The agent cannot run as it was put together: no model anywhere, one tool name twice.
    Build,
    /// The model could not be asked, or did not answer: connection refused, unknown model.
    Model,
    /// A budget was used up: turns, tool calls, recursion, tokens, cost, time or depth.
    Budget,
    /// A rule of the run refused to let a model be asked, or nobody approved what code wanted to do.
    Denied,
    /// The run's cancellation token was triggered.
    Cancelled,
    /// A tool or a repair agent said `throw`: nothing may go on.
    Thrown,
    /// An escalation that nobody handled reached the top.
    Escalated,
    /// The final answer did not fit the agent's `Out`, and the budget for saying so is used up.
    InvalidOutput,
    /// No skill of the agent takes this input: another may find one.
    InvalidInput,
    /// A replay met a request that its recording does not hold.
    Replay,
    /// A deterministic agent's own body returned `Err`.
    Failed,
    /// Code that an agent runs panicked: a body, a condition, a function handed to `until` or `map`.
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
            ErrorKind::Failed => "failed",
            ErrorKind::Panicked => "panicked",
        })
    }
}
