//! Escalation: a failure that somebody could not settle, on its way to whoever can judge it.
//!
//! An escalation is a value. It begins at a tool's arms or at a repair agent and follows the lines
//! of the organisation: the agent that made the call, then the agent that handed it its work, and so
//! on to the root. Agents without `on_escalation` are passed by.
//!
//! ```text
//! repair agent ► tool ► the calling agent ► its parent ► .. ► root ► nobody
//!                            │                                        ├ below Critical: the calling model is told
//!                            └ on_escalation ─► Resolution            └ Critical: the run ends
//! ```
//!
//! | resolution | what happens |
//! |-|-|
//! | [`retry_with_model`] | the failed agent goes on from here with another model; finished calls are not repeated |
//! | [`reroute_to_skill`] | the handling agent begins anew with another of its skills |
//! | [`reroute_to`] | another agent does the handling agent's work |
//! | [`return_partial_result`] | the handling agent ends with this value, which is marked partial |
//! | [`escalate`] | it climbs on, with another reason or severity |
//! | [`inherit`] | it climbs on as it is |
//! | [`throw`] | the whole run ends |
//!
//! A handler is asked once about an escalation, and once more if a run goes on that was stored after it had
//! given a model or an agent: those are not stored. So it should say the same about the same escalation.
//!
//! An agent that is run from plain code (`.run(..)` in a tool's body, in a skill or an agent with a
//! body) is the top of its own line: what it escalates is an `Err` there.
//!
//! ```
//! # use agents_core as agents;
//! use agents::{Severity, agent::AgentBuilder, escalation::*};
//!
//! let lead = AgentBuilder::<String, String>::new("lead")
//!     .on_escalation(|escalation: Escalation| match escalation.severity {
//!         Severity::High => return_partial_result(format!("not finished: {}", escalation.reason)),
//!         _ => inherit(),
//!     })
//!     .build();
//! ```

mod attend;
mod climb;
mod desk;
mod resolution;

pub use resolution::{
    IntoResolution, Resolution, TakesOver, escalate, inherit, reroute_to, reroute_to_skill,
    retry_with_model, return_partial_result, throw,
};

pub(crate) use attend::{Job, Occupant, Taken, attend};
pub(crate) use climb::{Climbed, Override, climb, given, returned, told};
pub(crate) use desk::Desk;
pub(crate) use resolution::SharedHandler;

use crate::{Json, Severity, ToolError, error::Cause, error::Code, model::Model};
use climb::MOST_MODELS;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is in scope within `on_escalation!`.
#[doc(hidden)]
pub mod vocabulary {
    pub use super::{
        escalate, inherit, reroute_to, reroute_to_skill, retry_with_model, return_partial_result,
        throw,
    };
    pub use crate::Severity::*;
}

/// A failure on its way up: who could not settle it, why, and what it began with.
///
/// ```
/// # use agents_core as agents;
/// use agents::AgentBuilder;
/// use agents::escalation::{Escalation, inherit};
///
/// let lead = AgentBuilder::<String, String>::new("lead").on_escalation(|escalation: Escalation| {
///     eprintln!("{escalation}"); // `read_file` gave up (HIGH): the disk is gone; 3 attempts; it came to clerk ► lead
///     inherit()
/// });
/// # let _ = lead.build();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escalation {
    /// Who escalated: a tool, a repair agent, or an agent.
    pub source: String,
    /// Why.
    pub reason: String,
    /// How bad it is.
    pub severity: Severity,
    /// The failure it began with.
    pub original: ToolError,
    /// How many attempts were made before: executions, and tries of repair agents.
    pub attempts: u32,
    /// The agents it has come to, the one that made the call first.
    pub path: Vec<String>,
    /// What agents on the way wanted to do about it and could not, so that it climbed on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

/// What an agent wanted to do about an escalation and could not.
///
/// ```
/// # use agents_core as agents;
/// use agents::escalation::Refused;
///
/// let refused = Refused {
///     agent: "lead".into(),
///     wanted: "turn to its skill `by_hnad`".into(),
///     why: "it has none of that name; it has `by_hand`; did you mean `by_hand`?".into(),
/// };
/// assert!(refused.to_string().starts_with("`lead` could not turn to its skill `by_hnad`: it has none"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Who decided so.
    pub agent: String,
    /// What it wanted to do.
    pub wanted: String,
    /// Why that cannot be.
    pub why: String,
}

