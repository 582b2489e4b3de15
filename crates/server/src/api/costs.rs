//! Costs, as JSON and as CSV.

use super::answer;
use crate::{
    query::Query,
    room::{Room, Visitor},
    shown::costs::{self as shown, Choice},
};
use axum::{
    Extension,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    answer(shown::costs(&room, &visitor, &choice, None).await)
}

/// Returns all rows of the costs that the query chooses, as CSV.
pub(crate) async fn csv(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    match shown::costs(&room, &visitor, &choice, Some(u32::MAX)).await {
        Ok(costs) => {
            let headers = [
                (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
                (
                    header::CONTENT_DISPOSITION,
                    "attachment; filename=\"costs.csv\"",
                ),
            ];
            (headers, costs.csv()).into_response()
        }
        Err(failure) => failure.json(),
    }
}
