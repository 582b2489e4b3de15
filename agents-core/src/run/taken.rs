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

/// What a climb came to, for the agent in which the failure was.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Climbed {
    /// It has been given another model, and goes on.
    Continues,
    /// Nobody handled it.
    Unhandled(Box<Escalation>),
}

/// A model that an agent was given because it failed: which, and for what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Override {
    pub(crate) model: String,
    pub(crate) escalation: Escalation,
    /// With how many it has gone on so far, this one included.
    pub(crate) count: u32,
    /// After which turn it was given: however many calls of one reply are given a model, the agent goes on once.
    #[serde(default)]
    pub(crate) turn: u32,
}
