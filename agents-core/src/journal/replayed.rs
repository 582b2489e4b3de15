//! Forms in which a replay gives the engine again what was recorded.

use super::{Call, CallFact};
use crate::{
    error::{Origin, ToolError},
    media::Attached,
    tool::Effects,
};
use std::time::Duration;

/// Recorded execution that is given again.
pub(crate) struct Executed {
    /// Is `true` if the tool began to run.
    pub(crate) has_begun: bool,
    /// Images, files and tables that the tool returned.
    pub(crate) attached: Option<Vec<Attached>>,
    /// Fact with which the execution ended, or how the recorded run dropped it.
    pub(crate) end: Result<CallFact, Dropped>,
}

/// Work that the recorded run dropped before it had ended.
#[cfg_attr(not(feature = "recordings"), expect(dead_code))]
pub(crate) struct Dropped {
    /// Time for which the replay waits for the end of the work. The recorded run had dropped the work by then.
    pub(crate) patience: Duration,
    /// Number of the fact with which the work began, and the path of its call.
    pub(super) fact: u64,
    pub(super) path: String,
    /// Difference of a run that does not drop the work, as a sentence.
    pub(super) kept: String,
}

/// Returns `true` if a replay gives the results of a tool with these effects again. A tool without effects runs in a
/// replay, and so does a tool that is a part of the run itself (`goes_on`).
pub(crate) fn is_given_again(effects: Effects, goes_on: bool) -> bool {
    effects != Effects::None && !goes_on
}

/// Returns `true` if the current failure of the call is one of an execution, whose error has no type in a recording.
pub(crate) fn of_an_execution(call: &Call) -> bool {
    let failed = call.candidates.failed();
    failed.is_some_and(|failed| match &failed.error {
        ToolError::Execution { cause, .. } => cause.origin() != Origin::Denied,
        _ => false,
    })
}

/// Returns the path of a call of the agent at this path.
pub(crate) fn call_path(agent: &str, seq: u32) -> String {
    format!("{agent}/call{seq:04}")
}
