//! Executions in doubt: listed, and settled by people who have found out.

use crate::{
    Action, Client, Principal, RuntimeError,
    audit::reason,
    data::{RunData, key_of, opened, sealed},
    run_key::RunKey,
    summary::summary,
};
use agents_core::{
    Json,
    run::{Finding, Timestamp},
    tool::Risk,
};
use agents_store::{Execution, ExecutionFilter, Run, Settle};
use serde::{Deserialize, Serialize};

/// Executions of a store in doubt: lists them, and stores what people have found out.
///
/// An execution of a tool that writes is in doubt if it was cut off (its process ended, it timed out, or it panicked),
/// and nothing says whether it took effect. The run goes on meanwhile. A person looks at the other system, and settles
/// the doubt. If the run is not over by then, its model is told, and people are not asked about further calls of the
/// tool for that reason any more.
///
/// ```no_run
/// # async fn settle(client: agents_runtime::Client, grace: agents_runtime::Principal) -> Result<(), agents_runtime::RuntimeError> {
/// use agents_runtime::Finding;
///
/// for doubt in client.doubts().open(&grace).await? {
///     println!("{} of {}: {}", doubt.tool_name, doubt.executed_at, doubt.args_summary.unwrap_or_default());
///     let finding = Finding::took_effect().note("The bank shows the transfer.");
///     client.doubts().settle(&doubt.execution_id, finding, &grace).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Doubts {
    client: Client,
}

/// Execution in doubt, as it is shown to whoever may settle it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Doubt {
    /// Id of the execution that is in doubt.
    pub execution_id: String,
    /// Id of the run that has executed the tool.
    pub run_id: String,
    /// Tenant that the run works for.
    pub tenant_id: String,
    /// Name of the agent that called the tool.
    pub agent_name: String,
    /// Name of the tool that was executed.
    pub tool_name: String,
    /// Version of the tool that was executed, such as `1.2.0`.
    pub tool_version: String,
    /// Risk of the call: how much a mistake would cost.
    pub risk_level: Risk,
    /// Arguments in short, without secrets, addresses and long numbers; `None` if they cannot be decrypted any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_summary: Option<String>,
    /// Number of this attempt at the call, from 1.
    pub attempt: u32,
    /// Time at which the execution began.
    pub executed_at: Timestamp,
}

/// Proof of a finding about an execution, stored with it: whoever has no keys of the run cannot make it.
#[derive(Serialize, Deserialize)]
struct Proof {
    call: String,
    finding: Finding,
}

fn proof_of(execution: &str) -> String {
    format!("finding about {execution}")
}

impl Client {
    /// Returns the executions in doubt, and stores what people have found out about them.
    pub fn doubts(&self) -> Doubts {
        Doubts {
            client: self.clone(),
        }
    }
}

