//! Undoing what runs have done.
//!
//! An undo is a run of its own, which makes one call: that of the tool's undo. So an undo is gated, stored and audited like
//! every call.

pub(crate) mod plan;

use crate::{
    Action, Client, Principal, Request, RunRef, Runtime, RuntimeError,
    audit::reason,
    data::{RunData, UndoData, entries, key_of},
    error::RuntimeErrorKind,
    ids::execution_of,
    run_key::RunKey,
    wording::in_words,
    work::PAUSE,
};
use agents_core::{
    Effects, Json,
    journal::{CallStep, Follower, Recorded},
    run::ToolEnvelope,
    tool::{Scope, SharedTool},
};
use agents_store::{
    ApprovalFilter, ApprovalStatus, AuditKind, Execution, ExecutionFilter, NewEvent, NewRun, Run,
    RunStatus, Settled,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Undo that is about to be asked for: see [`Runtime::undo`].
#[must_use = "nothing is undone until `.by(..)` is awaited"]
pub struct Undo<'a> {
    runtime: &'a Runtime,
    execution: String,
}

/// Undo of a whole run that is about to be asked for: see [`Runtime::undo_run`].
#[must_use = "nothing is undone until `.by(..)` is awaited"]
pub struct UndoRun<'a> {
    runtime: &'a Runtime,
    run: String,
}

/// Result of the undo of one execution: whether its effect is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UndoOutcome {
    /// The effect of the execution is undone.
    Undone,
    /// The effect of the execution was undone by an earlier undo.
    AlreadyUndone,
    /// The tool says that its effect cannot be undone, does not say how it is undone, or does not write. Nothing was
    /// changed.
    Irreversible {
        /// Reason why the execution cannot be undone, in the words of the tool or of the runtime.
        why: String,
    },
    /// The undo was refused, because something else has changed the same data meanwhile. No value was changed.
    Conflict {
        /// Description of the change that is in the way of the undo.
        what: String,
    },
    /// The undo has failed, was denied or cancelled, or its run is held.
    Failed {
        /// Text of the error with which the undo failed, or of the denial of its approval; else the reason why its run
        /// is held.
        error: String,
    },
    /// The undo waits for decisions about these requests. Ask for it again when they are decided.
    Pending(Vec<Request>),
    /// The execution, or its undo, is in doubt: nobody knows whether it has taken effect. One of which a person has
    /// found out that it took effect is here as well: it has no output from which it could be undone.
    InDoubt {
        /// Description of what nobody knows: whether the execution, or its undo, took effect.
        what: String,
    },
}

impl UndoOutcome {
    /// Returns `true` if the effect of the execution is gone.
    pub fn is_undone(&self) -> bool {
        matches!(self, UndoOutcome::Undone | UndoOutcome::AlreadyUndone)
    }

    /// Returns `true` if earlier executions may not be undone yet, because this effect still exists and may depend on
    /// them.
    fn stops(&self) -> bool {
        !self.is_undone() && !matches!(self, UndoOutcome::Irreversible { .. })
    }
}

impl fmt::Display for UndoOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UndoOutcome::Undone => f.write_str("undone"),
            UndoOutcome::AlreadyUndone => f.write_str("already undone"),
            UndoOutcome::Irreversible { why } => write!(f, "irreversible: {why}"),
            UndoOutcome::Conflict { what } => write!(f, "not undone, conflict: {what}"),
            UndoOutcome::Failed { error } => write!(f, "not undone: {error}"),
            UndoOutcome::Pending(requests) => {
                f.write_str("waits for approval:")?;
                requests
                    .iter()
                    .try_for_each(|request| write!(f, " {}", request.id))
            }
            UndoOutcome::InDoubt { what } => write!(f, "in doubt: {what}"),
        }
    }
}

