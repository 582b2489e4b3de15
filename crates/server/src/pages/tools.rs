//! Tools: the selector, which finds a tool among those of all agents.

use super::{
    card, encoded,
    frame::{Live, Tab, page},
};
use crate::{
    failure::Failure,
    inert,
    query::Query,
    room::{Room, Visitor},
    shown::tools::{CATEGORIES, EFFECTS, STATES, Search, Secret, Tool, Tools, tools, word},
};
use agents_runtime::Action;
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
) -> Response {
    let shown = async {
        let tools = tools(&room, &visitor, &search).await?;
        Ok::<_, Failure>(body(&visitor, &search, &tools))
    };
    match shown.await {
        Ok(body) => page(&visitor, "Tools", Tab::Tools, Live::None, &body).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, search: &Search, tools: &Tools) -> Markup {
    html! {
        form.filter role="search" method="get" action={ (visitor.base) "/tools" } {
            label { "Search " input type="text" name="q" value=(search.q) autocomplete="off"; }
            (choice("Category", "category", &search.category, &CATEGORIES, "all"))
            (choice("Effects", "effects", &search.effects, &EFFECTS, "all"))
            (choice("State", "status", &search.status, &STATES, "all that are there"))
            label { "Agent " input type="text" name="agent" value=(search.agent) autocomplete="off"; }
            button { "Show" }
        }
        @if tools.tools.is_empty() {
            p.empty { "There is no such tool. A worker says which tools its agents have when it begins." }
        }
        div.cards { @for tool in &tools.tools { (card_of(visitor, tool)) } }
    }
}

/// Returns a form field in which a visitor chooses one of these words, or none.
pub(super) fn choice(label: &str, name: &str, chosen: &str, words: &[&str], all: &str) -> Markup {
    html! {
        label {
            (label) " "
            select name=(name) {
                option value="" { (all) }
                @for word in words { option value=(word) selected[*word == chosen] { (word) } }
            }
        }
    }
}

fn card_of(visitor: &Visitor, tool: &Tool) -> Markup {
    let name = inert::text(&tool.name);
    let address = address(visitor, tool);
    html! {
        article.card data-tool=(name) data-version=[tool.version.as_deref()] data-status=(tool.status) tabindex="0" {
            header {
                h2 {
                    @match &address {
                        Some(address) => a href=(address) { (name) },
                        None => (name),
                    }
                    @if let Some(version) = &tool.version { " " small.version { (inert::text(version)) } }
                }
                (badges(tool))
            }
            (warning(tool))
            @if let Some(about) = &tool.description { p { (inert::text(&about.description)) } }
            @else { p.note { "A server will list it, or code has it: no more is known of it before a run." } }
            (secrets(&tool.secrets))
            p.facts {
                @if tool.status == "gone" { "was a tool of " } @else { "tool of " }
                @for (at, agent) in tool.agents.iter().enumerate() {
                    @if at > 0 { ", " }
                    a href={ (visitor.base) "/teams/" (encoded(agent)) } { (inert::text(agent)) }
                }
            }
            @if let Some(address) = &address {
                p.actions {
                    @if visitor.refusal(Action::Call).is_none() { a href={ (address) "#try" } { "Try it" } " " }
                    a.pin href={ (address) "#pin" } { "Pin a result" }
                }
            }
        }
    }
}

/// Returns the address of a tool's page; `None` for a tool that is known by its name alone.
pub(super) fn address(visitor: &Visitor, tool: &Tool) -> Option<String> {
    let (agent, version) = (tool.agents.first()?, tool.version.as_deref()?);
    let (base, agent, version) = (&visitor.base, encoded(agent), encoded(version));
    tool.description.as_ref()?;
    Some(format!(
        "{base}/tools/{agent}/{}/{version}",
        encoded(&tool.name)
    ))
}

pub(super) fn badges(tool: &Tool) -> Markup {
    html! {
        span.badges {
            @if let Some(about) = &tool.description {
                span.badge { (word(&about.category)) }
                span.badge { (word(&about.effects)) }
                (card::risk(about.risk))
                @if about.external { span.badge { "leaves the organisation" } }
            } @else {
                span.badge { (word(&tool.effects)) }
            }
            @if tool.status != "active" { span.badge.{ "tool-" (tool.status) } { (tool.status) } }
        }
    }
}

pub(super) fn warning(tool: &Tool) -> Markup {
    html! {
        @if let Some((word, note)) = tool.warning() {
            p.failure data-warning=(word) { (word) ": " bdi { (inert::text(note)) } }
        }
    }
}

/// Returns a badge for each secret, which says whether it is there, or only that it is needed if that is not known.
pub(super) fn secrets(secrets: &[Secret]) -> Markup {
    html! {
        @if !secrets.is_empty() {
            ul.secrets aria-label="Secrets" {
                @for one in secrets {
                    li data-secret=(inert::text(&one.name)) data-state=(one.state) {
                        "secret " code { (inert::text(&one.name)) } " "
                        @match (one.state, &one.scope) {
                            ("there", Some(scope)) => span.badge.{ "secret-there" } { "there, of the " (scope) },
                            ("missing", _) => span.badge.{ "secret-missing" } { "missing" },
                            _ => span.badge { "needed" },
                        }
                    }
                }
            }
        }
    }
}
