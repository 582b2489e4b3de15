//! Dead letters.

use super::{answer, body};
use crate::{
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
    shown::letters::{Search, letters},
    steering,
};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::Response,
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    limit: u32,
}

#[derive(Deserialize)]
pub(crate) struct Replay {
    reason: String,
}

/// Response to the replay of a dead letter: the letter is sent again, or its run goes on.
#[derive(Serialize)]
struct Replayed {
    event_id: String,
    /// Id of the run that goes on; missing for a letter.
    run_id: Option<String>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
    Query(part): Query<Part>,
) -> Response {
    answer(letters(&room, &visitor, &search, part.limit).await)
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let letter = room.client.letters().get(&id, &visitor.principal).await;
    answer(letter.map_err(Failure::from))
}

pub(crate) async fn replay(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    given: Result<Json<Replay>, JsonRejection>,
) -> Response {
    let replayed = async {
        let Replay { reason } = body(given)?;
        let run_id = steering::replay(&room, &visitor, &id, &reason).await?;
        Ok::<_, Failure>(Replayed {
            event_id: id,
            run_id,
        })
    };
    answer(replayed.await)
}