impl Runtime {
    /// Undoes one execution of a tool, by the tool's own `undo`.
    ///
    /// The undo is a run of its own, worked in this process: it asks for approval if the tool's calls do, its begin and
    /// its end are stored, and it is in the audit trail. The tool has to be there in the version that ran. Asking again
    /// is harmless: an effect is undone once.
    ///
    /// ```
    /// use agents::{prelude::*, tool::undone};
    /// use agents_runtime::{Principal, Runtime, SqliteStore, UndoOutcome};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// tool! {
    ///     /// Books a seat.
    ///     #[tool(writes)]
    ///     async fn book(
    ///         /// Seat, such as `12A`.
    ///         seat: String,
    ///     ) -> String {
    ///         format!("the booking of {seat}")
    ///     }
    ///
    ///     undo(booking) => {
    ///         println!("{booking} is cancelled");
    ///         Ok::<_, Error>(undone())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([
    /// #     Script::calls([("book", r#"{"seat": "12A"}"#), ("book", r#"{"seat": "12B"}"#)]), Script::text("Booked."),
    /// # ]);
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let clerk = runtime.agent(AgentBuilder::<String, String>::new("clerk").tool(Book).build());
    /// let run = clerk.run("Book 12A and 12B.").start().await?;
    /// # let stop = tokio_util::sync::CancellationToken::new();
    /// # runtime.advance(run.id(), &stop).await?;
    /// // When the run is over:
    /// let operator = Principal::operator();
    /// let executions = runtime.as_client().executions(run.id(), &operator).await?;
    /// let undone = runtime.undo(&*executions[0].execution_id).by(&operator).await?;
    /// assert_eq!(undone, UndoOutcome::Undone);
    /// // An effect is undone once.
    /// let again = runtime.undo(&*executions[0].execution_id).by(&operator).await?;
    /// assert_eq!(again, UndoOutcome::AlreadyUndone);
    /// # Ok(())
    /// # }
    /// ```
    pub fn undo(&self, execution: impl Into<String>) -> Undo<'_> {
        Undo {
            runtime: self,
            execution: execution.into(),
        }
    }

    /// Undoes the executions of a run that wrote, the last one first. Executions of nested runs are among them.
    ///
    /// Executions without an effect are left out: those that have failed, and those of which a person has found out that
    /// they had none. An execution that is
    /// [irreversible](UndoOutcome::Irreversible) is passed over. At any other execution that is not undone, such as one
    /// whose undo waits for a decision, the undo of the run stops. Asking again goes on from there.
    ///
    /// ```
    /// # use agents::{prelude::*, tool::undone};
    /// use agents_runtime::{Principal, Runtime, SqliteStore, UndoOutcome};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # tool! {
    /// #     /// Books a seat.
    /// #     #[tool(writes)]
    /// #     async fn book(
    /// #         /// Seat, such as `12A`.
    /// #         seat: String,
    /// #     ) -> String {
    /// #         format!("the booking of {seat}")
    /// #     }
    /// #
    /// #     undo(booking) => {
    /// #         println!("{booking} is cancelled");
    /// #         Ok::<_, Error>(undone())
    /// #     }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([
    /// #     Script::calls([("book", r#"{"seat": "12A"}"#), ("book", r#"{"seat": "12B"}"#)]), Script::text("Booked."),
    /// # ]);
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let clerk = runtime.agent(AgentBuilder::<String, String>::new("clerk").tool(Book).build());
    /// let run = clerk.run("Book 12A and 12B.").start().await?;
    /// # let stop = tokio_util::sync::CancellationToken::new();
    /// # runtime.advance(run.id(), &stop).await?;
    /// // When the run is over:
    /// let undone = runtime.undo_run(run.id()).by(&Principal::operator()).await?;
    /// assert_eq!(undone.len(), 2); // the last booking first
    /// assert!(undone.iter().all(|(_, outcome)| *outcome == UndoOutcome::Undone));
    /// # Ok(())
    /// # }
    /// ```
    pub fn undo_run(&self, run: impl Into<String>) -> UndoRun<'_> {
        UndoRun {
            runtime: self,
            run: run.into(),
        }
    }
}

impl Undo<'_> {
    /// Undoes the execution for this principal, who may not decide about the requests of the undo, except for the
    /// operator.
    ///
    /// # Errors
    /// When there is no such execution for this principal, or the [roles](crate::Roles) forbid it. When the execution
    /// has failed or had no effect, its tool is not there in the version that ran, the keys of its run
    /// are gone, or the store fails.
    pub async fn by(self, by: &Principal) -> Result<UndoOutcome, RuntimeError> {
        let Undo { runtime, execution } = self;
        let execution = runtime.client.execution(&execution, by).await?;
        let run = runtime.client.steered(Action::Undo, &execution.run, by);
        let run = runtime.client.opened(run.await?)?;
        runtime.undo_execution(&run, &execution, by).await
    }
}

