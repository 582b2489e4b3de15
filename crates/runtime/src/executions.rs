//! Executions of a run, as people see them.

use crate::{Client, Principal, RuntimeError, ids::execution_of, summary::summary};
use agents_core::{
    Effects,
    journal::{Began, CallStep, Entry, Follower, Recorded},
    run::Timestamp,
    tool::Risk,
};
use agents_store::{Execution, ExecutionFilter, ExecutionState};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Execution of a tool, as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExecutionRecord {
    /// Id of the execution, which no other execution has.
    pub execution_id: String,
    /// Id of the run that executed the tool.
    pub run_id: String,
    /// Tenant that the run works for.
    pub tenant_id: String,
    /// Id of the receipt that the call gets; all attempts at one call share it.
    pub call_id: String,
    /// Name of the agent that called the tool.
    pub agent_name: String,
    /// Name of the tool that was executed.
    pub tool_name: String,
    /// Version of the tool that was executed, such as `1.2.0`.
    pub tool_version: String,
    /// Risk of the call: how much a mistake would cost.
    pub risk_level: Risk,
    /// State of the execution: whether it runs, has ended, is in doubt, or was undone.
    pub state: ExecutionState,
    /// Effects that the tool declares; `None` if the journal of the run cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// Is `true` if the tool declares that its effect cannot be undone; `None` if the journal of the run cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    /// Is `true` if the tool says how a call is undone; `None` if the journal of the run cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_undo: Option<bool>,
    /// Arguments in short, without secrets, addresses and long numbers; `None` if the journal of the run cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_summary: Option<String>,
    /// Number of this attempt at the call, from 1.
    pub attempt: u32,
    /// Time at which the execution began.
    pub executed_at: Timestamp,
    /// Duration in milliseconds; `None` while the execution has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Principal who approved the call, or `policy:` and the name of the [mode](crate::Mode) that approved it; `None`
    /// if nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Principal who has found out whether the tool took effect; `None` if nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
    /// Time at which the execution was undone; `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<Timestamp>,
}

impl ExecutionRecord {
    fn of(execution: Execution, began: Option<&Began>) -> Self {
        ExecutionRecord {
            state: execution.state(),
            effects: began.map(|began| began.effects),
            irreversible: began.map(|began| began.irreversible),
            has_undo: began.map(|began| began.has_undo),
            args_summary: began.map(|began| summary(&began.args)),
            execution_id: execution.id,
            run_id: execution.run,
            tenant_id: execution.tenant_id,
            call_id: execution.call_id,
            agent_name: execution.agent_name,
            tool_name: execution.tool_name,
            tool_version: execution.version,
            risk_level: execution.risk_level,
            attempt: execution.attempt,
            executed_at: execution.executed_at,
            duration_ms: execution.duration_ms,
            approved_by: execution.approved_by,
            settled_by: execution.settled.map(|settled| settled.by),
            undone_at: execution.rolled_back_at,
        }
    }

    /// Returns `true` if an undo can be asked for: the tool has returned an output, it says how a call is undone, and the
    /// call was not undone before.
    pub fn may_be_undone(&self) -> bool {
        self.state == ExecutionState::Done && self.has_undo == Some(true)
    }
}

/// Executions of a run, and its journal: `None` if the run has not begun, and an error if the journal cannot be read.
pub type Inspected = (Vec<ExecutionRecord>, Result<Option<Recorded>, RuntimeError>);

impl Client {
    /// Returns the executions of a run, the oldest first. Executions of nested runs are among them.
    ///
    /// # Errors
    /// When there is no such run for this principal, or the store fails.
    pub async fn executions(
        &self,
        run: &str,
        by: &Principal,
    ) -> Result<Vec<ExecutionRecord>, RuntimeError> {
        Ok(self.inspect(run, by).await?.0)
    }

    /// Returns the executions of a run, and its journal as [`recorded`](Client::recorded) returns it; the journal is
    /// read once. If it cannot be read, its error is returned beside the executions.
    ///
    /// # Errors
    /// When there is no such run for this principal, or the store fails.
    pub async fn inspect(&self, run: &str, by: &Principal) -> Result<Inspected, RuntimeError> {
        let run = self.visible(run, by).await?;
        let recorded = match self.recorded_of(&run).await {
            Err(error) if error.may_pass() => return Err(error),
            recorded => recorded,
        };
        let entries = match &recorded {
            Ok(Some(recorded)) => recorded.entries(),
            Ok(None) | Err(_) => &[],
        };
        let began = begun(&run.id, entries).unwrap_or_default();
        let executions = self.stored_executions(&run.id).await?.into_iter();
        let executions = executions.map(|execution| {
            let began = began.get(&execution.id);
            ExecutionRecord::of(execution, began)
        });
        Ok((executions.collect(), recorded))
    }

    /// Returns the executions of a run as they are stored, the oldest first.
    pub(crate) async fn stored_executions(
        &self,
        run: &str,
    ) -> Result<Vec<Execution>, RuntimeError> {
        let mut filter = ExecutionFilter {
            run: Some(run.to_owned()),
            ..ExecutionFilter::default()
        };
        let mut all = Vec::new();
        loop {
            let page = self.bare_store().executions(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(all);
            };
            filter.after = Some(last.id.clone());
            all.extend(page);
        }
    }
}

/// Returns the begins of the executions in a run's journal, by the ids of the executions.
fn begun(run: &str, entries: &[Entry]) -> Result<HashMap<String, Began>, RuntimeError> {
    let (mut follower, mut all) = (Follower::new(), HashMap::new());
    for entry in entries {
        let followed = follower.on(entry).map_err(RuntimeError::unreadable)?;
        if let Some(CallStep::Began(began)) = followed.step {
            let id = execution_of(run, &began.request, began.attempt);
            all.insert(id, *began);
        }
    }
    Ok(all)
}
