//! Commits: the entries of one step, and what follows from them.

use crate::{NewApproval, NewText};
use agents_core::{run::Timestamp, tool::Risk};
use std::time::Duration;

/// Commit of a run that is about to be stored: the entries of its journal, and the rows that follow from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Id of the commit. A commit with the id of the last one was stored before, and nothing is stored again.
    pub id: String,
    /// Number of the last entry before this commit.
    pub after: u64,
    /// Number of the last entry of this commit.
    pub last: u64,
    /// Entries of the journal in this commit, encoded and encrypted by the runtime.
    pub entries: Vec<u8>,
    /// Requests for approval that are made. A request whose [id in the journal](NewApproval::request) the run has
    /// stored already is not changed.
    pub asked: Vec<NewApproval>,
    /// Executions of tools that begin with this commit.
    pub began: Vec<Begin>,
    /// Executions that have ended. An execution that begins and ends in the same commit adds one event to the audit
    /// trail instead of two, unless its effect is unknown.
    pub ended: Vec<Finish>,
    /// Streamed text of models that is stored with the entries.
    pub texts: Vec<NewText>,
}

/// Commit of a run, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Number of the last entry before the commit.
    pub after: u64,
    /// Number of the last entry of the commit.
    pub last: u64,
    /// Entries of the journal in this commit, encoded and encrypted by the runtime.
    pub entries: Vec<u8>,
    /// Time at which the commit was stored, by the clock of the store.
    pub at: Timestamp,
}

/// Begin of an execution of a tool, which is about to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Id of the execution, which no other execution has.
    pub id: String,
    /// Id of the receipt that the call gets: all attempts at one call share it.
    pub call_id: String,
    /// Number of this attempt at the call, from 1.
    pub attempt: u32,
    /// Name of the agent that calls the tool.
    pub agent_name: String,
    /// Name of the tool that is executed.
    pub tool_name: String,
    /// Version of the tool that is executed, such as `1.2.0`.
    pub version: String,
    /// Arguments, encoded and encrypted; empty if they are in the journal alone.
    pub input: Vec<u8>,
    /// Digest of the exact arguments: an approval covers the execution only if its digest is the same.
    pub args_digest: String,
    /// Risk of the call: how much a mistake would cost.
    pub risk_level: Risk,
    /// Id in the journal of the request whose approval the execution needs; `None` if it needs none. An approval is
    /// used by the first execution that names it; later attempts with the same arguments may name it again.
    pub needs: Option<String>,
}

/// End of an execution of a tool, which is about to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finish {
    /// Id of the execution that has ended.
    pub id: String,
    /// Output of the tool, encoded and encrypted; `None` if there is none, and empty if the output is in the journal
    /// alone.
    pub output: Option<Vec<u8>>,
    /// Error of the tool in words; `None` if the execution did not fail.
    pub error: Option<String>,
    /// Is `true` if it is not known whether the tool took effect.
    pub effect_unknown: bool,
    /// Time that the execution took. It is used only if the execution begins in the same commit; otherwise the store
    /// knows when it began.
    pub took: Duration,
}

impl Commit {
    /// Returns the end of an execution that begins in this commit, if the commit has its end as well and the effect is
    /// known; else `None`.
    pub(crate) fn end_of(&self, begin: &Begin) -> Option<&Finish> {
        let ended = self.ended.iter();
        let mut ended = ended.filter(|finish| !finish.effect_unknown);
        ended.find(|finish| finish.id == begin.id)
    }

    /// Returns the ends of the executions that did not begin in this commit, or whose effect is not known.
    pub(crate) fn later_ends(&self) -> impl Iterator<Item = &Finish> {
        let began = |finish: &&Finish| {
            let begin = self.began.iter().find(|begin| begin.id == finish.id);
            begin.is_none_or(|begin| self.end_of(begin).is_none())
        };
        self.ended.iter().filter(began)
    }
}
