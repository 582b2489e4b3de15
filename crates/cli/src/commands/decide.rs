//! `agents approve`, `agents deny`, `agents revise` and `agents answer`: decisions about requests.

use super::{approvals::pending, read};
use crate::{
    args::{AnswerArgs, ApproveArgs, DenyArgs, ReviseArgs},
    failure::{Failure, complain},
    out::Out,
    session::Session,
};
use agents_core::{Json, run::Approval, tool::Risk};
use agents_runtime::{Request, RuntimeErrorKind};
use serde_json::json;

pub(crate) async fn approve(
    session: &Session,
    asked: &ApproveArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    if let (true, Some(tool), Some(most)) = (asked.all, &asked.tool, asked.max_risk) {
        let most = Risk::from(most);
        let open = pending(session, None).await?.into_iter();
        let meant = open.filter(|one| one.tool_name == *tool && one.risk_level <= most);
        let ids: Vec<_> = meant.map(|request| request.id).collect();
        if ids.is_empty() {
            return Err(crate::wording::no_request_about(tool));
        }
        return decide(session, &ids, &Approval::Approve, out).await;
    }
    let args = match (&asked.args, &asked.args_file) {
        (Some(args), _) => Some(args.clone()),
        (None, Some(file)) => Some(read(file)?),
        (None, None) => None,
    };
    let approval = match args {
        None => Approval::Approve,
        Some(_) if asked.ids.len() > 1 => {
            return Err(crate::wording::arguments_of_one());
        }
        Some(args) => {
            let args =
                Json::parse(args).map_err(|error| crate::wording::arguments_unreadable(&error))?;
            Approval::ApproveWith { args }
        }
    };
    decide(session, &asked.ids, &approval, out).await
}

pub(crate) async fn deny(
    session: &Session,
    asked: &DenyArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    decide(session, &asked.ids, &Approval::deny(&*asked.reason), out).await
}

pub(crate) async fn revise(
    session: &Session,
    asked: &ReviseArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let revise = Approval::Revise {
        note: asked.note.clone(),
    };
    decide(session, std::slice::from_ref(&asked.id), &revise, out).await
}

pub(crate) async fn answer(
    session: &Session,
    asked: &AnswerArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    session.request(&asked.id).await?;
    let detail = session.approvals()?.detail(&asked.id, &session.who).await?;
    let Some(question) = detail.request.question else {
        return Err(crate::wording::asks_nothing(&asked.id));
    };
    let read = question.form.read(&asked.answer);
    let answer = read.map_err(|misfit| crate::wording::answer_unfit(&question, &misfit))?;
    let answer = Approval::Answer { answer };
    decide(session, std::slice::from_ref(&asked.id), &answer, out).await
}

/// Decides about each of the requests. If one of them cannot be decided, the others are decided all the same.
async fn decide(
    session: &Session,
    ids: &[String],
    approval: &Approval,
    out: &mut Out,
) -> Result<(), Failure> {
    // Without keys, nothing can be decided at all.
    session.with_keys()?;
    let mut any_failed = false;
    for id in ids {
        match decide_one(session, id, approval.clone()).await {
            Ok(decided) if out.is_json() => out.object(&decided)?,
            Ok(decided) => {
                let Request {
                    tool_name,
                    args_summary,
                    status,
                    ..
                } = &decided;
                // The summary is of the arguments that were asked about.
                let of_the_call = match approval {
                    Approval::ApproveWith { args } => format!("with {args}"),
                    _ => format!("{{{args_summary}}}"),
                };
                out.line(&format!("{id} {status}: {tool_name} {of_the_call}"))?;
            }
            Err(failure) => {
                any_failed = true;
                if out.is_json() {
                    out.object(&json!({ "id": id, "error": failure.why() }))?;
                }
                complain(failure.why());
            }
        }
    }
    match any_failed {
        true => Err(Failure::No),
        false => Ok(()),
    }
}

async fn decide_one(session: &Session, id: &str, approval: Approval) -> Result<Request, Failure> {
    session.request(id).await?;
    let approvals = session.approvals()?;
    let decided = approvals.decide(id, approval, &session.who).await;
    decided.map_err(|error| match error.kind() {
        RuntimeErrorKind::Forbidden => {
            Failure::failed(format!("{error}; another person has to decide"))
        }
        _ => error.into(),
    })
}
