use super::{Masker, known::Known};
use std::sync::Arc;

/// Masks a text that comes in pieces, by the secrets that the masker knows when the text begins. The possible beginning
/// of a secret is held back until it is certain.
pub(crate) struct Stream {
    known: Option<Arc<Known>>,
    held: String,
}

impl Stream {
    pub(crate) fn new(masker: &Masker) -> Self {
        Stream {
            known: masker.known(),
            held: String::new(),
        }
    }

    /// Adds the next part of a text, and returns the text that may be shown now, masked. The returned text begins with
    /// what was held back before.
    pub(crate) fn push(&mut self, piece: String) -> String {
        let Some(known) = &self.known else {
            return piece;
        };
        self.held.push_str(&piece);
        let rest = self.held.split_off(known.open(&self.held));
        let shown = std::mem::replace(&mut self.held, rest);
        known.text(&shown).into_owned()
    }

    /// Returns the rest of the text, which was held back, masked; nothing more may follow.
    pub(crate) fn finish(self) -> String {
        match &self.known {
            Some(known) => known.text(&self.held).into_owned(),
            None => self.held,
        }
    }
}
