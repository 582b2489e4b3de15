//! Runs, in a list.

use super::{
    encoded,
    frame::{Live, Tab, page},
    since,
};
use crate::{
    failure::Failure,
    inert,
    query::Query,
    room::{Room, Visitor},
    shown::runs::Summary,
    steering,
};
use agents_core::run::Timestamp;
use agents_store::{RunFilter, RunStatus};
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Number of runs that a page of the list shows.
const ROWS: u32 = 50;

#[derive(Deserialize)]
pub(crate) struct Choice {
    status: Option<String>,
    agent: Option<String>,
    before: Option<String>,
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
    if let Some(before) = &choice.before {
        room.client.stored(before, &visitor.principal).await?;
    }
    let filter = RunFilter {
        status: steering::state(choice.status.as_deref())?,
        agent,
        before: choice.before.clone(),
        limit: ROWS,
        tenant: visitor.tenant(),
        ..RunFilter::default()
    };
    let runs = room.client.runs(&filter).await?;
    let runs: Vec<Summary> = runs.into_iter().map(Summary::from).collect();
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
                                td { (since(run.created_at, now)) }
                                td { (inert::text(&run.tenant_id)) @if let Some(by) = &run.started_by { " " (inert::text(by)) } }
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

/// Returns the state of a run as a badge with a word, and why the run is held if it is.
pub(super) fn state(run: &Summary) -> Markup {
    let word = run.end.unwrap_or(run.status);
    html! {
        span.badge.{ "state-" (word) } { (word) }
        @if let Some(why) = &run.held { " " (inert::text(&why.to_string())) }
    }
}
