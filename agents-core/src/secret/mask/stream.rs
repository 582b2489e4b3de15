use super::{
    Masker,
    known::{At, Known},
};
use std::sync::Arc;

/// Masks a text that comes in pieces: what may be the beginning of a secret is held back until it is
/// known.
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

    /// One more piece; what of it, and of what was held back, may be shown.
    pub(crate) fn push(&mut self, piece: String) -> String {
        let Some(known) = &self.known else {
            return piece;
        };
        self.held.push_str(&piece);
        let held = open(known, &self.held);
        let rest = self.held.split_off(held);
        let shown = std::mem::replace(&mut self.held, rest);
        known.text(&shown).into_owned()
    }

    /// There is no more.
    pub(crate) fn finish(self) -> String {
        match &self.known {
            Some(known) => known.text(&self.held).into_owned(),
            None => self.held,
        }
    }
}

/// Where the first secret may begin that is not yet complete; the end if there is none.
fn open(known: &Known, text: &str) -> usize {
    let mut at = 0;
    while at < text.len() {
        match known.at(text, at) {
            At::Open | At::Secret { open: true, .. } => return at,
            At::Secret { end, .. } => at = end,
            At::Nothing => at += 1,
        }
    }
    text.len()
}
