//! What a tool that is made at run time says of its errors.

use crate::error::chain;
use std::{borrow::Cow, error::Error, fmt::Display};

/// What the body of a [`FnTool`](super::FnTool) can fail with: an error, what holds one, such as `anyhow::Error`
/// and a box of one, or a text. The model is told its text and those of its causes.
///
/// `How` is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool made at run time",
    label = "no error, and no text",
    note = "make it an error, `impl std::error::Error for {Self}` or `#[derive(thiserror::Error)]`, or give its text: `.map_err(|error| error.to_string())`; it has to own what it holds (`Send + Sync + 'static`)"
)]
pub trait Told<How>: Display + Send + Sync + 'static {
    /// The text, and those of the causes.
    #[doc(hidden)]
    fn told(&self) -> String;
}

/// As an error.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsError {}

/// As what holds an error.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsHolder {}

/// As a text.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsText {}

#[diagnostic::do_not_recommend]
impl<E: Error + Send + Sync + 'static> Told<AsError> for E {
    fn told(&self) -> String {
        chain(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E> Told<AsHolder> for E
where
    E: AsRef<dyn Error + Send + Sync> + Display + Send + Sync + 'static,
{
    fn told(&self) -> String {
        chain(self.as_ref())
    }
}

impl Told<AsText> for String {
    fn told(&self) -> String {
        self.clone()
    }
}

impl Told<AsText> for &'static str {
    fn told(&self) -> String {
        (*self).to_owned()
    }
}

impl Told<AsText> for Cow<'static, str> {
    fn told(&self) -> String {
        self.clone().into_owned()
    }
}
