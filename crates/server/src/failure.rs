//! Failures, as pages and as JSON.

use crate::{room::Visitor, wording};
use agents_control::{ControlError, ControlErrorKind};
use agents_runtime::{RuntimeError, RuntimeErrorKind};
use agents_store::ErrorKind;
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

/// Returns `true` for the path of a request whose answer is JSON.
pub(crate) fn is_of_api(path: &str) -> bool {
    path.starts_with("/api/")
}

/// Reason why a request was not carried out, with the status of the response.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// Word for the kind of failure, by which programs tell failures apart.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    /// Name of the form field that does not fit; `None` if it is not one field alone.
    pub(crate) field: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Failure {
            status,
            kind,
            message: message.into(),
            field: None,
        }
    }

    /// Sets the form field that does not fit.
    pub(crate) fn at(self, field: impl Into<String>) -> Self {
        Failure {
            field: Some(field.into()),
            ..self
        }
    }

    /// Returns the failure of a request whose fields do not fit.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
    }

    pub(crate) fn not_found() -> Self {
        Failure::new(StatusCode::NOT_FOUND, "not_found", wording::NO_PAGE)
    }

    /// Returns the failure of a request for the contents of runs, for a visitor who may not see them.
    pub(crate) fn contents_are_for_others() -> Self {
        Failure::new(StatusCode::FORBIDDEN, "forbidden", wording::FOR_OTHERS)
    }

    /// Returns the failure of a request that needs a control plane, in a control room without one.
    pub(crate) fn no_control() -> Self {
        Failure::new(StatusCode::NOT_FOUND, "no_control", wording::NO_CONTROL)
    }

    /// Returns the response to a request for this path: JSON below `/api` and without a visitor, a page otherwise.
    pub(crate) fn answer(self, path: &str, visitor: Option<&Visitor>) -> Response {
        match visitor.filter(|_| !is_of_api(path)) {
            Some(visitor) => self.page(visitor),
            None => self.json(),
        }
    }

    pub(crate) fn json(self) -> Response {
        let error = json!({"error": {"kind": self.kind, "message": self.message}});
        (self.status, Json(error)).into_response()
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        let (status, kind) = match error.kind() {
            RuntimeErrorKind::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            RuntimeErrorKind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            RuntimeErrorKind::Sealed => (StatusCode::GONE, "sealed"),
            RuntimeErrorKind::Store(ErrorKind::NotFound) => (StatusCode::NOT_FOUND, "not_found"),
            RuntimeErrorKind::Store(
                ErrorKind::Settled | ErrorKind::Over | ErrorKind::NotOver | ErrorKind::Conflict,
            ) => (StatusCode::CONFLICT, "settled"),
            RuntimeErrorKind::Store(ErrorKind::Unavailable) => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "failed"),
        };
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(%error, "a request has failed");
        }
        Failure::new(status, kind, error.to_string())
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let (status, kind) = match error.kind() {
            ControlErrorKind::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            ControlErrorKind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            ControlErrorKind::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            ControlErrorKind::Conflict => (StatusCode::CONFLICT, "settled"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        Failure::new(status, kind, error.to_string())
    }
}
