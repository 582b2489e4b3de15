//! Escalation: passing a failure that could not be handled to the agents above.
//!
//! An escalation is a value. An arm, a repair agent or an agent that returns
//! [`Error::escalated`](crate::Error::escalated) raises it. The agent whose call or answer failed is asked first, then
//! the agent that delegated to that agent, and so on up to the root. Agents without `on_escalation` are skipped.
//!
//! ```text
//! repair agent ► tool ► the calling agent ► its parent ► .. ► root ► nobody
//!                            │                                        ├ below Critical: the calling model is told
//!                            └ on_escalation ─► Resolution            └ Critical: the run ends
//! ```
//!
//! | resolution | what happens |
//! |-|-|
//! | [`retry_with_model`] | the failed agent continues with another model; finished calls are not repeated |
//! | [`reroute_to_skill`] | the handling agent starts again with this one of its skills |
//! | [`reroute_to`] | another agent does the handling agent's work |
//! | [`return_partial_result`] | the handling agent ends with this value, which is marked partial |
//! | [`escalate`] | the escalation goes to the next agent above, with this reason and severity |
//! | [`inherit`] | the escalation goes to the next agent above, unchanged |
//! | [`throw`] | the whole run ends |
//!
//! A handler is asked once about each escalation. When a stored run is resumed, the handler is asked again if the
//! process ended before the decision was stored, or if a model or an agent was given, since those are not stored. So a
//! handler should give the same answer for the same escalation. If it panics, the escalation climbs on.
//!
//! If plain code runs an agent (`.run(..)` in a tool's body, or in a skill or agent with a body), escalations of that
//! agent go no further. An unhandled escalation of a call is told to the model that made the call. An unhandled
//! escalation of an answer, or a critical one, is an `Err` in that code.
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

mod inbox;
mod raised;
mod resolution;
mod settled;

pub use raised::{Escalation, EscalationHop, RefusedResolution};
pub use resolution::{
    IntoResolution, Resolution, SkillName, TakesOver, escalate, inherit, reroute_to,
    reroute_to_skill, retry_with_model, return_partial_result, throw,
};

pub use settled::{EscalationReceipt, Settlement};

pub(crate) use inbox::{Asked, Inbox, Letter, Reply};
pub(crate) use resolution::{Instead, SharedHandler, Verb};

/// Names that are in scope within `on_escalation!`.
#[doc(hidden)]
pub mod vocabulary {
    pub use super::{
        escalate, inherit, reroute_to, reroute_to_skill, retry_with_model, return_partial_result,
        throw,
    };
    pub use crate::Severity::*;
}
