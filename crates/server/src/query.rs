//! The query of a request, for pages and for JSON.

use crate::{failure::Failure, room::Visitor};
use axum::{extract, extract::FromRequestParts, http::request::Parts, response::Response};
use serde::de::DeserializeOwned;

/// Query of a request, read into a `T`. A query that does not fit is a failure that names the field.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        match extract::Query::from_request_parts(parts, state).await {
            Ok(extract::Query(query)) => Ok(Query(query)),
            Err(rejection) => {
                let failure = Failure::invalid(rejection.body_text());
                let visitor = parts.extensions.get::<Visitor>();
                Err(failure.answer(parts.uri.path(), visitor))
            }
        }
    }
}
