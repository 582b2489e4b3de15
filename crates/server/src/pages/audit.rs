//! The audit trail, and whether it is intact.

use super::{
    encoded,
    frame::{Live, Tab, page},
    moment,
    tools::choice,
};
use crate::{
    failure::Failure,
    inert,
    query::Query,
    room::{Room, Visitor},
    shown::audit::{Search, kinds},
};
use agents_store::AuditFilter;
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Number of events that a page of the audit trail shows.
const ROWS: u32 = 100;

#[derive(Deserialize)]
pub(crate) struct Part {
    before: Option<u64>,
    verify: Option<String>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
    Query(part): Query<Part>,
) -> Response {
    match rows(&room, &visitor, &search, &part).await {
        Ok(body) => page(&visitor, "Audit", Tab::Audit, Live::None, &body).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}

async fn rows(
    room: &Room,
    visitor: &Visitor,
    search: &Search,
    part: &Part,
) -> Result<Markup, Failure> {
    let base = &visitor.base;
    let audit = room.client.audit();
    let filter = AuditFilter {
        before: Some(part.before.unwrap_or(u64::MAX)),
        limit: ROWS,
        ..search.filter(visitor)?
    };
    let events = audit.events(&filter).await?;
    let verdict = match &part.verify {
        Some(_) if visitor.principal.is_operator() => Some(audit.verify().await?),
        _ => None,
    };
    let query = query(search);
    let kinds = kinds();
    let next = events.last().filter(|_| events.len() >= ROWS as usize);
    Ok(html! {
        form.filter method="get" action={ (base) "/audit" } {
            label { "Run " input type="text" name="run" value=(search.run); }
            (choice("Event", "kind", &search.kind, &kinds, "all"))
            label { "By " input type="text" name="by" value=(search.by); }
            label { "Tool " input type="text" name="tool" value=(search.tool); }
            button { "Show" }
            @if visitor.principal.is_operator() {
                button name="verify" value="yes" { "Verify the whole trail" }
            }
        }
        @if let Some(verdict) = verdict {
            p.done.failure[!verdict.is_intact()] { (verdict) }
        }
        p { a href={ (base) "/api/audit.jsonl?" (query) } download="audit.jsonl" { "Export these events" } " as lines of JSON, all of them, the oldest first" }
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
            p { a rel="next" href={ (base) "/audit?" (query) "&before=" (last.number) } { "Earlier events" } }
        }
    })
}

/// Returns a search of the audit trail as the query of an address, for the links to other pages.
fn query(search: &Search) -> String {
    let fields = [
        ("run", &search.run),
        ("kind", &search.kind),
        ("by", &search.by),
        ("tool", &search.tool),
    ];
    let fields = fields.map(|(name, text)| format!("{name}={}", encoded(text)));
    fields.join("&")
}
