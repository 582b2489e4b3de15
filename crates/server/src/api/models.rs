//! Models, and the profiles that say which ones are asked.

use super::{answer, body};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
    shown::models as shown,
    wording,
};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::Response,
};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Change {
    action: String,
    version: u64,
    /// Number of the version that the visitor saw as the active one. If another one is active by now, the change is
    /// refused.
    replaces: Option<u64>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    answer(shown::models(&room, &visitor).await)
}

pub(crate) async fn versions(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(purpose): Path<String>,
) -> Response {
    answer(shown::versions(&room, &visitor, &purpose).await)
}

pub(crate) async fn change(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(purpose): Path<String>,
    given: Result<Json<Change>, JsonRejection>,
) -> Response {
    let changed = async {
        let Change {
            action,
            version,
            replaces,
        } = body(given)?;
        if action != "roll_back" {
            return Err(Failure::invalid(wording::NO_CHANGE));
        }
        shown::roll_back(&room, &visitor, &purpose, version, replaces).await?;
        shown::versions(&room, &visitor, &purpose).await
    };
    answer(changed.await)
}
