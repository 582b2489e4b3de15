//! Recovery from failed tool calls: verbs such as `fix` and `retry`, the decisions that they make, and repair agents.
//!
//! An arm of `on_error` is a function from a failure to a decision; a decision is data.
//!
//! ```text
//! ToolError ─► layers: agent's arms for the tool ► for a pattern ► tool's own ► skill's default ► agent's default
//!                 └─► Decision<Kind> ─► Plan (steps) ─► Candidates: the next step that is not spent
//! ```
//!
//! Helper functions, shared policies and tests use the same verbs as the arms:
//!
//! ```
//! # use agents_core as agents;
//! use agents::recovery::*;
//!
//! fn patient() -> Decision<Execution> {
//!     retry().max_attempts(3).backoff(exponential()).or(escalate("still failing"))
//! }
//! assert_eq!(patient(), retry().max_attempts(3).backoff(exponential()).or(escalate("still failing")));
//! ```
//!
//! | | `fix` | `sanitize` | `retry` | `feedback` | `escalate` | `throw` |
//! |-|-|-|-|-|-|-|
//! | [`InvalidArgs`]: no JSON object could be read | yes | – | – | yes | yes | yes |
//! | [`Deserialization`]: an object, but a field does not fit | yes | yes | – | yes | yes | yes |
//! | [`Execution`]: returned `Err`, panicked, timed out | yes | – | yes | yes | yes | yes |
//! | [`InvalidOutput`]: the final answer does not fit, or is refused | yes | – | – | yes | yes | yes |

mod backoff;
mod context;
mod conversions;
mod decision;
mod fixer;
mod kind;
mod splice;
mod verbs;

pub use crate::error::{AnyError, Failure, Severity};
pub use crate::reader::ReadError;
pub use crate::reader::{normalize_separators, strip_fences};
pub use backoff::{Backoff, constant, exponential, none};
pub use context::{CallError, ErrorContext, Raw};
pub use conversions::{IntoText, IntoValue, IntoWords};
pub use decision::{Decision, IntoDecision, Plan, PlanStep};
pub use fixer::{FailedRepair, Fixer, Repair, RepairAgentRef, RepairInput};
pub use kind::{
    CanRetry, CanSanitize, Deserialization, Execution, Fallible, InvalidArgs, InvalidOutput, Kind,
    RetrySafe,
};
pub use verbs::{
    coerce, escalate, feedback, fix, fix_with, inherit, lenient, retry, sanitize, throw,
};

/// Kinds of failure, under the names that the arms of `on_error` have.
#[doc(hidden)]
pub mod kinds {
    pub use super::{Deserialization, Execution, InvalidArgs, InvalidOutput};
}

/// Names that are in scope within the arms of `on_error`.
#[doc(hidden)]
pub mod vocabulary {
    pub use super::{
        Failure, Severity::*, coerce, constant, escalate, exponential, feedback, fix, fix_with,
        inherit, lenient, none, normalize_separators, retry, sanitize, strip_fences, throw,
    };
}

pub(crate) use context::{with_any_error, with_error};
pub(crate) use fixer::{FixError, SharedFixer, THE_MODEL};
pub(crate) use splice::{parts as path_parts, put_at, text_at, value_at};
