use crate::{Json, error::escalation::Escalation};
use serde::{Deserialize, Serialize};

/// How an agent was taken off its work: what a stored run goes on with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Taken {
    pub(crate) escalation: Escalation,
    pub(crate) to: To,
    /// How often it was, this time included.
    pub(crate) count: u32,
}

/// For what.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum To {
    /// A skill of its own, by name.
    Skill(String),
    /// Another agent, by name.
    Agent(String),
    /// A value that is not all that was asked for.
    Partial(Json),
}
