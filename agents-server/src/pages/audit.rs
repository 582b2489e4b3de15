//! The audit trail, and whether it is intact.

use super::{
    encoded,
    frame::{Live, Tab, page},
    moment,
};
use crate::{
    failure::Failure,
    inert,
    room::{Room, Visitor},
};
use agents_store::AuditFilter;
use axum::{
    Extension,
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Number of events of a page.
const ROWS: u32 = 100;

#[derive(Deserialize)]
pub(crate) struct Choice {
    run: Option<String>,
    before: Option<u64>,
    verify: Option<String>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    match rows(&room, &visitor, choice).await {
        Ok(body) => page(&visitor, "Audit", Tab::Audit, Live::None, &body).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}

async fn rows(room: &Room, visitor: &Visitor, choice: Choice) -> Result<Markup, Failure> {
    let base = &visitor.base;
    let audit = room.client.audit();
    let filter = AuditFilter {
        tenant: visitor.tenant(),
        run: choice.run.filter(|run| !run.is_empty()),
        before: Some(choice.before.unwrap_or(u64::MAX)),
        limit: ROWS,
        ..AuditFilter::default()
    };
    let events = audit.events(&filter).await?;
    let verdict = match choice.verify {
        Some(_) if visitor.principal.is_operator() => Some(audit.verify().await?),
        _ => None,
    };
    let run = filter.run.as_deref().unwrap_or_default();
    let next = events.last().filter(|_| events.len() >= ROWS as usize);
    Ok(html! {
        form.filter method="get" action={ (base) "/audit" } {
            label { "Run " input type="text" name="run" value=(run); }
            button { "Show" }
            @if visitor.principal.is_operator() {
                button name="verify" value="yes" { "Verify the whole trail" }
            }
        }
        @if let Some(verdict) = verdict {
            p.done.failure[!verdict.is_intact()] { (verdict) }
        }
        @if events.is_empty() { p.empty { "There are no such events." } }
        @else {
            table.audit {
                thead { tr { th scope="col" { "Time" } th scope="col" { "Event" } th scope="col" { "By" } th scope="col" { "Tool" } th scope="col" { "Reason" } th scope="col" { "Run" } } }
                tbody {
                    @for event in &events {
                        tr data-number=(event.number) {
                            td { (moment(event.at)) }
                            td { (event.kind.as_str().replace('_', " ")) }
                            td { @if let Some(actor) = &event.actor { (inert::text(actor)) } }
                            td { @if let Some(tool) = &event.tool_name { (inert::text(tool)) } }
                            td { @if let Some(reason) = &event.reason { bdi { (inert::text(reason)) } } }
                            td { a href={ (base) "/runs/" (encoded(&event.run_id)) } title=(event.digest) { (event.run_id) } }
                        }
                    }
                }
            }
        }
        @if let Some(last) = next {
            p { a rel="next" href={ (base) "/audit?run=" (encoded(run)) "&before=" (last.number) } { "Earlier events" } }
        }
    })
}
