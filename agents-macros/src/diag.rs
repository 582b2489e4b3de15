//! The mistakes of the user, collected: a macro reports all of them in one compile.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::{
    cell::{Cell, RefCell},
    fmt::Display,
    thread,
};

/// The mistakes that a macro has found so far.
///
/// Every set has to be read, which [`finish`](Errors::finish) and [`bare`](Errors::bare) do. Dropping an unread set
/// panics, even if the set is empty, so that no mistake is lost. Only a thread that panics already may drop one.
pub(crate) struct Errors {
    seen: RefCell<Option<Vec<syn::Error>>>,
    is_whole: Cell<bool>,
}

impl Errors {
    /// Returns a set of mistakes that is empty.
    pub(crate) fn new() -> Self {
        Errors {
            seen: RefCell::new(Some(Vec::new())),
            is_whole: Cell::new(true),
        }
    }

    /// Adds a mistake that underlines `tokens`, from the first to the last, and says `message`.
    pub(crate) fn at(&self, tokens: impl ToTokens, message: impl Display) {
        self.spanned(&tokens, &message);
    }

    fn spanned(&self, tokens: &dyn ToTokens, message: &dyn Display) {
        self.note(syn::Error::new_spanned(tokens, message));
    }

    /// Adds a mistake that left a part of the code unread: from now on, [`is_whole`](Self::is_whole) returns `false`.
    pub(crate) fn push(&self, error: syn::Error) {
        self.is_whole.set(false);
        self.note(error);
    }

    /// Adds a mistake in code that could be read as a whole.
    pub(crate) fn note(&self, error: syn::Error) {
        if let Some(errors) = &mut *self.seen.borrow_mut() {
            errors.push(error);
        }
    }

    /// Returns the value of a result, or adds its error to the mistakes and returns `None`.
    pub(crate) fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Tells whether there are no mistakes yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.borrow().iter().all(Vec::is_empty)
    }

    /// Tells whether everything could be read, so that the code's meaning may be checked. An unread part must not look
    /// as if the user had left it out.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole.get()
    }

    /// Returns all mistakes as `compile_error!`s, each at its own place.
    ///
    /// The errors stand in a constant, because rustc reports no unknown names in a module with a `compile_error!`.
    /// Other mistakes there have to be reported in the same compile. After an unread part there is no constant:
    /// names may be unknown because of that part.
    pub(crate) fn finish(self) -> TokenStream {
        let is_whole = self.is_whole();
        let errors = self.bare();
        match errors.is_empty() || !is_whole {
            true => errors,
            false => quote!(const _: () = { #errors };),
        }
    }

    /// Returns a `compile_error!` for each mistake, without the constant that [`finish`](Self::finish) puts around
    /// them. Code within an `impl` needs this: a constant without a name is not allowed there.
    pub(crate) fn bare(self) -> TokenStream {
        let errors = self.seen.take().unwrap_or_default();
        let errors = errors.iter().map(syn::Error::to_compile_error);
        quote!(#(#errors)*)
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.seen.borrow().is_none() || thread::panicking(),
            "mistakes were collected and never reported"
        );
    }
}
