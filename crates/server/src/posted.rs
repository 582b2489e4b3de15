//! Forms that visitors send, and what is wrong with those that do not fit.

use crate::{failure::Failure, guard::check_token, room::Visitor};
use axum::{
    extract::{Form, FromRequest, Request},
    http::StatusCode,
    response::Response,
};

/// Form that a visitor has sent. It has the token of the visitor: a form without it is refused before it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Posted(Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let path = request.uri().path().to_owned();
        let visitor = request.extensions().get::<Visitor>().cloned();
        let read = Form::<Vec<(String, String)>>::from_request(request, state).await;
        let read = read.map_err(|rejection| {
            Failure::new(rejection.status(), "invalid", rejection.body_text())
        });
        let checked = read.and_then(|Form(pairs)| {
            let posted = Posted(pairs);
            check_token(posted.text("token"), visitor.as_ref())?;
            Ok(posted)
        });
        checked.map_err(|failure| failure.answer(&path, visitor.as_ref()))
    }
}

impl Posted {
    /// Returns the text of a field; empty if the form has no such field.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Returns the text of a field; `None` if the form has no such field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.pairs()
            .find_map(|(own, text)| (own == name).then_some(text))
    }

    /// Returns all fields, in the order in which the browser has sent them.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (&**name, &**text))
    }
}

/// Form that was not carried out because something in it does not fit, with the reason. Its page is shown again with
/// everything that was typed.
#[derive(Debug)]
pub(crate) struct Slip {
    posted: Posted,
    pub(crate) failure: Failure,
}

impl Slip {
    /// Returns the slip that is behind a failure.
    ///
    /// # Errors
    /// With the failure itself, if the visitor cannot mend it in the form.
    pub(crate) fn of(posted: Posted, failure: Failure) -> Result<Self, Failure> {
        match failure.status {
            StatusCode::UNPROCESSABLE_ENTITY => Ok(Slip { posted, failure }),
            _ => Err(failure),
        }
    }

    /// Returns what was typed into a field; `None` if the form had no such field.
    pub(crate) fn typed(&self, name: &str) -> Option<&str> {
        self.posted.get(name)
    }

    /// Returns `true` if this field has one of its boxes ticked with this value.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.posted.pairs().any(|pair| pair == (name, value))
    }

    /// Returns the reason why the form does not fit, if it is in this field.
    pub(crate) fn at(&self, name: &str) -> Option<&str> {
        let is_here = self.failure.field.as_deref() == Some(name);
        is_here.then_some(&*self.failure.message)
    }
}
