//! Teams: organisation charts, with grants and budgets, and where escalations went.

use super::{
    encoded, escalations,
    frame::{Live, Tab, page},
    moment, run, since,
};
use crate::{
    inert,
    room::{Room, Visitor},
    shown::agents::{Agent, Form, Whole, agent, agents},
};
use agents_core::{run::Timestamp, team::Chart};
use axum::{
    Extension,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use maud::{Markup, html};

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    match agents(&room).await {
        Ok(agents) => {
            let body = html! {
                @if agents.agents.is_empty() {
                    p.empty { "No worker has said which agents it has. It does so when it begins." }
                }
                @for one in &agents.agents { (section(&visitor, one)) }
            };
            page(&visitor, "Teams", Tab::Teams, Live::None, &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
) -> Response {
    match agent(&room, &visitor, &name).await {
        Ok(whole) => {
            let body = with_escalations(&visitor, &whole);
            let title = format!("Team of {}", inert::text(&name));
            page(&visitor, &title, Tab::Teams, Live::None, &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn section(visitor: &Visitor, agent: &Agent) -> Markup {
    let name = inert::text(&agent.name);
    html! {
        section.team data-agent=(name) aria-label=(name) {
            h2 { a href={ (visitor.base) "/teams/" (encoded(&agent.name)) } { (name) } }
            (chart(visitor, agent))
        }
    }
}

/// Returns the organisation chart of each form of an agent.
fn chart(visitor: &Visitor, agent: &Agent) -> Markup {
    html! {
        p.facts {
            a href={ (visitor.base) "/runs?agent=" (encoded(&agent.name)) } { "Its runs" }
            @match agent.earlier {
                0 => {},
                1 => " · one earlier form",
                earlier => { " · " (earlier) " earlier forms" },
            }
        }
        @if agent.forms.len() > 1 {
            p.note { "Workers have it in " (agent.forms.len()) " forms at present, the newest first. Any of them may take a run." }
        }
        @for form in &agent.forms { (self::form(visitor, form)) }
    }
}

fn form(visitor: &Visitor, form: &Form) -> Markup {
    html! {
        p.facts {
            "seen " (since(form.seen_at, Timestamp::now()))
            ", like this since " (moment(form.first_seen_at))
        }
        @match &form.chart {
            Some(chart) => ul.chart { (place(visitor, chart)) },
            None => p.note { "The worker of this agent is of a version that does not say how the agent is organised." },
        }
    }
}

/// Returns the place of an agent in the organisation chart, with the agents below it.
fn place(visitor: &Visitor, chart: &Chart) -> Markup {
    let bounds = chart.bounds();
    html! {
        li data-place=(inert::text(chart.name())) {
            div.place {
                b { (inert::text(chart.name())) }
                @if !chart.description().is_empty() { " " span.note { (inert::text(chart.description())) } }
                @if !chart.tools().is_empty() { p { "may call " (names(visitor, chart.tools())) } }
                @if !chart.confirm().is_empty() { p { "asks before " (names(visitor, chart.confirm())) } }
                @if !bounds.is_empty() { p { "at most " (bounds.join(", ")) } }
                @for defect in chart.defects() { p.failure { (inert::text(defect)) } }
            }
            @if !chart.delegates().is_empty() {
                ul { @for below in chart.delegates() { (place(visitor, below)) } }
            }
        }
    }
}

fn names(visitor: &Visitor, tools: &[String]) -> Markup {
    html! {
        @for (at, tool) in tools.iter().enumerate() {
            @if at > 0 { ", " }
            a href={ (visitor.base) "/tools?q=" (encoded(tool)) } { (inert::text(tool)) }
        }
    }
}

fn with_escalations(visitor: &Visitor, whole: &Whole) -> Markup {
    html! {
        p { a href={ (visitor.base) "/teams" } { "All teams" } }
        (chart(visitor, &whole.agent))
        h2 { "Where escalations went" }
        @match &whole.escalations {
            None => p.empty { "The steps of runs hold exact arguments, which are for others." },
            Some(_) if whole.runs_read == 0 => p.empty { "It has no runs." },
            Some(all) if all.is_empty() => p.empty { "There were none in " (last(whole.runs_read)) "." },
            Some(all) => {
                p.note { "In " (last(whole.runs_read)) ", the newest first." }
                @for one in all {
                    p.facts { a href=(run::address(visitor, &one.run_id)) { "run" } }
                    (escalations::way(&one.climb))
                }
            },
        }
    }
}

/// Returns words for this number of the last runs.
fn last(runs: usize) -> String {
    match runs {
        1 => "its last run".to_owned(),
        runs => format!("its last {runs} runs"),
    }
}
