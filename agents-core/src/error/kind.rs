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
    /// A [limit](crate::run::Limit) of a budget is passed, a budget outside of the run does not permit a request to a
    /// model, or a loop (`until`) has used up its rounds without an accepted output.
    Budget,
    /// A policy refused a request to a model, or a delegate that code wanted to run was not approved.
    Denied,
    /// The run's cancellation token was triggered, or the run was over before this agent's work had ended.
    Cancelled,
    /// A tool, an arm, a repair agent, a handler of escalations or an agent ended the run with a throw.
    Thrown,
    /// The agent escalated its work, or an escalation was resolved by no agent above.
    Escalated,
    /// The final answer did not fit the agent's `Out`, or a validator refused it, and the budget allows the model no
    /// further try. Or a model that had to choose a skill chose none, or a summary of a conversation is empty.
    InvalidOutput,
    /// The input cannot be used, for instance because no skill of the agent accepts it.
    InvalidInput,
    /// A run departs from a recorded one: a request, a call or a decision was not recorded. Or an agent of a stored run
    /// cannot go on, because a model or an agent that a handler gave is not there any more, or a stored result does not
    /// fit any more.
    Replay,
    /// A journal could not be read or written, belongs to a run of another agent or with another input, or holds an
    /// answer that does not fit any more. Or a stored run cannot go on in this process, which has another model or
    /// another version of a tool.
    Journal,
    /// Code of the agent failed, mostly because the agent's own body returned an `Err`.
    Failed,
    /// User code that an agent runs panicked, such as a body, a validator, or a function given to `until` or `map`.
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
