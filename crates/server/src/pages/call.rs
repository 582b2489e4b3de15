//! A call of a run: its result, the run with another result, and a program that makes the call again.

use super::{
    form::{Text, answer, form},
    frame::{Live, Tab, page},
    moment, not_allowed, once,
    run::address,
    tools::choice,
    worked,
};
use crate::{
    failure::Failure,
    inert,
    posted::{Posted, Slip},
    room::{Room, Visitor},
    shown::calls::{Call, call},
    steering::{self, Otherwise},
};
use agents_core::{Code, run::ToolEnvelope};
use agents_runtime::Action;
use axum::{
    Extension,
    extract::{Path, State},
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, id)): Path<(String, String)>,
) -> Response {
    answer(
        &visitor,
        None,
        whole(&room, &visitor, &run, &id, None).await,
    )
}

/// Returns the page of a call. `slip` is what the visitor has got wrong in the form that varies the run.
async fn whole(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    id: &str,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let call = call(room, visitor, run, id).await?;
    let body = body(visitor, run, &call, slip);
    let live = Live::None.or_failed(slip);
    Ok(page(visitor, "A call", Tab::Runs, live, &body))
}

pub(crate) async fn vary(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, id)): Path<(String, String)>,
    posted: Posted,
) -> Response {
    let varied = async {
        let result @ [output, code, message] =
            ["output", "code", "message"].map(|name| posted.text(name));
        let once = match posted.text("once") {
            "" => String::new(),
            once => steering::once_of(once, &result),
        };
        let result = Otherwise::read(output, code, message.to_owned())?;
        steering::vary(&room, &visitor, &run, &id, result, &once).await
    };
    let failure = match varied.await {
        Ok(told) => return Redirect::to(&address(&visitor, &told)).into_response(),
        Err(failure) => failure,
    };
    match Slip::of(posted, failure) {
        Ok(slip) => {
            let page = whole(&room, &visitor, &run, &id, Some(&slip)).await;
            answer(&visitor, Some(&slip), page)
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, run: &str, call: &Call, slip: Option<&Slip>) -> Markup {
    html! {
        p { a href=(address(visitor, run)) { "Back to the run" } }
        (receipt(&call.receipt))
        @if call.may_be_varied { (varying(visitor, run, &call.receipt, slip)) }
        @if let Some(rust) = &call.rust {
            h2 { "As a program" }
            p.note { "This program makes the call once more, with the same arguments, in the same version and for the same scope. A worker that has the agent carries the call out, and the call asks for approval if the tool writes." }
            pre.program tabindex="0" aria-label="Program" { bdi { (inert::text(rust)) } }
        }
    }
}

fn receipt(receipt: &ToolEnvelope) -> Markup {
    html! {
        dl.facts {
            dt { "Tool" } dd { (inert::text(&receipt.name)) " " small.version { (inert::text(&receipt.version)) } }
            dt { "Began" } dd { (moment(receipt.t_start)) }
            dt { "Took" } dd { (worked(receipt).as_millis()) " ms" @if receipt.cached { ", from a cache" } }
            dt { "Executions" } dd { (receipt.attempts.len()) }
            dt { "Receipt" } dd { code { (receipt.call_id) } }
        }
        h2 { "Arguments" }
        pre tabindex="0" aria-label="Arguments" { bdi { (inert::json(&receipt.input)) } }
        @match (&receipt.output, &receipt.error) {
            (Some(output), _) => {
                h2 { "Output" }
                pre tabindex="0" aria-label="Output" { bdi { (inert::json(output)) } }
            },
            (None, Some(error)) => {
                h2 { "Error" }
                p.failure { bdi { (inert::text(&error.message)) } }
            },
            (None, None) => {},
        }
    }
}

/// Returns the part of the page in which a visitor tries the run with another result of this call, or the reason why
/// the visitor may not do so.
fn varying(visitor: &Visitor, run: &str, receipt: &ToolEnvelope, slip: Option<&Slip>) -> Markup {
    html! {
        section #what-if aria-labelledby="what-if-title" {
            h2 #what-if-title { "What if it had ended otherwise?" }
            p.note { "The run goes on from there in memory, with live models. Tools that only read are called, and no tool that writes. A run of its own tells the outcome." }
            @if let Some(why) = visitor.refusal(Action::Call) { (not_allowed(why)) }
            @else { (otherwise(visitor, run, receipt, slip)) }
        }
    }
}

/// Returns the form in which the visitor gives another result of the call.
fn otherwise(visitor: &Visitor, run: &str, receipt: &ToolEnvelope, slip: Option<&Slip>) -> Markup {
    let text = |id, name, label| Text {
        id,
        name,
        label,
        hint: "",
        is_required: false,
        most: None,
    };
    let output = text("what-if-output", "output", "Another output, as JSON");
    let message = text("what-if-message", "message", "with the message");
    let code = slip.and_then(|slip| slip.typed("code")).unwrap_or_default();
    let contents = html! {
        input type="hidden" name="once" value=(once());
        (output.lines(3, "", slip))
        (choice("Or an error", "code", code, &Code::ALL.map(Code::as_str), "–"))
        (message.line(slip))
        div.buttons { button { "Try it" } }
    };
    let action = format!("{}/calls/{}", address(visitor, run), receipt.call_id);
    form(visitor, "editing try", &action, &contents)
}
