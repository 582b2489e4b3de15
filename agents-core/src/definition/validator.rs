//! Validators of final answers.

use crate::{Error, reader::ReadError};
use futures_util::future::{BoxFuture, FutureExt, ready};
use std::{future::Future, sync::Arc};

/// Functions that check an agent's answer, in the order in which they are asked.
pub(crate) type Validators<'a, O> = Vec<Validator<'a, O>>;

/// Function that accepts an answer, or refuses it with a reason.
type Validator<'a, O> = Arc<dyn Fn(O) -> BoxFuture<'a, Result<(), ReadError>> + Send + Sync + 'a>;

/// Verdict of a validator: a `Result`, or a future of one.
// Public because a signature names it. Programs neither name nor implement it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no verdict about an answer",
    label = "neither a `Result<(), ..>` nor a future of one",
    note = "return `Ok(())` to accept the answer, and `Err(reason)` with a `String` or a `&'static str` to refuse it"
)]
pub trait IntoVerdict<'a, Kind> {
    /// Converts the value into the verdict: accepted, or refused for a reason.
    fn into_verdict(self) -> BoxFuture<'a, Result<(), ReadError>>;
}

/// Marks the implementation for validators that return their verdict at once.
#[doc(hidden)]
#[derive(Debug)]
pub struct AtOnce;

/// Marks the implementation for validators whose verdict is awaited.
#[doc(hidden)]
#[derive(Debug)]
pub struct Awaited;

/// Reason for which a validator refuses an answer: a text, an [`Error`] with a text, or a [`ReadError`] that names the
/// field.
// Public because a signature names it. Programs neither name nor implement it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reason for a model",
    label = "expected a text here",
    note = "return a `String`, a `&'static str` or an `agents::tool::ReadError` that names the field; an error is written out: `.map_err(|e| e.to_string())`"
)]
pub trait IntoReason {
    /// Converts the value into the reason that the model is told.
    fn into_reason(self) -> ReadError;
}

impl IntoReason for String {
    fn into_reason(self) -> ReadError {
        ReadError::new("", self)
    }
}

impl IntoReason for &'static str {
    fn into_reason(self) -> ReadError {
        ReadError::new("", self)
    }
}

impl IntoReason for ReadError {
    fn into_reason(self) -> ReadError {
        self
    }
}

impl IntoReason for Error {
    fn into_reason(self) -> ReadError {
        ReadError::new("", self.to_string())
    }
}

impl<'a, E: IntoReason> IntoVerdict<'a, AtOnce> for Result<(), E> {
    fn into_verdict(self) -> BoxFuture<'a, Result<(), ReadError>> {
        ready(self.settled()).boxed()
    }
}

impl<'a, F> IntoVerdict<'a, Awaited> for F
where
    F: Future<Output: Verdict> + Send + 'a,
{
    fn into_verdict(self) -> BoxFuture<'a, Result<(), ReadError>> {
        self.map(Verdict::settled).boxed()
    }
}

/// Verdict of an async validator of answers: what its future returns.
// Public because a signature names it. Programs neither name nor implement it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no verdict about an answer",
    label = "this function returns no `Result<(), ..>`",
    note = "return `Ok(())` to accept the answer, and `Err(reason)` with a `String` or a `&'static str` to refuse it"
)]
pub trait Verdict {
    /// Returns the verdict: accepted, or refused with a reason.
    fn settled(self) -> Result<(), ReadError>;
}

impl<E: IntoReason> Verdict for Result<(), E> {
    fn settled(self) -> Result<(), ReadError> {
        self.map_err(E::into_reason)
    }
}
