//! Costs: sums of the log of usage.

use super::{
    encoded,
    frame::{Live, Tab, page},
    models::without,
    money,
};
use crate::{
    inert,
    query::Query,
    room::{Room, Visitor},
    shown::costs::{self as shown, Choice, Costs, KINDS, Row},
};
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    if room.control.is_none() {
        return without(&visitor, "Costs", Tab::Costs);
    }
    match shown::costs(&room, &visitor, &choice, None).await {
        Ok(costs) => {
            let body = body(&visitor, &costs);
            page(&visitor, "Costs", Tab::Costs, Live::Every(30), &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, costs: &Costs) -> Markup {
    let base = &visitor.base;
    let (tenant, purpose) = (
        costs.tenant.as_deref().unwrap_or_default(),
        costs.purpose.as_deref().unwrap_or_default(),
    );
    let query = format!(
        "by={}&since={}&tenant={}&purpose={}",
        costs.by,
        encoded(&costs.since),
        encoded(tenant),
        encoded(purpose)
    );
    html! {
        form.filter method="get" action={ (base) "/costs" } {
            label { "By "
                select name="by" {
                    @for (word, name) in KINDS { option value=(word) selected[word == costs.by] { (name) } }
                }
            }
            label { "Since " input type="date" name="since" value=(costs.since); }
            @if visitor.principal.is_operator() {
                label { "Tenant " input type="text" name="tenant" value=(tenant); }
            }
            label { "Purpose " input type="text" name="purpose" value=(purpose); }
            button { "Show" }
        }
        div #list data-list="" {
            dl.facts.total data-total=(costs.total.cost_nanos) {
                dt { "Total" } dd { b { (money(costs.total.cost_nanos)) } (unpriced(&costs.total)) }
                dt { "Requests" } dd { (costs.total.calls) }
                dt { "Tokens" } dd { (costs.total.input_tokens) " read, " (costs.total.output_tokens) " written" }
            }
            @if costs.rows.is_empty() { p.empty { "No request to a model is in the log since then." } }
            @else { (table(visitor, costs)) }
            @if costs.more { p.note { "There are more rows; the file has all of them." } }
        }
        p { a href={ (base) "/api/costs.csv?" (query) } download="costs.csv" { "All rows as CSV" } }
    }
}

/// Returns the note about how many requests have no known cost; nothing if there is none.
fn unpriced(row: &Row) -> Markup {
    html! {
        @if row.unpriced > 0 { " " small { "and " (row.unpriced) " of unknown cost" } }
    }
}

fn table(visitor: &Visitor, costs: &Costs) -> Markup {
    let name = KINDS.iter().find(|(word, _)| *word == costs.by);
    let name = name.map_or("", |(_, name)| *name);
    let most = costs.rows.iter().map(|row| row.cost_nanos).max();
    let most = most.unwrap_or(0).max(1);
    html! {
        // On a small screen it scrolls, also by the keys of whoever has no pointer.
        table.costs tabindex="0" aria-label="Costs" {
            thead { tr { th scope="col" { (name) } th scope="col" { "Cost" } th.number scope="col" { "Requests" } th.number scope="col" { "Tokens read" } th.number scope="col" { "Tokens written" } } }
            tbody {
                @for row in &costs.rows {
                    tr data-of=(inert::text(&row.of)) data-cost=(row.cost_nanos) {
                        td {
                            @match (costs.by, &*row.of) {
                                (_, "") => "none",
                                ("run", id) => a href={ (visitor.base) "/runs/" (encoded(id)) } { (inert::text(id)) },
                                (_, other) => (inert::text(other)),
                            }
                        }
                        td { meter min="0" max=(most) value=(row.cost_nanos) aria-hidden="true" {} " " (money(row.cost_nanos)) (unpriced(row)) }
                        td.number { (row.calls) }
                        td.number { (row.input_tokens) }
                        td.number { (row.output_tokens) }
                    }
                }
            }
        }
    }
}
