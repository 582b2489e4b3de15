//! What goes wrong, collected: a macro reports all its user's mistakes in one compile.

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::{cell::RefCell, fmt::Display, thread};

/// The mistakes seen so far.
///
/// Every set has to be read: [`finish`](Errors::finish) does it, and dropping an unread one
/// panics, so that no mistake is lost on the way.
pub(crate) struct Errors(RefCell<Option<Vec<syn::Error>>>);

impl Errors {
    /// No mistakes.
    pub(crate) fn new() -> Self {
        Errors(RefCell::new(Some(Vec::new())))
    }

    /// Underlines `tokens`, from the first to the last, and says `message`.
    pub(crate) fn at(&self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Takes up a mistake that syn found.
    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(errors) = &mut *self.0.borrow_mut() {
            errors.push(error);
        }
    }

    /// Keeps what went well, and takes up what did not.
    pub(crate) fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// The barrier between two phases: whether nothing went wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().as_ref().is_none_or(Vec::is_empty)
    }

    /// All mistakes as `compile_error!`s, each at its own place; nothing if there are none.
    pub(crate) fn finish(self) -> TokenStream {
        let errors = self.0.take().unwrap_or_default();
        errors.iter().map(syn::Error::to_compile_error).collect()
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(self.0.borrow().is_none() || thread::panicking(), "mistakes were collected and never reported");
    }
}
