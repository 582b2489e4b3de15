//! JSON of what pages show.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod calls;
pub(crate) mod conversations;
pub(crate) mod costs;
pub(crate) mod failures;
pub(crate) mod letters;
pub(crate) mod live;
pub(crate) mod models;
pub(crate) mod openapi;
pub(crate) mod runs;
pub(crate) mod tools;

use crate::failure::Failure;
use axum::{
    Json,
    extract::rejection::JsonRejection,
    response::{IntoResponse, Response},
};
use serde::Serialize;

/// Returns the response of the JSON API: the value as JSON, or the failure.
pub(crate) fn answer<T: Serialize>(result: Result<T, Failure>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(failure) => failure.json(),
    }
}

/// Returns the body of a request, read from its JSON. A body that does not fit is a failure.
pub(crate) fn body<T>(body: Result<Json<T>, JsonRejection>) -> Result<T, Failure> {
    match body {
        Ok(Json(body)) => Ok(body),
        Err(rejection) => {
            let message = rejection.body_text();
            Err(Failure::new(rejection.status(), "invalid", message))
        }
    }
}
