//! A call of a run: its result, the run with another result, and a program that makes the call again.

use super::{
    frame::{Live, Tab, page},
    moment, not_allowed, once,
    run::address,
    tools::choice,
};
use crate::{
    guard::check_token,
    inert,
    room::{Room, Visitor},
    shown::calls::{Call, call},
    steering::{self, Otherwise},
};
use agents_core::{Code, run::ToolEnvelope};
use agents_runtime::Action;
use axum::{
    Extension,
    extract::{Form as Body, Path, State},
    response::{IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Form that varies a run: the result that a call has in the variation.
#[derive(Deserialize)]
pub(crate) struct Vary {
    #[serde(default)]
    output: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    once: String,
    token: Option<String>,
}

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, id)): Path<(String, String)>,
) -> Response {
    match call(&room, &visitor, &run, &id).await {
        Ok(call) => {
            let body = body(&visitor, &run, &call);
            page(&visitor, "A call", Tab::Runs, Live::None, &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

pub(crate) async fn vary(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, id)): Path<(String, String)>,
    Body(given): Body<Vary>,
) -> Response {
    let varied = async {
        let Vary {
            output,
            code,
            message,
            once,
            token,
        } = given;
        check_token(token.as_deref(), &visitor)?;
        let once = match &*once {
            "" => String::new(),
            once => steering::once_of(once, &[&*output, &*code, &*message]),
        };
        let result = Otherwise::read(&output, &code, message)?;
        steering::vary(&room, &visitor, &run, &id, result, &once).await
    };
    match varied.await {
        Ok(told) => Redirect::to(&address(&visitor, &told)).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, run: &str, call: &Call) -> Markup {
    html! {
        p { a href=(address(visitor, run)) { "Back to the run" } }
        (receipt(&call.receipt))
        @if call.may_be_varied { (varying(visitor, run, &call.receipt)) }
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
            dt { "Took" } dd { (receipt.duration().as_millis()) " ms" @if receipt.cached { ", from a cache" } }
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
fn varying(visitor: &Visitor, run: &str, receipt: &ToolEnvelope) -> Markup {
    html! {
        section #what-if aria-labelledby="what-if-title" {
            h2 #what-if-title { "What if it had ended otherwise?" }
            p.note { "The run goes on from there in memory, with live models. Tools that only read are called, and no tool that writes. A run of its own tells the outcome." }
            @if let Some(why) = visitor.refusal(Action::Call) { (not_allowed(why)) }
            @else { (otherwise(visitor, run, receipt)) }
        }
    }
}

/// Returns the form in which the visitor gives another result of the call.
fn otherwise(visitor: &Visitor, run: &str, receipt: &ToolEnvelope) -> Markup {
    html! {
            form.editing.try method="post" action={ (address(visitor, run)) "/calls/" (receipt.call_id) } {
                input type="hidden" name="token" value=(visitor.token);
                input type="hidden" name="once" value=(once());
                label for="what-if-output" { "Another output, as JSON" }
                textarea #what-if-output name="output" spellcheck="false" rows="3" {}
                (choice("Or an error", "code", "", &Code::ALL.map(Code::as_str), "–"))
                label for="what-if-message" { "with the message" }
                input #what-if-message type="text" name="message" autocomplete="off";
                div.buttons { button { "Try it" } }
            }
    }
}
