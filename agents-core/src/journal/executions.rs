//! Executions of tools that write and are not idempotent: the same call should not happen again unnoticed.

use crate::{
    Json,
    json::canonical,
    run::{EarlierExecution, EarlierOutcome},
};

/// Executions of a run whose repetition matters, in the order in which they began.
#[derive(Clone, Debug, Default)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Executions(Vec<Executed>);

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

/// Begin or end of an execution of a tool, noted so that a later equal call in the same run is recognised.
#[derive(Clone, Debug)]
pub(crate) enum ExecutionNews {
    /// An execution of a tool has begun, with what identifies it.
    Began(Box<Executed>),
    /// The execution with this id has ended. The outcome is `None` if the tool has not run after all.
    Ended(String, Option<EarlierOutcome>),
}

impl Executions {
    pub(crate) fn note(&mut self, news: ExecutionNews) {
        match news {
            ExecutionNews::Began(executed) => {
                self.0
                    .retain(|one| one.execution.id != executed.execution.id);
                self.0.push(*executed);
            }
            ExecutionNews::Ended(id, None) => self.0.retain(|one| one.execution.id != id),
            ExecutionNews::Ended(id, Some(outcome)) => {
                let ended = self.0.iter_mut().rfind(|one| one.execution.id == id);
                if let Some(ended) = ended {
                    ended.execution.outcome = outcome;
                }
            }
        }
    }

    pub(crate) fn extend(&mut self, other: &Executions) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Returns the last execution of this tool with these arguments; `None` if the run has no such execution.
    pub(crate) fn find(&self, tool: &str, args: &ArgsDigest) -> Option<&EarlierExecution> {
        let mut same = self.0.iter();
        let found = same.rfind(|one| one.tool == tool && one.args == *args)?;
        Some(&found.execution)
    }
}