impl Doubts {
    /// Returns all executions in doubt, the oldest first. A principal of a tenant gets the executions of that tenant,
    /// an operator gets all.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open(&self, by: &Principal) -> Result<Vec<Doubt>, RuntimeError> {
        let mut all = Vec::new();
        let mut filter = ExecutionFilter::default();
        loop {
            let page = self.list(&filter, by).await?;
            let Some(last) = page.last() else {
                return Ok(all);
            };
            filter.after = Some(last.execution_id.clone());
            all.extend(page);
        }
    }

    /// Returns the chosen executions that are in doubt, the oldest first. A principal of a tenant sees only executions
    /// of that tenant.
    ///
    /// # Errors
    /// When `filter.after` is no execution that the principal may see, or the store fails.
    pub async fn list(
        &self,
        filter: &ExecutionFilter,
        by: &Principal,
    ) -> Result<Vec<Doubt>, RuntimeError> {
        let Ok(tenant) = by.narrows(filter.tenant.as_deref()) else {
            return Ok(Vec::new());
        };
        if let Some(after) = &filter.after {
            self.client.execution(after, by).await?;
        }
        let filter = ExecutionFilter {
            tenant,
            in_doubt: true,
            ..filter.clone()
        };
        let found = self.client.bare_store().executions(&filter).await?;
        let mut doubts = Vec::with_capacity(found.len());
        for execution in found {
            let args_summary = self.args(&execution).await.ok();
            doubts.push(Doubt {
                args_summary: args_summary.as_ref().map(summary),
                execution_id: execution.id,
                run_id: execution.run,
                tenant_id: execution.tenant_id,
                agent_name: execution.agent_name,
                tool_name: execution.tool_name,
                tool_version: execution.version,
                risk_level: execution.risk_level,
                attempt: execution.attempt,
                executed_at: execution.executed_at,
            });
        }
        Ok(doubts)
    }

    async fn args(&self, execution: &Execution) -> Result<Json, RuntimeError> {
        let run = self.client.known(&execution.run).await?;
        let key = key_of(&run, &*self.client.keys()?)?;
        let what = format!("input of {}", execution.id);
        opened(&key, &what, &execution.input)
    }

    /// Settles the doubt about an execution, and about all other executions in doubt of the same call. The first
    /// finding counts.
    ///
    /// Except for the operator, whoever started the run, is the user whom it works for, or wrote to its agent may not
    /// settle its doubts. Everybody else needs the [roles](crate::Roles) for settling and for the risk of the call.
    ///
    /// # Errors
    /// When there is no such execution for this principal, it is not in doubt, the principal may not settle it, the
    /// keys of its run are gone, or the store fails.
    pub async fn settle(
        &self,
        execution: &str,
        finding: Finding,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        let client = &self.client;
        let execution = client.execution(execution, by).await?;
        let run = client.steered(Action::Settle, &execution.run, by).await?;
        let key = key_of(&run, &*client.keys()?)?;
        if let Some(error) = self
            .refusal_in(&run, &key, execution.risk_level, by)
            .await?
        {
            let (who, tool) = (Some(by.id()), Some(&*execution.tool_name));
            let id = Some(&*execution.id);
            client.refused(&run, who, id, tool, &error).await;
            return Err(error);
        }
        let finding = finding.by(by.id());
        self.store(&key, &execution, &finding, by).await?;
        for earlier in self.of_the_same_call(&run, &execution).await? {
            self.store(&key, &earlier, &finding, by).await?;
        }
        Ok(())
    }

    /// Returns the error for a principal who may not settle the doubt about an execution; `None` for a principal who
    /// may. Nothing is settled, and nothing is added to the audit trail: a page calls this method before it shows a
    /// button.
    ///
    /// # Errors
    /// When there is no such execution for this principal, the keys of its run are gone, or the store fails.
    pub async fn refusal(
        &self,
        execution: &str,
        by: &Principal,
    ) -> Result<Option<RuntimeError>, RuntimeError> {
        let client = &self.client;
        let execution = client.execution(execution, by).await?;
        let run = client.visible(&execution.run, by).await?;
        let key = key_of(&run, &*client.keys()?)?;
        self.refusal_in(&run, &key, execution.risk_level, by).await
    }

    /// Returns the error for a principal who may not judge an execution of this risk in a run; `None` for one who may.
    async fn refusal_in(
        &self,
        run: &Run,
        key: &RunKey,
        risk: Risk,
        by: &Principal,
    ) -> Result<Option<RuntimeError>, RuntimeError> {
        let client = &self.client;
        let user = RunData::of(run, key)?.scope.user_id;
        let people = (run.started_by.as_deref(), user.as_deref());
        let settle = crate::wording::SETTLE;
        Ok(
            match client.roles.allow_judge(Action::Settle, risk, people, by) {
                Ok(()) if !by.is_operator() && client.wrote_to_the_agent(run, by).await? => {
                    Some(crate::wording::wrote_to_the_agent(by.id(), settle))
                }
                judged => judged.err(),
            },
        )
    }

    async fn store(
        &self,
        key: &RunKey,
        execution: &Execution,
        finding: &Finding,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        let proof = Proof {
            call: execution.call_id.clone(),
            finding: finding.clone(),
        };
        let settle = Settle {
            execution: execution.id.clone(),
            had_effect: finding.had_effect,
            by: by.id().to_owned(),
            proof: sealed(key, &proof_of(&execution.id), &proof)?,
            detail: finding.note.as_deref().and_then(|note| reason(key, note)),
        };
        self.client.store().await?.settle(&settle).await?;
        Ok(())
    }

    async fn of_the_same_call(
        &self,
        run: &Run,
        execution: &Execution,
    ) -> Result<Vec<Execution>, RuntimeError> {
        let filter = ExecutionFilter {
            run: Some(run.id.clone()),
            tool_name: Some(execution.tool_name.clone()),
            in_doubt: true,
            limit: u32::MAX,
            ..ExecutionFilter::default()
        };
        let mut found = self.client.bare_store().executions(&filter).await?;
        found.retain(|one| one.call_id == execution.call_id);
        Ok(found)
    }
}

/// Returns the stored finding about an execution, with the id of its call; `None` if nobody has found out. A finding
/// that was written by hand is an error.
pub(crate) fn finding_of(
    execution: &Execution,
    key: &RunKey,
) -> Result<Option<(String, Finding)>, RuntimeError> {
    let Some(settled) = &execution.settled else {
        return Ok(None);
    };
    let proof = opened::<Proof>(key, &proof_of(&execution.id), &settled.proof);
    match proof {
        Ok(Proof { call, finding })
            if call == execution.call_id
                && finding.had_effect == settled.had_effect
                && finding.by.as_deref() == Some(&*settled.by) =>
        {
            Ok(Some((call, finding)))
        }
        _ => Err(crate::wording::not_found_out(&execution.id)),
    }
}
