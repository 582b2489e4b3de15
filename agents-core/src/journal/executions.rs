//! What has become of the calls of a run: executions of tools that write and are not idempotent, and denials. The same
//! call should not happen again unnoticed.

use crate::{
    Json,
    json::canonical,
    run::{EarlierDenial, EarlierExecution, EarlierOutcome},
};

/// Executions of a run whose repetition matters, in the order in which they began, and denials of calls.
#[derive(Clone, Debug, Default)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Executions {
    executed: Vec<Executed>,
    denied: Vec<Denied>,
}

/// Denial of a call by a person or program, by which a later equal call is noticed.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Denied {
    pub(crate) tool: String,
    pub(crate) args: ArgsDigest,
    pub(crate) denial: EarlierDenial,
}

/// Execution of a tool, by which a later equal call is noticed.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Executed {
    pub(crate) tool: String,
    pub(crate) args: ArgsDigest,
    pub(crate) execution: EarlierExecution,
}

/// Digest of a call's arguments, by which equal arguments are found.
pub(crate) type ArgsDigest = [u8; 32];

/// Returns the digest of arguments. It does not depend on the order of keys and the white space.
pub(crate) fn args_digest(args: &Json) -> ArgsDigest {
    hmac_sha256::Hash::hash(canonical(args.as_str()).as_bytes())
}

/// Begin or end of an execution of a tool, or a denial of a call, noted so that a later equal call in the same run is recognised.
#[derive(Clone, Debug)]
pub(crate) enum ExecutionNews {
    /// An execution of a tool has begun, with what identifies it.
    Began(Box<Executed>),
    /// The execution with this id has ended. The outcome is `None` if the tool has not run after all.
    Ended(String, Option<EarlierOutcome>),
    /// A call was denied.
    Denied(Box<Denied>),
}

impl Executions {
    pub(crate) fn note(&mut self, news: ExecutionNews) {
        match news {
            ExecutionNews::Began(executed) => {
                self.executed
                    .retain(|one| one.execution.id != executed.execution.id);
                self.executed.push(*executed);
            }
            ExecutionNews::Denied(denied) => self.denied.push(*denied),
            ExecutionNews::Ended(id, None) => self.executed.retain(|one| one.execution.id != id),
            ExecutionNews::Ended(id, Some(outcome)) => {
                let ended = self.executed.iter_mut().rfind(|one| one.execution.id == id);
                if let Some(ended) = ended {
                    ended.execution.outcome = outcome;
                }
            }
        }
    }

    pub(crate) fn extend(&mut self, other: &Executions) {
        self.executed.extend(other.executed.iter().cloned());
        self.denied.extend(other.denied.iter().cloned());
    }

    /// Returns the last execution of this tool with these arguments; `None` if the run has no such execution.
    pub(crate) fn find(&self, tool: &str, args: &ArgsDigest) -> Option<&EarlierExecution> {
        let mut same = self.executed.iter();
        let found = same.rfind(|one| one.tool == tool && one.args == *args)?;
        Some(&found.execution)
    }

    /// Returns the last denial of a call of this tool with these arguments; `None` if no such call was denied.
    pub(crate) fn denial(&self, tool: &str, args: &Json) -> Option<&EarlierDenial> {
        let mut of_tool = self.denied.iter().filter(|one| one.tool == tool).peekable();
        // Most runs deny nothing, and need no digest.
        of_tool.peek()?;
        let digest = args_digest(args);
        let found = of_tool.rfind(|one| one.args == digest)?;
        Some(&found.denial)
    }
}
