//! Tools, and calls of them.

use super::{answer, body, query};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
    shown::{
        calls::{self, Pin},
        tools::{Search, tools},
    },
    steering::{self, Form},
};
use agents_core::Json as Text;
use axum::{
    Extension, Json,
    extract::{
        Path, Query, State,
        rejection::{JsonRejection, QueryRejection},
    },
    response::Response,
};
use serde::{Deserialize, Serialize};

/// Body of a request to call a tool.
#[derive(Deserialize)]
pub(crate) struct Call {
    arguments: Text,
    /// Tenant that the call is made for, if an operator makes it.
    #[serde(default)]
    tenant: String,
}

/// Answer to a call of a tool: the run that makes it.
#[derive(Serialize)]
struct Called {
    run_id: String,
}

/// Program that makes a call again.
#[derive(Serialize)]
struct Program {
    tool: String,
    rust: String,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    search: Result<Query<Search>, QueryRejection>,
) -> Response {
    let found = async {
        let search: Search = query(search)?;
        tools(&room, &visitor, &search).await
    };
    answer(found.await)
}

pub(crate) async fn call(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((agent, tool, version)): Path<(String, String, String)>,
    given: Result<Json<Call>, JsonRejection>,
) -> Response {
    let called = async {
        let Call { arguments, tenant } = body(given)?;
        let form = Form::of_call(arguments.as_str(), &tenant);
        let run_id = steering::call(&room, &visitor, (&agent, &tool, &version), &form).await?;
        Ok::<_, Failure>(Called { run_id })
    };
    answer(called.await)
}

pub(crate) async fn pinned(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(run): Path<String>,
    pin: Result<Query<Pin>, QueryRejection>,
) -> Response {
    let found = async {
        let pin: Pin = query(pin)?;
        calls::pinned(&room, &visitor, &run, &pin).await
    };
    answer(found.await)
}

pub(crate) async fn program(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, call)): Path<(String, String)>,
) -> Response {
    let program = calls::program(&room, &visitor, &run, &call).await;
    answer(program.map(|program| Program {
        tool: program.tool,
        rust: program.code,
    }))
}
