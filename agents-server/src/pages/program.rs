//! A call of a run as a program that makes it again.

use super::{
    frame::{Live, Tab, page},
    run::address,
};
use crate::{
    inert,
    room::{Room, Visitor},
    shown::calls::{Program, program},
};
use axum::{
    Extension,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use maud::{Markup, html};

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, call)): Path<(String, String)>,
) -> Response {
    match program(&room, &visitor, &run, &call).await {
        Ok(program) => {
            let body = body(&visitor, &run, &program);
            page(
                &visitor,
                "A call as a program",
                Tab::Runs,
                Live::None,
                &body,
            )
            .into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, run: &str, program: &Program) -> Markup {
    html! {
        p { "This program calls " code { (inert::text(&program.tool)) } " once more, with the same arguments, in the same version and for the same scope. A worker that has the agent carries the call out, and the call asks for approval if the tool writes." }
        pre.program tabindex="0" aria-label="Program" { bdi { (inert::text(&program.code)) } }
        p { a href=(address(visitor, run)) { "Back to the run" } }
    }
}
