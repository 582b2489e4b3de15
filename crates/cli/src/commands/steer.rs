//! `agents say`, `agents cancel`, `agents pause`, `agents release`, `agents hold-all` and `agents erase`.

use super::runs::{RunObject, state};
use crate::{failure::Failure, out::Out, session::Session};
use agents_store::RunStatus;

pub(crate) async fn cancel(session: &Session, run: &str, out: &mut Out) -> Result<(), Failure> {
    let found = session.run(run).await?;
    if found.status == RunStatus::Done {
        return Err(crate::wording::is_over(run, &state(&found)));
    }
    session.with_keys()?.cancel(run, &session.who).await?;
    print(session, run, crate::wording::CANCELLED, out).await
}

pub(crate) async fn say(
    session: &Session,
    run: &str,
    text: &str,
    out: &mut Out,
) -> Result<(), Failure> {
    session.run(run).await?;
    session.with_keys()?.say(run, text).by(&session.who).await?;
    print(session, run, crate::wording::SAID, out).await
}

pub(crate) async fn pause(session: &Session, run: &str, out: &mut Out) -> Result<(), Failure> {
    session.run(run).await?;
    session.with_keys()?.pause(run, &session.who).await?;
    let what = match session.run(run).await?.status {
        RunStatus::Held => crate::wording::HELD,
        _ => crate::wording::PAUSED,
    };
    print(session, run, what, out).await
}

pub(crate) async fn release(
    session: &Session,
    run: &str,
    model: Option<&str>,
    out: &mut Out,
) -> Result<(), Failure> {
    let found = session.run(run).await?;
    if found.status != RunStatus::Held && found.paused_by.is_none() {
        return Err(crate::wording::not_held(run, &state(&found)));
    }
    let client = session.with_keys()?;
    match model {
        Some(model) => client.release_with_model(run, model, &session.who).await?,
        None => client.release(run, &session.who).await?,
    }
    print(session, run, crate::wording::RELEASED, out).await
}

pub(crate) async fn hold_all(
    session: &Session,
    reason: &str,
    out: &mut Out,
) -> Result<(), Failure> {
    let held = session.with_keys()?.hold_all(reason, &session.who).await?;
    match out.is_json() {
        true => out.object(&serde_json::json!({ "held": held })),
        false => out.line(&crate::wording::all_held(held)),
    }
}

pub(crate) async fn erase(session: &Session, run: &str, out: &mut Out) -> Result<(), Failure> {
    session.run(run).await?;
    session.with_keys()?.erase(run, &session.who).await?;
    print(session, run, crate::wording::ERASED, out).await
}

async fn print(session: &Session, run: &str, what: &str, out: &mut Out) -> Result<(), Failure> {
    match out.is_json() {
        true => out.object(&RunObject::from(&session.run(run).await?)),
        false => out.line(&format!("{run} {what}")),
    }
}
