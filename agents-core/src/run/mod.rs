//! A run and its results: budgets, approvals, events, receipts and the outcome.
//!
//! These types are plain data. The settings of a run are methods of [`Run`](crate::agent::Run); its facts and journals
//! are in [`journal`](crate::journal).
//!
//! ```
//! # use agents_core as agents;
//! use agents::{Agent, AgentBuilder, Budget, Effects, run::EventKind, tool::FnTool};
//! # use agents::testing::{Script, ScriptedModel};
//! use std::sync::{Arc, Mutex};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! # let schema = serde_json::json!({"type": "object"});
//! # let clock = FnTool::new("read_clock", "Tells the time.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("noon") });
//! # let (model, _) = ScriptedModel::new([Script::call("read_clock", "{}"), Script::text("It is noon.")]);
//! let butler = AgentBuilder::<String, String>::new("butler").tool(clock).model(model).build();
//! let settled = Arc::new(Mutex::new(Vec::new()));
//! let seen = settled.clone();
//! let outcome = butler
//!     .run("How late is it?")
//!     .budget(Budget::new().tokens(10_000))
//!     .on_event(move |event| {
//!         if let EventKind::CallEnded(receipt) = &event.kind {
//!             seen.lock().unwrap().push(receipt.name.clone());
//!         }
//!     })
//!     .outcome()
//!     .await?;
//! assert_eq!(*settled.lock().unwrap(), ["read_clock"]);
//! assert_eq!(outcome.outputs.receipts().count(), 1);
//! assert_eq!(outcome.result?, "It is noon.");
//! # Ok(())
//! # }
//! ```

mod approval;
mod approval_reason;
mod clock;
mod event;
mod finding;
mod log;
mod masking;
mod metadata;
mod outcome;
mod pin;
mod repairs;
mod serialized;
mod steering;
mod stop;
pub(crate) mod trace;

pub use crate::budget::{Budget, Cost, Limit, hours, minutes, tokens};
pub use crate::context::RunContext;
pub use approval::{Approval, ApprovalDecision, ApprovalRequest, Approver, Question};
pub use approval_reason::{ApprovalReason, EarlierDenial, EarlierExecution, EarlierOutcome};
pub use clock::{Clock, SystemClock, Timestamp};
pub use event::{Event, EventKind};
pub use finding::{Finding, Findings};
pub use metadata::ToolCallMetadata;
pub use outcome::{
    AgentOutputs, Attachment, AttachmentKind, Attempt, Outcome, Stopped, ToolEnvelope,
};
pub use pin::{OnMissing, PinnedHandle, Selector, Strategy};
pub use repairs::{RepairKind, RepairStep, Repairs};
pub use steering::{Instruction, Steering};

pub(crate) use log::{log, logs};
pub(crate) use outcome::{HANDED_UP, THROWN, WAYS_OUT};
pub(crate) use repairs::in_short;
pub(crate) use stop::Stop;
