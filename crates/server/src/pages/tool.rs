//! Page of a tool: what it says of itself, a form that calls it, and a handle to its results.

use super::{
    card,
    form::{Text, answer, form},
    frame::{Live, Tab, page},
    moment, not_allowed, once, run, span,
    tools::{address, badges, secrets, warning},
};
use crate::{
    failure::Failure,
    inert,
    posted::{Posted, Slip},
    query::Query,
    room::{Room, Visitor},
    shown::{
        calls::{Pin, Pinned, pinned},
        tools::{Tool, tool, word},
    },
    steering::{self, ARGUMENTS, Form},
};
use agents_core::{
    Json,
    run::{OnMissing, PinnedHandle, Strategy},
    tool::{Cache, NeedsApproval, ToolDescription},
};
use agents_runtime::Action;
use axum::{
    Extension,
    extract::{Path, State},
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Query of a tool's page: the handle that a visitor tries, and the run in which its value is looked up.
#[derive(Default, Deserialize)]
pub(crate) struct Look {
    run: Option<String>,
    #[serde(flatten)]
    pin: Pin,
}

/// Handle that the visitor tries on a tool's page, with the run and what was found there.
struct Looked {
    pin: Pin,
    handle: Result<PinnedHandle, Failure>,
    run: Option<String>,
    found: Option<Result<Pinned, Failure>>,
}

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((agent, name, version)): Path<(String, String, String)>,
    Query(look): Query<Look>,
) -> Response {
    let page = whole(&room, &visitor, (&agent, &name, &version), look, None).await;
    answer(&visitor, None, page)
}

/// Returns the page of a tool. `slip` is what the visitor has got wrong in the form that calls it.
async fn whole(
    room: &Room,
    visitor: &Visitor,
    callee: steering::Callee<'_>,
    look: Look,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let Look { run, mut pin } = look;
    let tool = tool(room, visitor, callee).await?;
    let (_, name, _) = callee;
    name.clone_into(&mut pin.tool);
    let handle = pin.handle();
    let run = run
        .map(|run| run.trim().to_owned())
        .filter(|run| !run.is_empty());
    let found = match &run {
        Some(run) if handle.is_ok() => Some(pinned(room, visitor, run, &pin).await),
        _ => None,
    };
    let looked = Looked {
        pin,
        handle,
        run,
        found,
    };
    let body = body(visitor, &tool, &looked, slip);
    let live = Live::None.or_failed(slip);
    Ok(page(visitor, &inert::text(name), Tab::Tools, live, &body))
}

