//! The description of the API. It is written by hand, and a test holds the answers against it.

use crate::room::Visitor;
use axum::{
    Extension,
    http::header,
    response::{IntoResponse, Response},
};
use serde_json::Value;

/// OpenAPI description of the JSON API, with the address of a control room that is not nested.
const DOCUMENT: &str = include_str!("openapi.json");

pub(crate) async fn document(Extension(visitor): Extension<Visitor>) -> Response {
    // Programs find the API where the application has put the control room.
    let document = match &*visitor.base {
        "" => DOCUMENT.to_owned(),
        base => {
            let own = format!("\"url\": {}", Value::from(base));
            DOCUMENT.replacen("\"url\": \"/\"", &own, 1)
        }
    };
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (headers, document).into_response()
}
