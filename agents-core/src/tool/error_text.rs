//! Error texts of tools that are made at run time.

use crate::error::chain;
use std::{borrow::Cow, error::Error, fmt::Display};

/// Bound on the error type of a [`FnTool`](super::FnTool)'s body: an error, a type that holds one, such as
/// `anyhow::Error` or a box, or a text. The model is told the texts of the error and of its causes.
///
/// The compiler infers `How`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool made at run time",
    label = "no error, and no text",
    note = "make it an error, `impl std::error::Error for {Self}` or `#[derive(thiserror::Error)]`, or give its text: `.map_err(|error| error.to_string())`; it has to own what it holds (`Send + Sync + 'static`)"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait ErrorText<How>: Display + Send + Sync + 'static {
    /// Returns the text of the error, followed by the texts of its causes.
    #[doc(hidden)]
    fn told(&self) -> String;
}

/// Marker by which the compiler tells the cases of [`ErrorText`] apart: the type is an error.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsError {}

/// Marker by which the compiler tells the cases of [`ErrorText`] apart: the type holds an error.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsHolder {}

/// Marker by which the compiler tells the cases of [`ErrorText`] apart: the type is a text.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsText {}

#[diagnostic::do_not_recommend]
impl<E: Error + Send + Sync + 'static> ErrorText<AsError> for E {
    fn told(&self) -> String {
        chain(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E> ErrorText<AsHolder> for E
where
    E: AsRef<dyn Error + Send + Sync> + Display + Send + Sync + 'static,
{
    fn told(&self) -> String {
        chain(self.as_ref())
    }
}

impl ErrorText<AsText> for String {
    fn told(&self) -> String {
        self.clone()
    }
}

impl ErrorText<AsText> for &'static str {
    fn told(&self) -> String {
        (*self).to_owned()
    }
}

impl ErrorText<AsText> for Cow<'static, str> {
    fn told(&self) -> String {
        self.clone().into_owned()
    }
}
