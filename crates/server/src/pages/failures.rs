//! Failures in clusters: a card for each, and the page of one with its failures and the form of its triage.

use super::{
    encoded,
    form::{Text, answer, form},
    frame::{Live, Tab, page},
    letters, moment, not_allowed, run, since,
    tools::choice,
};
use crate::{
    failure::Failure,
    inert,
    posted::{Posted, Slip},
    query::Query,
    room::{Room, Visitor},
    shown::{
        failures::{Clusters, SEVERITIES, STATES, Search, clusters},
        tools::word,
    },
    steering,
};
use agents_core::run::Timestamp;
use agents_runtime::{Action, FailureCluster, FailureClusterDetail, LinkedFailure};
use axum::{
    Extension,
    extract::{Path, State},
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};

fn address(visitor: &Visitor, id: &str) -> String {
    format!("{}/failures/{}", visitor.base, encoded(id))
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
) -> Response {
    match clusters(&room, &visitor, &search).await {
        Ok(found) => {
            let body = body(&visitor, &search, &found);
            page(&visitor, "Failures", Tab::Failures, Live::None, &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, search: &Search, found: &Clusters) -> Markup {
    let now = Timestamp::now();
    let finds_all = search.severity.is_empty() && search.status.is_empty();
    html! {
        form.filter method="get" action={ (visitor.base) "/failures" } {
            (choice("Severity", "severity", &search.severity, &SEVERITIES, "all"))
            (choice("Status", "status", &search.status, &STATES, "all"))
            button { "Show" }
        }
        @if found.clusters.is_empty() {
            p.empty { (match finds_all {
                true => "There are no failures in the newest runs and letters.",
                false => "There are no such failures.",
            }) }
        }
        div.cards { @for cluster in &found.clusters { (card(visitor, cluster, now)) } }
    }
}

fn card(visitor: &Visitor, cluster: &FailureCluster, now: Timestamp) -> Markup {
    html! {
        article.card data-cluster=(cluster.cluster_id) data-status=(word(&cluster.status)) tabindex="0" {
            header {
                h2 { a href=(address(visitor, &cluster.cluster_id)) { (inert::text(&cluster.code)) " of " bdi { (inert::text(&cluster.tool_name)) } } }
                (badges(cluster))
            }
            p { bdi { (inert::text(&cluster.message)) } }
            p.facts {
                (number(cluster.count, "failure", "failures")) " in " (number(cluster.runs, "run or letter", "runs or letters"))
                " of " b { bdi { (inert::text(&cluster.agent_name)) } }
                " · last " (since(cluster.last_at, now))
            }
            @if let Some(by) = &cluster.triaged_by {
                p.facts { (word(&cluster.status)) ", says " bdi { (inert::text(by)) } "; " (number(cluster.since, "failure", "failures")) " since" }
            }
        }
    }
}

fn number(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

fn badges(cluster: &FailureCluster) -> Markup {
    let severity = cluster.severity.to_string();
    html! {
        span.badges {
            span.badge.{ "severity-" (severity.to_lowercase()) } { (severity) }
            span.badge { (word(&cluster.status)) }
        }
    }
}

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    answer(&visitor, None, cluster(&room, &visitor, &id, None).await)
}

/// Returns the page of a cluster. `slip` is what the visitor has got wrong in the form of its triage.
async fn cluster(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let detail = room.client.failures().get(id, &visitor.principal).await?;
    let may_see = room.client.may_see_contents(&visitor.principal);
    let body = whole(visitor, &detail, may_see, slip);
    let live = Live::None.or_failed(slip);
    Ok(page(visitor, "Failures", Tab::Failures, live, &body))
}

fn whole(
    visitor: &Visitor,
    detail: &FailureClusterDetail,
    may_see: bool,
    slip: Option<&Slip>,
) -> Markup {
    let cluster = &detail.cluster;
    html! {
        p { a href={ (visitor.base) "/failures" } { "All failures" } }
        (badges(cluster))
        p.failure { bdi { (inert::text(&cluster.message)) } }
        dl.facts {
            dt { "Error" } dd { (inert::text(&cluster.code)) }
            dt { "Tool or event" } dd { bdi { (inert::text(&cluster.tool_name)) } }
            dt { "Agent or handler" } dd { bdi { (inert::text(&cluster.agent_name)) } }
            @if !cluster.tenant_id.is_empty() { dt { "Tenant" } dd { bdi { (inert::text(&cluster.tenant_id)) } } }
            dt { "Failures" } dd { (cluster.count) ", in " (number(cluster.runs, "run or letter", "runs or letters")) }
            dt { "First" } dd { (moment(cluster.first_at)) }
            dt { "Last" } dd { (moment(cluster.last_at)) }
            @if let (Some(by), Some(at)) = (&cluster.triaged_by, cluster.triaged_at) {
                dt { "Status" } dd data-cluster-status=(word(&cluster.status)) { (word(&cluster.status)) ", since " (moment(at)) " by " bdi { (inert::text(by)) } }
                dt { "Failures since then" } dd { (cluster.since) }
            }
            @if let Some(notes) = &detail.notes { dt { "Notes" } dd { bdi { (inert::text(notes)) } } }
        }
        (triaging(visitor, cluster, slip))
        h2 { "Failures, the newest first" }
        table.tries tabindex="0" aria-label="Failures" {
            thead { tr { th scope="col" { "Time" } th scope="col" { "Where" } th scope="col" { "Error" } } }
            tbody {
                @for failure in &detail.failures {
                    tr {
                        td { (moment(failure.at)) }
                        td { (place(visitor, failure, may_see)) }
                        td { bdi { (inert::text(&failure.error)) } }
                    }
                }
            }
        }
    }
}

/// Returns links to where a failure happened: its run and its call, or its letter.
fn place(visitor: &Visitor, failure: &LinkedFailure, may_see: bool) -> Markup {
    match &failure.call_id {
        Some(call) => {
            let run = run::address(visitor, &failure.id);
            html! {
                a href=(run) { "Run" }
                @if may_see { " " a.call href={ (run) "/calls/" (encoded(call)) } { "Call" } }
            }
        }
        None => html! { a href=(letters::address(visitor, &failure.id)) { "Letter" } },
    }
}

/// Returns the form that sets the status of a cluster of failures, or why the visitor may not set it.
fn triaging(visitor: &Visitor, cluster: &FailureCluster, slip: Option<&Slip>) -> Markup {
    if let Some(why) = visitor.refusal(Action::Triage) {
        return not_allowed(why);
    }
    let notes = Text {
        id: "notes",
        name: "notes",
        label: "Notes",
        hint: "for whoever looks at it next",
        is_required: false,
        most: Some(2_000),
    };
    let contents = html! {
        (notes.line(slip))
        div.buttons {
            button name="status" value="dismissed" { "Dismiss" }
            button name="status" value="escalate" { "Escalate" }
            button name="status" value="wait" { "Wait" }
        }
    };
    let action = address(visitor, &cluster.cluster_id);
    form(visitor, "decision try", &action, &contents)
}

pub(crate) async fn triage(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    posted: Posted,
) -> Response {
    let (status, notes) = (posted.text("status"), posted.text("notes"));
    let failure = match steering::triage(&room, &visitor, &id, status, notes).await {
        Ok(()) => return Redirect::to(&address(&visitor, &id)).into_response(),
        Err(failure) => failure,
    };
    match Slip::of(posted, failure) {
        Ok(slip) => {
            let page = cluster(&room, &visitor, &id, Some(&slip)).await;
            answer(&visitor, Some(&slip), page)
        }
        Err(failure) => failure.page(&visitor),
    }
}
