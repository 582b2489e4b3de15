//! What goes wrong, collected: a macro reports all its user's mistakes in one compile.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::{
    cell::{Cell, RefCell},
    fmt::Display,
    thread,
};

/// The mistakes seen so far.
///
/// Every set has to be read: [`finish`](Errors::finish) does it, and dropping an unread one
/// panics, so that no mistake is lost on the way.
pub(crate) struct Errors {
    seen: RefCell<Option<Vec<syn::Error>>>,
    is_whole: Cell<bool>,
}

impl Errors {
    /// No mistakes.
    pub(crate) fn new() -> Self {
        Errors {
            seen: RefCell::new(Some(Vec::new())),
            is_whole: Cell::new(true),
        }
    }

    /// Underlines `tokens`, from the first to the last, and says `message`.
    pub(crate) fn at(&self, tokens: impl ToTokens, message: impl Display) {
        self.note(syn::Error::new_spanned(tokens, message));
    }

    /// Takes up a mistake that leaves a part unread.
    pub(crate) fn push(&self, error: syn::Error) {
        self.is_whole.set(false);
        self.note(error);
    }

    /// Takes up a mistake behind which everything could be read.
    pub(crate) fn note(&self, error: syn::Error) {
        if let Some(errors) = &mut *self.seen.borrow_mut() {
            errors.push(error);
        }
    }

    /// Keeps what went well, and takes up what did not.
    pub(crate) fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Whether there are none yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.borrow().iter().all(Vec::is_empty)
    }

    /// The barrier between syntax and meaning: whether everything could be read. What could not
    /// must not look as if the user had left it out.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole.get()
    }

    /// All mistakes as `compile_error!`s, each at its own place; nothing if there are none.
    ///
    /// They stand in a constant: rustc says nothing about unknown names in a module in which a
    /// `compile_error!` stands, and whatever else is wrong there is to be said in the same compile. But for what
    /// is unread: names may be unknown because they stand there.
    pub(crate) fn finish(self) -> TokenStream {
        let is_whole = self.is_whole();
        let errors = self.bare();
        match errors.is_empty() || !is_whole {
            true => errors,
            false => quote!(const _: () = { #errors };),
        }
    }

    /// The same within an `impl`, where a constant needs a name.
    pub(crate) fn bare(self) -> TokenStream {
        let errors = self.seen.take().unwrap_or_default();
        errors.iter().map(syn::Error::to_compile_error).collect()
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