impl Refused {
    /// No further model is given to an agent that has had its share.
    fn model(agent: &str, model: &dyn Model) -> Self {
        Refused {
            agent: agent.to_owned(),
            wanted: format!("give the model `{}`", model.id()),
            why: format!("the failed agent has been given {MOST_MODELS} models already"),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refused { agent, wanted, why } = self;
        write!(f, "`{agent}` could not {wanted}: {why}")
    }
}

impl Escalation {
    /// What an agent hands up that gives back [`Error::escalated`](crate::Error::escalated).
    pub(crate) fn of_agent(agent: &str, reason: &str, severity: Severity) -> Self {
        Escalation {
            source: agent.to_owned(),
            reason: reason.to_owned(),
            severity,
            original: ToolError::Execution {
                args: Json::string(""),
                cause: Cause::text(Code::Unknown, reason),
            },
            attempts: 0,
            path: Vec::new(),
            refused: Vec::new(),
        }
    }
}

impl From<Escalation> for ToolError {
    fn from(escalation: Escalation) -> Self {
        let Escalation {
            source,
            reason,
            severity,
            original,
            attempts,
            path: _,
            refused: _,
        } = escalation;
        ToolError::Escalation {
            source,
            reason,
            severity,
            original: Box::new(original),
            attempts,
        }
    }
}

impl fmt::Display for Escalation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Escalation {
            source,
            reason,
            severity,
            attempts,
            path,
            refused,
            original: _,
        } = self;
        write!(f, "`{source}` gave up ({severity}): {reason}")?;
        if *attempts > 0 {
            let s = if *attempts == 1 { "" } else { "s" };
            write!(f, "; {attempts} attempt{s}")?;
        }
        if !path.is_empty() {
            write!(f, "; it came to {}", path.join(" ► "))?;
        }
        refused.iter().try_for_each(|one| write!(f, "; {one}"))
    }
}

/// An escalation and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EscalationReceipt {
    /// The escalation as it was when somebody settled it, or when nobody was left to.
    pub escalation: Escalation,
    /// What became of it.
    pub settled: Settlement,
}

/// What became of an escalation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// The failed agent goes on with another model.
    RetriedWithModel {
        /// Who decided so.
        agent: String,
        /// The model.
        model: String,
    },
    /// The agent began anew with this skill.
    ReroutedToSkill {
        /// Who decided so.
        agent: String,
        /// The skill.
        skill: String,
    },
    /// Another agent does the work.
    ReroutedTo {
        /// Who decided so.
        agent: String,
        /// The other agent.
        delegate: String,
    },
    /// The agent ended with a value that is marked partial.
    PartialResult {
        /// Who decided so.
        agent: String,
    },
    /// The run was ended.
    Thrown {
        /// Who decided so.
        agent: String,
        /// Why.
        reason: String,
    },
    /// Nobody handled it: the model that made the call was told.
    Told,
    /// Nobody handled it: it went as an `Err` to whoever ran the agent.
    Returned,
    /// Nobody handled it, and it was critical: it ended the run.
    Ended,
}

impl fmt::Display for Settlement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Settlement::RetriedWithModel { agent, model } => {
                write!(f, "`{agent}`: the failed agent goes on with `{model}`")
            }
            Settlement::ReroutedToSkill { agent, skill } => {
                write!(f, "`{agent}` begins anew with its skill `{skill}`")
            }
            Settlement::ReroutedTo { agent, delegate } => {
                write!(f, "`{agent}` leaves the work to `{delegate}`")
            }
            Settlement::PartialResult { agent } => {
                write!(f, "`{agent}` ends with a partial result")
            }
            Settlement::Thrown { agent, reason } => write!(f, "`{agent}` ends the run: {reason}"),
            Settlement::Told => f.write_str("nobody handled it; the model that called is told"),
            Settlement::Returned => {
                f.write_str("nobody handled it; it is an error where the agent was run")
            }
            Settlement::Ended => f.write_str("nobody handled it, and it is critical: the run ends"),
        }
    }
}