pub(crate) async fn call(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((agent, name, version)): Path<(String, String, String)>,
    posted: Posted,
) -> Response {
    let callee = (&*agent, &*name, &*version);
    let form = Form::read(&posted);
    let failure = match steering::call(&room, &visitor, callee, &form).await {
        Ok(run) => return Redirect::to(&run::address(&visitor, &run)).into_response(),
        Err(failure) => form.placed(failure, None),
    };
    match Slip::of(posted, failure) {
        Ok(slip) => {
            let page = whole(&room, &visitor, callee, Look::default(), Some(&slip)).await;
            answer(&visitor, Some(&slip), page)
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, tool: &Tool, looked: &Looked, slip: Option<&Slip>) -> Markup {
    html! {
        p { a href={ (visitor.base) "/tools" } { "All tools" } }
        (badges(tool))
        (warning(tool))
        @if let Some(about) = &tool.description {
            p { (inert::text(&about.description)) }
            (facts(tool, about))
            (secrets(&tool.secrets))
            (schemas(about))
            (trying(visitor, tool, about, slip))
        }
        (pinning(visitor, tool, looked))
    }
}

fn facts(tool: &Tool, about: &ToolDescription) -> Markup {
    let approval = match about.approval {
        NeedsApproval::Never => "never",
        NeedsApproval::Always => "every call",
        NeedsApproval::When => "some calls, by their arguments",
    };
    let cache = match about.cache {
        Cache::None => "never".to_owned(),
        Cache::Ttl(time) => format!("for {}", span(time)),
        Cache::Forever => "for ever".to_owned(),
    };
    html! {
        dl.facts {
            dt { "Version" } dd { (inert::text(&about.version)) }
            @if !tool.other_versions.is_empty() { dt { "Other versions" } dd { (inert::text(&tool.other_versions.join(", "))) } }
            dt { "Asks for approval" } dd { (approval) }
            dt { "Repeating a call" } dd { @if about.idempotent { "changes nothing more" } @else { "takes effect again" } }
            dt { "Undo" } dd {
                @match &about.irreversible {
                    Some(why) => { "not possible: " (inert::text(why)) },
                    None if about.has_undo => "the tool says how",
                    None => "the tool does not say how",
                }
            }
            dt { "Results are reused" } dd { (cache) }
            @if let Some(time) = about.timeout { dt { "Timeout" } dd { (span(time)) } }
            dt { "Seen" } dd { (moment(tool.seen_at)) }
        }
    }
}

fn schemas(about: &ToolDescription) -> Markup {
    let shown =
        |value: &Value| Json::of(value).map_or_else(|_| String::new(), |json| inert::json(&json));
    html! {
        details { summary { "Arguments, as JSON Schema" } pre tabindex="0" { (shown(&about.input_schema)) } }
        @if let Some(schema) = &about.output_schema {
            details { summary { "Result, as JSON Schema" } pre tabindex="0" { (shown(schema)) } }
        }
        @if !about.examples.is_empty() {
            details { summary { "Examples" } @for example in &about.examples { pre tabindex="0" { (shown(example)) } } }
        }
    }
}

/// Returns the form by which a visitor calls the tool.
fn trying(visitor: &Visitor, tool: &Tool, about: &ToolDescription, slip: Option<&Slip>) -> Markup {
    let is_there = matches!(tool.status, "active" | "deprecated");
    html! {
        section #try aria-labelledby="try-title" {
            h2 #try-title { "Try it" }
            @match (address(visitor, tool).filter(|_| is_there), visitor.refusal(Action::Call)) {
                (None, _) => p.note { "No worker would carry the call out: the version is " (tool.status) "." },
                (Some(_), Some(why)) => (not_allowed(why)),
                (Some(address), None) => {
                    p.note { "The call is a run of its own, in your name: stored, limited and audited like every call. A tool that writes asks for approval; unless you are the operator, somebody else has to decide." }
                    (form(visitor, "editing try", &address, &calling(visitor, tool, about, slip)))
                },
            }
        }
    }
}

/// Returns the fields and the button of the form by which a visitor calls the tool.
fn calling(visitor: &Visitor, tool: &Tool, about: &ToolDescription, slip: Option<&Slip>) -> Markup {
    let fields = steering::fields(&about.input_schema, &BTreeMap::new());
    let text = |id, name, label, hint| Text {
        id,
        name,
        label,
        hint,
        is_required: false,
        most: None,
    };
    let all = text("try-arguments", ARGUMENTS, "Or all arguments as JSON", "");
    let hint = "for whom the call is made";
    let tenant = text("try-tenant", "tenant", "Tenant", hint);
    html! {
        input type="hidden" name="once" value=(once());
        @for field in &fields { (card::field("try", field, slip)) }
        (all.lines(3, "", slip))
        @if visitor.tenant().is_none() { (tenant.line(slip)) }
        div.buttons { button.approve { "Call " (inert::text(&tool.name)) } }
    }
}

/// Returns the part of a tool's page about a handle: its form, the handle itself, and its value in a run.
fn pinning(visitor: &Visitor, tool: &Tool, looked: &Looked) -> Markup {
    let Looked {
        pin,
        handle,
        run,
        found,
    } = looked;
    html! {
        section #pin aria-labelledby="pin-title" {
            h2 #pin-title { "Pin a result" }
            p.note { "A pinned handle names one call of this tool in any run. It stays valid if the tool is taken away; then it has the value that you choose here." }
            form.filter method="get" action={ (address(visitor, tool).unwrap_or_default()) "#pin" } {
                label { "Name " input type="text" name="name" value=(handle.as_ref().map_or(&pin.name, |handle| &handle.name)) autocomplete="off"; }
                label { "Which call "
                    select name="strategy" {
                        @for (one, told) in [(Strategy::Latest, "the last one"), (Strategy::FirstSuccess, "the first that succeeded"), (Strategy::ByCallId, "the one with this id")] {
                            option value=(word(&one)) selected[one == pin.strategy] { (told) }
                        }
                    }
                }
                label { "Id of the receipt " input type="text" name="call_id" value=(pin.call_id) autocomplete="off"; }
                label { "Without such a call "
                    select name="on_missing" {
                        @for (one, told) in [(OnMissing::Null, "null"), (OnMissing::Error, "an error"), (OnMissing::StaleLastSuccess, "the value of the run before")] {
                            option value=(word(&one)) selected[one == pin.on_missing] { (told) }
                        }
                    }
                }
                label { "In the run " input type="text" name="run" value=[run.as_deref()] autocomplete="off"; }
                button { "Pin" }
            }
            @match handle {
                Err(failure) => p.failure role="alert" { (inert::text(&failure.message)) "." },
                Ok(handle) => {
                    @let json = Json::of(handle).map_or_else(|_| String::new(), |json| inert::json(&json));
                    pre.handle tabindex="0" aria-label="Handle as JSON" { bdi { (json) } }
                },
            }
            @match found {
                None => {},
                Some(Err(failure)) => p.failure { (inert::text(&failure.message)) "." },
                Some(Ok(pinned)) => (value(pinned)),
            }
        }
    }
}

fn value(pinned: &Pinned) -> Markup {
    let shown = pinned
        .receipt
        .as_ref()
        .map(|receipt| match (&receipt.output, &receipt.error) {
            (Some(output), _) => inert::json(output),
            (None, Some(error)) => inert::text(&format!("{}: {}", error.code, error.message)),
            (None, None) => "null".to_owned(),
        });
    html! {
        h3 { "In that run" }
        @match (&pinned.error, shown) {
            (Some(error), _) => p.failure { (inert::text(error)) "." },
            (None, Some(shown)) => pre.value tabindex="0" aria-label="Value of the handle" { bdi { (shown) } },
            (None, None) => pre.value tabindex="0" aria-label="Value of the handle" { "null" },
        }
    }
}
