//! Bounds on numbers, lengths and counts.

use super::{
    schema::Limits,
    tape::{Kind, Tape},
    wording,
};

impl Limits {
    /// Returns a description of the first bound of the schema that a value breaks; `None` if the value keeps all
    /// bounds.
    pub(super) fn broken(&self, tape: &Tape<'_>, at: usize) -> Option<&'static str> {
        match tape.kind(at) {
            Kind::Number => self.number(tape.text(at)),
            Kind::String => self.string(&tape.string(at)),
            Kind::Array => self.count(tape.children(at).count()),
            Kind::Object => self.members(tape.members(at).count()),
            _ => None,
        }
    }

    pub(super) fn count(&self, elements: usize) -> Option<&'static str> {
        within(elements, self.items).map(|few| {
            if few {
                wording::TOO_SHORT
            } else {
                wording::TOO_LONG
            }
        })
    }

    pub(super) fn members(&self, count: usize) -> Option<&'static str> {
        within(count, self.members).map(|few| {
            if few {
                wording::TOO_FEW_MEMBERS
            } else {
                wording::TOO_MANY_MEMBERS
            }
        })
    }

    pub(super) fn number(&self, text: &str) -> Option<&'static str> {
        let number: f64 = text.parse().ok()?;
        if self.minimum.is_some_and(|least| number < least)
            || self.above.is_some_and(|least| number <= least)
        {
            return Some(wording::TOO_SMALL);
        }
        (self.maximum.is_some_and(|most| number > most)
            || self.below.is_some_and(|most| number >= most))
        .then_some(wording::TOO_LARGE)
    }

    pub(super) fn string(&self, text: &str) -> Option<&'static str> {
        if self.length != (None, None)
            && let Some(short) = within(text.chars().count(), self.length)
        {
            return Some(if short {
                wording::TOO_SHORT
            } else {
                wording::TOO_LONG
            });
        }
        self.patterns
            .iter()
            .any(|pattern| !pattern.matches(text))
            .then_some(wording::OTHER_FORM)
    }
}

/// Compares a count with its bounds. Returns `Some(true)` if the count is too small, `Some(false)` if it is too large,
/// and `None` if it is within the bounds.
fn within(count: usize, (least, most): (Option<u64>, Option<u64>)) -> Option<bool> {
    let count = count as u64;
    match () {
        () if least.is_some_and(|least| count < least) => Some(true),
        () if most.is_some_and(|most| count > most) => Some(false),
        () => None,
    }
}
