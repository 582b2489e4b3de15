//! Executions of tools, as a store keeps them.

use crate::run::words;
use agents_core::{run::Timestamp, tool::Risk};
use serde::{Deserialize, Serialize};

/// Execution of a tool, as the store has it: one run of the tool's code, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Id of the execution, which no other execution has.
    pub id: String,
    /// Tenant (organisation) that the run works for.
    pub tenant_id: String,
    /// Id of the run that executes the tool.
    pub run: String,
    /// Id of the receipt that the call gets: all attempts at one call share it.
    pub call_id: String,
    /// Number of this attempt at the call, from 1.
    pub attempt: u32,
    /// Name of the agent that called the tool.
    pub agent_name: String,
    /// Name of the tool that is executed.
    pub tool_name: String,
    /// Version of the tool that is executed, such as `1.2.0`.
    pub version: String,
    /// Arguments, encrypted; empty if they are in the journal alone, or if the run was erased.
    pub input: Vec<u8>,
    /// Output of the tool, encrypted; `None` if it has returned none or the run was erased, and empty if it is in the
    /// journal alone.
    pub output: Option<Vec<u8>>,
    /// Is `true` if a person or a mode had approved the call before it was executed.
    pub approved: bool,
    /// Principal who approved the call, or [the name of the mode](crate::ByMode::by) that approved it; `None` if nobody
    /// did.
    pub approved_by: Option<String>,
    /// Risk of the call: how much a mistake would cost.
    pub risk_level: Risk,
    /// Time at which the execution began.
    pub executed_at: Timestamp,
    /// Duration in milliseconds; `None` while the execution has not ended.
    pub duration_ms: Option<u64>,
    /// Error of the tool in words; `None` if the execution did not fail.
    pub error: Option<String>,
    /// Is `true` if it is not known whether the tool took effect.
    pub effect_unknown: bool,
    /// Is `true` if it is not known whether the tool took effect, and a later attempt at the call has succeeded.
    pub superseded: bool,
    /// Verdict of a person about whether the tool took effect; `None` if nobody has given one.
    pub settled: Option<Settled>,
    /// Is `true` if an undo has taken back the effect of the execution.
    pub rolled_back: bool,
    /// Time at which the execution was undone; `None` if it was not.
    pub rolled_back_at: Option<Timestamp>,
}

/// State of an execution: what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExecutionState {
    /// The tool runs, or its process has ended and no worker has gone on with the run since.
    Running,
    /// The tool has returned an output, or has ended and its contents are erased.
    Done,
    /// The tool has failed. Its effect is not in doubt, or a later attempt at the call has succeeded, or the contents of
    /// the execution are erased.
    Failed,
    /// The tool may have taken effect or not, nobody has found out, and no later attempt at the call has succeeded.
    InDoubt,
    /// A person has found out that the tool took effect.
    TookEffect,
    /// A person has found out that the tool had no effect.
    HadNoEffect,
    /// The effect of the tool was undone.
    Undone,
}

words!(ExecutionState {
    Running = "running",
    Done = "done",
    Failed = "failed",
    InDoubt = "in_doubt",
    TookEffect = "took_effect",
    HadNoEffect = "had_no_effect",
    Undone = "undone",
});

impl Execution {
    /// Returns the state of the execution: what became of it.
    pub fn state(&self) -> ExecutionState {
        match self {
            Execution {
                rolled_back: true, ..
            } => ExecutionState::Undone,
            Execution {
                settled: Some(settled),
                ..
            } => match settled.had_effect {
                true => ExecutionState::TookEffect,
                false => ExecutionState::HadNoEffect,
            },
            _ if self.is_in_doubt() => ExecutionState::InDoubt,
            Execution { error: Some(_), .. } => ExecutionState::Failed,
            Execution {
                output: None,
                duration_ms: None,
                ..
            } => ExecutionState::Running,
            _ => ExecutionState::Done,
        }
    }

    /// Returns `true` if it is not known whether the tool took effect, and somebody has to find it out. Nobody has done so
    /// yet, no later attempt at the call has succeeded, and the contents of the execution are not erased: without its
    /// arguments, nobody could find it out.
    pub fn is_in_doubt(&self) -> bool {
        let is_erased = self.input.is_empty();
        self.effect_unknown && self.settled.is_none() && !self.superseded && !is_erased
    }
}

/// Verdict of a person about an execution in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Is `true` if the tool took effect.
    pub had_effect: bool,
    /// Principal who found out whether the tool took effect.
    pub by: String,
    /// Time of the verdict, by the clock of the store.
    pub at: Timestamp,
    /// Proof of the verdict, which only whoever has the keys of the run can make.
    pub proof: Vec<u8>,
}

/// Verdict about an execution in doubt that is about to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Id of the execution that the verdict is about.
    pub execution: String,
    /// Is `true` if the tool took effect.
    pub had_effect: bool,
    /// Principal who found out whether the tool took effect.
    pub by: String,
    /// Proof of the verdict, which only whoever has the keys of the run can make.
    pub proof: Vec<u8>,
    /// Reason of the verdict for the audit trail, encrypted; `None` if there is none.
    pub detail: Option<Vec<u8>>,
}

/// Choice of executions, for [`Store::executions`](crate::Store::executions). The default chooses all executions of all
/// tenants. An execution is chosen if it fits each field that is set.
///
/// ```
/// use agents_store::{ExecutionFilter, SqliteStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// let in_doubt = ExecutionFilter { tenant: Some("acme".into()), in_doubt: true, ..ExecutionFilter::default() };
/// assert!(store.executions(&in_doubt).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionFilter {
    /// Tenant (organisation) whose executions are chosen; `None` for all.
    pub tenant: Option<String>,
    /// Run whose executions are chosen, by its id; `None` for all.
    pub run: Option<String>,
    /// Name of the tool whose executions are chosen; `None` for all.
    pub tool_name: Option<String>,
    /// Chooses only executions in doubt, if `true`. Those of a call that has succeeded in a later attempt are left out,
    /// and so are those of erased runs.
    pub in_doubt: bool,
    /// Chooses only settled executions, if `true`: they were in doubt, and a person has found out whether they took
    /// effect.
    pub settled: bool,
    /// Chooses executions that come after the one with this id, if set: those of the next page. The oldest always come
    /// first; of those that began at the same time, the order is that of their ids. An id that the store does not know
    /// is an error.
    pub after: Option<String>,
    /// Maximum number of executions that are returned; 0 for 100.
    pub limit: u32,
}
