//! Calls of runs.

use super::{answer, body, tools::Started};
use crate::{
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
    shown::calls::{self, Pin},
    steering::{self, Otherwise},
    wording,
};
use agents_core::{Code, Json as Text};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::Response,
};
use serde::Deserialize;

/// Body of a request that varies a run: the result that a call has in the variation. It has an output or an error.
#[derive(Deserialize)]
pub(crate) struct Vary {
    output: Option<Text>,
    error: Option<Fails>,
    /// Key by which a repeated request is recognised, so that the variation is started once.
    #[serde(default)]
    key: String,
}

#[derive(Deserialize)]
struct Fails {
    code: Code,
    #[serde(default)]
    message: String,
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, call)): Path<(String, String)>,
) -> Response {
    answer(calls::call(&room, &visitor, &run, &call).await)
}

pub(crate) async fn vary(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, call)): Path<(String, String)>,
    given: Result<Json<Vary>, JsonRejection>,
) -> Response {
    let varied = async {
        let Vary { output, error, key } = body(given)?;
        let result = match (output, error) {
            (Some(output), None) => Otherwise::Output(output),
            (None, Some(Fails { code, message })) => Otherwise::Error(code, message),
            _ => return Err(Failure::invalid(wording::NO_OTHER_RESULT)),
        };
        let run_id = steering::vary(&room, &visitor, &run, &call, result, &key).await?;
        Ok(Started { run_id })
    };
    answer(varied.await)
}

pub(crate) async fn pinned(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(run): Path<String>,
    Query(pin): Query<Pin>,
) -> Response {
    answer(calls::pinned(&room, &visitor, &run, &pin).await)
}
