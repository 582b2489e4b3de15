//! `agents approvals` and `agents approval`: requests for approval.

use super::{seconds, word_of};
use crate::{args::ApprovalsArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_runtime::Request;
use agents_store::{ApprovalFilter, ApprovalStatus};

/// Returns the open requests for approval that the user of the command may see, of one run or of all.
pub(super) async fn pending(session: &Session, run: Option<&str>) -> Result<Vec<Request>, Failure> {
    let mut filter = ApprovalFilter {
        tenant: session.tenant.clone(),
        run: run.map(str::to_owned),
        status: Some(ApprovalStatus::Pending),
        ..ApprovalFilter::default()
    };
    let approvals = session.client().approvals();
    let mut all = Vec::new();
    loop {
        let page = approvals.list(&filter, &session.who).await?;
        let Some(last) = page.last() else {
            return Ok(all);
        };
        filter.after = Some(last.id.clone());
        all.extend(page);
    }
}

pub(super) fn print_requests(requests: &[Request], out: &mut Out) -> Result<(), Failure> {
    let mut table = Table::new(&[
        "REQUEST", "TOOL", "RISK", "AGENT", "TENANT", "EXPIRES", "SUMMARY",
    ]);
    for request in requests {
        table.row([
            &request.id,
            &request.tool_name,
            word_of(request.risk_level),
            &request.agent_name,
            &request.tenant_id,
            &seconds(request.expires_at),
            &request.args_summary,
        ]);
    }
    table.print(out)
}

pub(crate) async fn list(
    session: &Session,
    asked: &ApprovalsArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    if let Some(run) = &asked.run {
        session.run(run).await?;
    }
    let requests = pending(session, asked.run.as_deref()).await?;
    match out.is_json() {
        true => requests.iter().try_for_each(|request| out.object(request)),
        false => print_requests(&requests, out),
    }
}

pub(crate) async fn show(session: &Session, id: &str, out: &mut Out) -> Result<(), Failure> {
    let request = Request::from(session.request(id).await?);
    let detail = session.approvals()?.detail(id, &session.who).await?;
    if out.is_json() {
        return out.object(&serde_json::json!({ "request": request, "detail": detail }));
    }
    let mut field = |name: &str, value: &str| match value {
        "" => Ok(()),
        value => out.line(&format!("{name:<11} {value}")),
    };
    field("request", &request.id)?;
    field("run", &request.run_id)?;
    field("state", request.status.as_str())?;
    field("agent", &request.agent_name)?;
    field(
        "tool",
        &format!("{} {}", request.tool_name, request.tool_version),
    )?;
    field("risk", word_of(request.risk_level))?;
    let effect = detail.request.effect_description.as_deref();
    field("effect", effect.unwrap_or(&request.effect_description))?;
    field("tenant", &request.tenant_id)?;
    field("user", request.user_id.as_deref().unwrap_or_default())?;
    field("requested", &seconds(request.requested_at))?;
    field("expires", &seconds(request.expires_at))?;
    field(
        "decided by",
        request.decided_by.as_deref().unwrap_or_default(),
    )?;
    field("note", request.note.as_deref().unwrap_or_default())?;
    for reason in &detail.request.reasons {
        field("because", &reason.to_string())?;
    }
    for repair in &detail.request.repairs {
        field("changed", &repair.to_string())?;
    }
    for origin in &detail.request.known {
        field("known", &origin.to_string())?;
    }
    if let Some(question) = &detail.request.question {
        field("question", &question.text)?;
        match &*question.form.choices() {
            [] => field("answer", &question.form.schema.to_string())?,
            choices => field("answer", &crate::wording::one_of(choices))?,
        }
        if let Some(default) = &question.form.default {
            field("default", default.as_str())?;
        }
    }
    out.line("arguments")?;
    out.exact(&detail.request.args)?;
    let Some(approved) = &detail.approved else {
        return Ok(());
    };
    out.line("approved with")?;
    out.exact(approved)
}
