//! Costs, as JSON and as CSV.

use super::{answer, query};
use crate::{
    room::{Room, Visitor},
    shown::costs::{self as shown, Choice},
};
use axum::{
    Extension,
    extract::{Query, State, rejection::QueryRejection},
    http::header,
    response::{IntoResponse, Response},
};

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    choice: Result<Query<Choice>, QueryRejection>,
) -> Response {
    let costs = async { shown::costs(&room, &visitor, &query(choice)?, None).await };
    answer(costs.await)
}

/// Returns all rows as CSV.
pub(crate) async fn csv(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    choice: Result<Query<Choice>, QueryRejection>,
) -> Response {
    let costs = async { shown::costs(&room, &visitor, &query(choice)?, Some(u32::MAX)).await };
    match costs.await {
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
