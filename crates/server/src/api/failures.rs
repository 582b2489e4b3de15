//! Failures, in clusters.

use super::{answer, body};
use crate::{
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
    shown::failures::{Search, clusters},
    steering,
};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::Response,
};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Triage {
    status: String,
    #[serde(default)]
    notes: String,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
) -> Response {
    answer(clusters(&room, &visitor, &search).await)
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let cluster = room.client.failures().get(&id, &visitor.principal).await;
    answer(cluster.map_err(Failure::from))
}

pub(crate) async fn triage(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    given: Result<Json<Triage>, JsonRejection>,
) -> Response {
    let triaged = async {
        let Triage { status, notes } = body(given)?;
        steering::triage(&room, &visitor, &id, &status, &notes).await?;
        let cluster = room.client.failures().get(&id, &visitor.principal).await;
        cluster.map_err(Failure::from)
    };
    answer(triaged.await)
}
