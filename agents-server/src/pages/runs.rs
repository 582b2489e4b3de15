//! Runs: a list, and one run with its steps.

use super::{
    ago, encoded,
    frame::{Live, Tab, page},
    steps::steps,
};
use crate::{
    failure::Failure,
    guard::check_token,
    inert,
    room::{Room, Visitor},
    steering,
};
use agents_core::run::Timestamp;
use agents_store::{Run, RunFilter, RunStatus};
use axum::{
    Extension,
    extract::{Form as Body, Path, Query, State},
    response::{IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Number of runs of a page.
const ROWS: u32 = 50;

#[derive(Deserialize)]
pub(crate) struct Choice {
    status: Option<String>,
    agent: Option<String>,
    before: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Steer {
    action: String,
    token: Option<String>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    match rows(&room, &visitor, &choice).await {
        Ok(body) => page(&visitor, "Runs", Tab::Runs, Live::All, &body).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}

async fn rows(room: &Room, visitor: &Visitor, choice: &Choice) -> Result<Markup, Failure> {
    let agent = choice.agent.clone().filter(|agent| !agent.is_empty());
    let filter = RunFilter {
        status: steering::state(choice.status.as_deref())?,
        agent,
        before: choice.before.clone(),
        limit: ROWS,
        tenant: visitor.tenant(),
        ..RunFilter::default()
    };
    let runs = room.client.runs(&filter).await?;
    let (now, base) = (Timestamp::now(), &visitor.base);
    let next = runs.last().filter(|_| runs.len() >= ROWS as usize);
    let agent = filter.agent.as_deref().unwrap_or_default();
    let status = filter.status.map_or("", RunStatus::as_str);
    Ok(html! {
        form.filter method="get" action={ (base) "/runs" } {
            label { "State "
                select name="status" {
                    option value="" { "all" }
                    @for one in ["ready", "running", "waiting", "held", "done"] {
                        option value=(one) selected[one == status] { (one) }
                    }
                }
            }
            label { "Agent " input type="text" name="agent" value=(agent); }
            button { "Show" }
        }
        div #list data-list="" {
            @if runs.is_empty() { p.empty { "There are no such runs." } }
            @else {
                table.runs {
                    thead { tr { th scope="col" { "Agent" } th scope="col" { "State" } th scope="col" { "Started" } th scope="col" { "For" } th scope="col" { "Run" } } }
                    tbody {
                        @for run in &runs {
                            tr data-run-id=(run.id) {
                                td { (inert::text(&run.agent)) }
                                td { (state(run)) }
                                td { time datetime=(run.created_at) title=(run.created_at) { (ago(run.created_at, now)) } }
                                td { (inert::text(&run.tenant)) @if let Some(by) = &run.started_by { " " (inert::text(by)) } }
                                td { a href={ (base) "/runs/" (encoded(&run.id)) } { (inert::text(run.key.as_deref().unwrap_or(&run.id))) } }
                            }
                        }
                    }
                }
            }
        }
        @if let Some(last) = next {
            p { a rel="next" href={ (base) "/runs?status=" (status) "&agent=" (encoded(agent)) "&before=" (encoded(&last.id)) } { "Earlier runs" } }
        }
    })
}

fn state(run: &Run) -> Markup {
    let word = match run.end {
        Some(end) => end.as_str(),
        None => run.status.as_str(),
    };
    html! {
        span.badge.{ "state-" (word) } { (word) }
        @if let Some(why) = &run.held { " " (inert::text(&why.to_string())) }
    }
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    match whole(&room, &visitor, &id).await {
        Ok(body) => page(&visitor, "Run", Tab::Runs, Live::Run(&id), &body).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}

async fn whole(room: &Room, visitor: &Visitor, id: &str) -> Result<Markup, Failure> {
    let run = room.client.stored(id, &visitor.principal).await?;
    let steps = match room.client.may_see_contents(&visitor.principal) {
        true => match room.client.recorded(id).await {
            Ok(Some(recorded)) => steps(&recorded.events()),
            Ok(None) => html! { p.empty { "The run has not begun." } },
            Err(error) => html! { p.failure { (inert::text(&error.to_string())) "." } },
        },
        false => html! { p.empty { "The steps hold exact arguments, which are for others." } },
    };
    let base = &visitor.base;
    Ok(html! {
        div #list data-list="" {
            dl.facts {
                dt { "Agent" } dd { (inert::text(&run.agent)) }
                dt { "State" } dd data-run-status=(run.status) { (state(&run)) }
                @if let Some(key) = &run.key { dt { "Key" } dd { (inert::text(key)) } }
                @if !run.tenant.is_empty() { dt { "Tenant" } dd { (inert::text(&run.tenant)) } }
                @if let Some(by) = &run.started_by { dt { "Started by" } dd { (inert::text(by)) } }
                @if let Some(at) = run.wake_at { dt { "Goes on at" } dd { time datetime=(at) { (at) } } }
                dt { "Stored" } dd { time datetime=(run.created_at) { (run.created_at) } }
                dt { "Id" } dd { code { (run.id) } }
                @for (name, value) in &run.labels { dt { (inert::text(name)) } dd { (inert::text(value)) } }
            }
            (buttons(visitor, &run))
            @if run.status == RunStatus::Waiting {
                p { a href={ (base) "/approvals" } { "To the requests that wait" } }
            }
            h2 { "Steps" }
            (steps)
        }
    })
}

fn buttons(visitor: &Visitor, run: &Run) -> Markup {
    let actions: &[(&str, &str)] = match run.status {
        RunStatus::Done => return html! {},
        RunStatus::Held => &[("release", "Let it go on"), ("cancel", "Cancel")],
        _ => &[("pause", "Pause"), ("cancel", "Cancel")],
    };
    html! {
        form.steer method="post" action={ (visitor.base) "/runs/" (encoded(&run.id)) } {
            input type="hidden" name="token" value=(visitor.token);
            @for (action, name) in actions {
                button name="action" value=(action) { (name) }
            }
        }
    }
}

pub(crate) async fn steer(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Body(given): Body<Steer>,
) -> Response {
    let steered = async {
        check_token(given.token.as_deref(), &visitor)?;
        steering::steer(&room, &visitor, &id, &given.action).await
    };
    match steered.await {
        Ok(()) => Redirect::to(&format!("{}/runs/{}", visitor.base, encoded(&id))).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}
