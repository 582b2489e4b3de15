//! `agents doubts` and `agents settle`.

use super::{seconds, word_of};
use crate::{args::SettleArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_runtime::Finding;
use agents_store::ExecutionFilter;
use serde_json::json;

pub(crate) async fn list(session: &Session, out: &mut Out) -> Result<(), Failure> {
    let mut filter = ExecutionFilter {
        tenant: session.tenant.clone(),
        ..ExecutionFilter::default()
    };
    let mut table = Table::new(&[
        "EXECUTION",
        "TOOL",
        "RISK",
        "RUN",
        "TENANT",
        "AT",
        "SUMMARY",
    ]);
    loop {
        let page = session
            .client()
            .doubts()
            .list(&filter, &session.who)
            .await?;
        let Some(last) = page.last() else { break };
        filter.after = Some(last.execution_id.clone());
        for doubt in &page {
            if out.is_json() {
                out.object(doubt)?;
                continue;
            }
            table.row([
                &doubt.execution_id,
                &doubt.tool_name,
                word_of(doubt.risk_level),
                &doubt.run_id,
                &doubt.tenant_id,
                &seconds(doubt.executed_at),
                doubt.args_summary.as_deref().unwrap_or_default(),
            ]);
        }
    }
    match out.is_json() {
        true => Ok(()),
        false => table.print(out),
    }
}

pub(crate) async fn settle(
    session: &Session,
    asked: &SettleArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let (finding, what) = match asked.took_effect {
        true => (Finding::took_effect(), "took effect"),
        false => (Finding::had_no_effect(), "had no effect"),
    };
    let finding = match &asked.note {
        Some(note) => finding.note(note),
        None => finding,
    };
    let id = &asked.execution;
    let doubts = session.with_keys()?.doubts();
    doubts.settle(id, finding, &session.who).await?;
    match out.is_json() {
        true => out.object(&json!({ "execution_id": id, "had_effect": asked.took_effect })),
        false => out.line(&format!("{id} {what}; its run is told")),
    }
}
