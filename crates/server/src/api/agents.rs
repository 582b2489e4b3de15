//! Agents of the workers.

use super::answer;
use crate::{
    room::{Room, Visitor},
    shown::agents,
};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};

pub(crate) async fn list(State(room): State<Room>) -> Response {
    answer(agents::agents(&room).await)
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(agent): Path<String>,
) -> Response {
    answer(agents::agent(&room, &visitor, &agent).await)
}