impl UndoRun<'_> {
    /// Undoes the run for this principal. Returns the ids of the executions with what became of them, in the order in which
    /// they were undone.
    ///
    /// # Errors
    /// When there is no such run for this principal, or the [roles](crate::Roles) forbid it. When the run is neither
    /// over nor held, a tool is not there in the version that ran, the keys of the run are gone, or the store fails.
    pub async fn by(self, by: &Principal) -> Result<Vec<(String, UndoOutcome)>, RuntimeError> {
        let UndoRun { runtime, run } = self;
        let run = runtime.client.steered(Action::Undo, &run, by).await?;
        if !matches!(run.status, RunStatus::Done | RunStatus::Held) {
            return Err(crate::wording::run_not_over(&run.id, run.status));
        }
        let run = runtime.client.opened(run)?;
        let mut steps = Vec::new();
        for execution in runtime
            .client
            .stored_executions(&run.stored.id)
            .await?
            .into_iter()
            .rev()
        {
            let had_none = execution.output.is_none() && !may_have_an_effect(&execution);
            if had_none || !runtime.writes(&run, &execution)? {
                continue;
            }
            let id = execution.id.clone();
            let undone = runtime.undo_execution(&run, &execution, by).await?;
            let stops = undone.stops();
            steps.push((id, undone));
            if stops {
                break;
            }
        }
        Ok(steps)
    }
}

impl Runtime {
    fn writes(&self, run: &Opened, execution: &Execution) -> Result<bool, RuntimeError> {
        Ok(self.tool_of(run, execution)?.spec().effects == Effects::Writes)
    }

    /// Returns the tool of this name in the version that ran, as the agent of the run has it; `None` if it is not
    /// there.
    pub(crate) fn tool(
        &self,
        run: &Run,
        data: &RunData,
        tool: &str,
        version: &str,
    ) -> Option<SharedTool> {
        let agent = self.shared.agent(&run.agent)?;
        agent.profile(&data.scope).find_tool(tool, version)
    }

    /// Returns the tool of an execution of a run, so that it can be undone; an error if it is not there.
    fn tool_of(&self, run: &Opened, execution: &Execution) -> Result<SharedTool, RuntimeError> {
        let (name, version) = (&execution.tool_name, &execution.version);
        let found = self.tool(&run.stored, &run.data, name, version);
        found.ok_or_else(|| crate::wording::tool_missing(&run.stored.agent, name, version))
    }

    async fn undo_execution(
        &self,
        run: &Opened,
        execution: &Execution,
        by: &Principal,
    ) -> Result<UndoOutcome, RuntimeError> {
        self.tool_of(run, execution)?;
        match self.client.asked(run, execution, by).await? {
            Asked::Told(undone) => Ok(undone),
            Asked::Run(undo) => self.follow(&undo).await,
        }
    }

