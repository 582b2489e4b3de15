//! `agents executions` and `agents undo`.

use super::{seconds, word_of};
use crate::{failure::Failure, out::Out, session::Session, table::Table};
use agents_core::{run::Timestamp, tool::Risk};
use agents_store::{Execution, ExecutionFilter};
use serde::Serialize;

/// Execution as JSON, which programs read, without its contents.
#[derive(Serialize)]
struct ExecutionObject<'a> {
    execution_id: &'a str,
    run_id: &'a str,
    tool_name: &'a str,
    version: &'a str,
    agent_name: &'a str,
    attempt: u32,
    risk_level: Risk,
    executed_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved_by: Option<&'a str>,
    state: String,
}

/// Returns the state of a tool's execution in words, such as `took effect`.
fn state(execution: &Execution) -> String {
    execution.state().as_str().replace('_', " ")
}

pub(crate) async fn executions(session: &Session, run: &str, out: &mut Out) -> Result<(), Failure> {
    session.run(run).await?;
    let mut filter = ExecutionFilter {
        run: Some(run.to_owned()),
        ..ExecutionFilter::default()
    };
    let mut table = Table::new(&[
        "EXECUTION",
        "TOOL",
        "VERSION",
        "RISK",
        "AT",
        "STATE",
        "APPROVED BY",
    ]);
    loop {
        let page = session.store.executions(&filter).await?;
        let Some(last) = page.last() else { break };
        filter.after = Some(last.id.clone());
        for one in &page {
            if out.is_json() {
                out.object(&ExecutionObject {
                    execution_id: &one.id,
                    run_id: &one.run,
                    tool_name: &one.tool_name,
                    version: &one.version,
                    agent_name: &one.agent_name,
                    attempt: one.attempt,
                    risk_level: one.risk_level,
                    executed_at: one.executed_at,
                    duration_ms: one.duration_ms,
                    approved_by: one.approved_by.as_deref(),
                    state: state(one),
                })?;
                continue;
            }
            table.row([
                &one.id,
                &one.tool_name,
                &one.version,
                word_of(one.risk_level),
                &seconds(one.executed_at),
                &state(one),
                one.approved_by.as_deref().unwrap_or_default(),
            ]);
        }
    }
    table.print(out)
}

/// Asks for an undo. A worker of the application does it, since it has the tool.
pub(crate) async fn undo(session: &Session, execution: &str, out: &mut Out) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Undo<'a> {
        execution_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<&'a str>,
    }
    let client = session.with_keys()?;
    let asked = client.ask_undo(execution, &session.who).await?;
    let run = asked.as_ref().map(agents_runtime::RunRef::id);
    if out.is_json() {
        return out.object(&Undo {
            execution_id: execution,
            run_id: run,
        });
    }
    match run {
        None => out.line(&crate::wording::undone_before(execution)),
        Some(run) => out.line(&crate::wording::undone_by(execution, run)),
    }
}
