//! Tools, and calls of them.

use super::{answer, body, query};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
    shown::tools::{Search, tools},
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

/// Run that was started.
#[derive(Serialize)]
pub(super) struct Started {
    pub(super) run_id: String,
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
        Ok::<_, Failure>(Started { run_id })
    };
    answer(called.await)
}