    /// Works on the run of an undo in this process until it is over or waits, and returns what became of it.
    async fn follow(&self, run: &str) -> Result<UndoOutcome, RuntimeError> {
        loop {
            if self.step(run).await? {
                continue;
            }
            let stored = self.client.known(run).await?;
            match stored.status {
                RunStatus::Done => return self.client.result_of(run).await,
                RunStatus::Held => {
                    return Ok(UndoOutcome::Failed {
                        error: crate::wording::undo_held(run, &in_words(stored.held)),
                    });
                }
                RunStatus::Waiting => {
                    let filter = ApprovalFilter {
                        run: Some(run.to_owned()),
                        status: Some(ApprovalStatus::Pending),
                        ..ApprovalFilter::default()
                    };
                    let requests = self.client.requests(&filter).await?;
                    return Ok(UndoOutcome::Pending(requests));
                }
                RunStatus::Ready | RunStatus::Running => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Adds the end of an undo to the audit trail of the run that had the undone execution.
    pub(crate) async fn undo_is_over(
        &self,
        stored: &Run,
        undo: &UndoData,
    ) -> Result<(), RuntimeError> {
        let undone = self.client.result_of(&stored.id).await?;
        let run = self.client.known(&undo.run).await?;
        let found = self.client.bare_store().execution(&undo.execution).await?;
        let Some(execution) = found else {
            return Ok(());
        };
        if execution.rolled_back {
            return Ok(());
        }
        let (kind, because) = match undone {
            UndoOutcome::Undone => (AuditKind::Undone, None),
            other => {
                let key = key_of(&run, &*self.client.keys()?);
                let because = key.ok().and_then(|key| reason(&key, &other.to_string()));
                (AuditKind::NotUndone, because)
            }
        };
        let by = stored.started_by.as_deref();
        let event = event(kind, &execution, by, because);
        Ok(self.client.store().await?.record(&event).await?)
    }
}

/// Stored run whose executions are undone, with its key and its decrypted data.
struct Opened {
    stored: Run,
    key: RunKey,
    data: RunData,
}

/// Answer to the request that an execution be undone: the outcome is known, or a run undoes the execution.
enum Asked {
    /// The outcome of the undo is known already: nothing has to be done.
    Told(UndoOutcome),
    /// The run with this id undoes the execution.
    Run(String),
}

impl Client {
    /// Asks that an execution be undone, and returns the run that undoes it. A worker works on that run. Returns `None`
    /// if the execution is undone already.
    ///
    /// # Errors
    /// When there is no such execution for this principal, the [roles](crate::Roles) forbid it, the execution has
    /// failed, had no effect or is in doubt, or the store fails.
    pub async fn ask_undo(
        &self,
        execution: &str,
        by: &Principal,
    ) -> Result<Option<RunRef<String>>, RuntimeError> {
        let execution = self.execution(execution, by).await?;
        let run = self.steered(Action::Undo, &execution.run, by).await?;
        match self.asked(&self.opened(run)?, &execution, by).await? {
            Asked::Run(undo) => Ok(Some(self.run(undo))),
            Asked::Told(UndoOutcome::AlreadyUndone) => Ok(None),
            Asked::Told(other) => Err(RuntimeError::new(
                RuntimeErrorKind::Invalid,
                other.to_string(),
            )),
        }
    }

    /// Returns the execution with this id; an error if there is none that the principal may see.
    pub(crate) async fn execution(
        &self,
        id: &str,
        by: &Principal,
    ) -> Result<Execution, RuntimeError> {
        let found = self.bare_store().execution(id).await?;
        let own = found.filter(|found| by.tenant().is_none_or(|own| own == found.tenant_id));
        own.ok_or_else(|| crate::wording::no_execution(id))
    }

    /// Decrypts the data of a stored run, such as its scope.
    fn opened(&self, stored: Run) -> Result<Opened, RuntimeError> {
        let key = key_of(&stored, &*self.keys()?)?;
        let data = RunData::of(&stored, &key)?;
        Ok(Opened { stored, key, data })
    }

    async fn asked(
        &self,
        run: &Opened,
        execution: &Execution,
        by: &Principal,
    ) -> Result<Asked, RuntimeError> {
        if execution.rolled_back {
            return Ok(Asked::Told(UndoOutcome::AlreadyUndone));
        }
        let tool = &execution.tool_name;
        if execution.output.is_none() {
            return match may_have_an_effect(execution) {
                true => Ok(Asked::Told(UndoOutcome::InDoubt {
                    what: crate::wording::effect_not_known(tool),
                })),
                false if execution.settled.is_some() => {
                    Err(crate::wording::nothing_to_undo(&execution.id, tool))
                }
                false => Err(crate::wording::output_missing(&execution.id, tool)),
            };
        }
        let Opened {
            stored: run,
            key,
            data,
        } = run;
        let (args, output) = self.exact(run, key, execution).await?;
        let undo = UndoData {
            args,
            output,
            execution: execution.id.clone(),
            run: run.id.clone(),
            tool: tool.clone(),
            version: execution.version.clone(),
        };
        // An undo that has failed, or that stood in a conflict, may be tried again; each try is a run.
        let mut attempt = 1;
        loop {
            let (stored, is_new) = self
                .start_undo(run, &data.scope, &undo, attempt, by)
                .await?;
            if is_new {
                let asked = event(AuditKind::UndoAsked, execution, Some(by.id()), None);
                self.store().await?.record(&asked).await?;
            }
            let is_over = stored.status == RunStatus::Done;
            let may_try_again = is_over
                && matches!(
                    self.result_of(&stored.id).await?,
                    UndoOutcome::Failed { .. } | UndoOutcome::Conflict { .. }
                );
            if !may_try_again {
                return Ok(Asked::Run(stored.id));
            }
            attempt += 1;
        }
    }

    /// Returns the exact arguments and output of an execution, from the run's journal. The row shows secrets by their
    /// names.
    async fn exact(
        &self,
        run: &Run,
        key: &RunKey,
        execution: &Execution,
    ) -> Result<(Json, Json), RuntimeError> {
        let commits = self.bare_store().commits(&run.id, 0).await?;
        let (mut follower, mut args) = (Follower::new(), None);
        for entry in entries(key, 0, &commits)? {
            let followed = follower.on(&entry).map_err(RuntimeError::unreadable)?;
            match followed.step {
                Some(CallStep::Began(began))
                    if execution_of(&run.id, &began.request, began.attempt) == execution.id =>
                {
                    args = Some(began.stored_args);
                }
                Some(CallStep::Ended(ended))
                    if execution_of(&run.id, &ended.request, ended.attempt) == execution.id =>
                {
                    if let (Some(args), Some(output)) = (args.take(), ended.stored_output) {
                        return Ok((args, output));
                    }
                }
                _ => {}
            }
        }
        Err(crate::wording::output_missing(
            &execution.id,
            &execution.tool_name,
        ))
    }

    /// Stores the run of an undo, and returns it. Asking again for the same attempt returns the same run; the flag is
    /// `true` if the run is new.
    async fn start_undo(
        &self,
        run: &Run,
        scope: &Scope,
        undo: &UndoData,
        attempt: u32,
        by: &Principal,
    ) -> Result<(Run, bool), RuntimeError> {
        let input = crate::wording::undo_input(&undo.execution, &undo.tool);
        let input = Json::of(&input).map_err(RuntimeError::unreadable)?;
        let data = RunData {
            by: Some(by.clone()),
            undo: Some(undo.clone()),
            ..RunData::new(input, scope.clone())
        };
        let new = NewRun {
            key: Some(format!("undo {} {attempt}", undo.execution)),
            priority: run.priority,
            // Workers that have the agent have its tools.
            ..data.run_of(run.agent.clone(), &*self.keys()?)?
        };
        let stored = self.store().await?.create(&new).await?;
        let is_new = stored.id == new.id;
        Ok((stored, is_new))
    }

    /// Returns what became of an undo whose run is over, from its journal.
    async fn result_of(&self, run: &str) -> Result<UndoOutcome, RuntimeError> {
        let recorded = self.recorded(run).await?;
        let receipts = recorded
            .as_ref()
            .map(Recorded::receipts)
            .unwrap_or_default();
        let Some(receipt) = receipts.last() else {
            // The plan had nothing to call, and its answer says why.
            let outcome = recorded.and_then(|recorded| recorded.outcome::<String>());
            return Ok(match outcome.map(|outcome| outcome.result) {
                Some(Ok(why)) => UndoOutcome::Irreversible { why },
                Some(Err(error)) => UndoOutcome::Failed {
                    error: error.to_string(),
                },
                None => UndoOutcome::Failed {
                    error: crate::wording::undo_not_run().to_owned(),
                },
            });
        };
        let filter = ExecutionFilter {
            run: Some(run.to_owned()),
            ..ExecutionFilter::default()
        };
        let ran = self.bare_store().executions(&filter).await?;
        Ok(told(receipt, ran.iter().any(may_have_an_effect)))
    }
}

/// Returns `true` if an execution was cut off, and nobody has found out that it had no effect.
fn may_have_an_effect(execution: &Execution) -> bool {
    let had_none = |settled: &Settled| !settled.had_effect;
    execution.effect_unknown && !execution.settled.as_ref().is_some_and(had_none)
}

fn event(
    kind: AuditKind,
    execution: &Execution,
    by: Option<&str>,
    detail: Option<Vec<u8>>,
) -> NewEvent {
    NewEvent {
        run: execution.run.clone(),
        tenant: None,
        kind,
        actor: by.map(str::to_owned),
        subject: Some(execution.id.clone()),
        tool_name: Some(execution.tool_name.clone()),
        detail,
    }
}

/// Returns what became of an undo, from the receipt of its call.
fn told(receipt: &ToolEnvelope, is_doubtful: bool) -> UndoOutcome {
    let failed = |error: String| match is_doubtful {
        true => UndoOutcome::InDoubt { what: error },
        false => UndoOutcome::Failed { error },
    };
    if let Some(error) = &receipt.error {
        return failed(error.message.clone());
    }
    let output = receipt.output.as_ref();
    let output: Value = output
        .and_then(|output| output.to().ok())
        .unwrap_or_default();
    match (&output["undone"], output["conflict"].as_str()) {
        (Value::Bool(true), _) => UndoOutcome::Undone,
        (_, Some(what)) => UndoOutcome::Conflict {
            what: what.to_owned(),
        },
        _ => failed(crate::wording::undo_without_outcome().to_owned()),
    }
}
