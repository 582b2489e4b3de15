//! Escalation: handing a failure that could not be settled up to the agents above.
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

mod resolution;

pub use crate::error::escalation::{Escalation, EscalationReceipt, Refused, Settlement};
pub use resolution::{
    IntoResolution, Resolution, SkillName, TakesOver, escalate, inherit, reroute_to,
    reroute_to_skill, retry_with_model, return_partial_result, throw,
};

pub(crate) use resolution::{SharedHandler, What};

/// What is in scope within `on_escalation!`.
#[doc(hidden)]
pub mod vocabulary {
    pub use super::{
        escalate, inherit, reroute_to, reroute_to_skill, retry_with_model, return_partial_result,
        throw,
    };
    pub use crate::Severity::*;
}
