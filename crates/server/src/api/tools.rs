//! Tools, and calls of them.

use super::{answer, body};
use crate::{
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
    shown::tools::{Search, tools},
    steering::{self, Form},
};
use agents_core::Json as Text;
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::Response,
};
use serde::{Deserialize, Serialize};

/// Body of a request to call a tool.
#[derive(Deserialize)]
pub(crate) struct Call {
    arguments: Text,
    /// Tenant that the call is made for, which only the operator names.
    #[serde(default)]
    tenant: String,
    /// Key by which a repeated request is recognised, so that the call is made once.
    #[serde(default)]
    key: String,
}

/// Response with the run that was started to make the call.
#[derive(Serialize)]
pub(super) struct Started {
    pub(super) run_id: String,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
) -> Response {
    answer(tools(&room, &visitor, &search).await)
}

pub(crate) async fn call(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((agent, tool, version)): Path<(String, String, String)>,
    given: Result<Json<Call>, JsonRejection>,
) -> Response {
    let called = async {
        let Call {
            arguments,
            tenant,
            key,
        } = body(given)?;
        let form = Form::of_call(arguments.as_str(), &tenant, &key);
        let run_id = steering::call(&room, &visitor, (&agent, &tool, &version), &form).await?;
        Ok::<_, Failure>(Started { run_id })
    };
    answer(called.await)
}
