//! Text whose end may not be known yet.

use std::cell::{Cell, RefCell};

/// Text as far as it has arrived. It notes when an examination met its end, so that the answer may change.
///
/// This type makes streaming equal to reading the whole text. A grammar does not know about chunks, and asks here. If
/// an answer depends on the end of an unfinished text, it is discarded. The question is asked again when more text
/// has come.
pub(super) struct Text<'t> {
    all: &'t str,
    finished: bool,
    touched: Cell<bool>,
    work: Cell<usize>,
    found: RefCell<Vec<Found>>,
    endless: Cell<bool>,
}

/// Last search for a marker, with its result, so that the same stretch is not searched twice.
struct Found {
    needle: &'static str,
    from: usize,
    at: Option<usize>,
}

impl<'t> Text<'t> {
    pub(super) fn new(all: &'t str, finished: bool) -> Self {
        Self {
            all,
            finished,
            touched: Cell::new(false),
            work: Cell::new(0),
            found: RefCell::new(Vec::new()),
            endless: Cell::new(false),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Starts a new question about the text: the bytes that are examined are counted anew.
    pub(super) fn ask(&self) {
        self.touched.set(false);
        self.work.set(0);
    }

    /// Returns true if the answer to the question may change when more text arrives.
    pub(super) fn unsettled(&self) -> bool {
        self.touched.get() && !self.finished
    }

    /// Returns the number of bytes that were examined since the question began.
    pub(super) fn work(&self) -> usize {
        self.work.get()
    }

    pub(super) fn count(&self, bytes: usize) {
        self.work.set(self.work.get() + bytes);
    }

    pub(super) fn touch(&self) {
        self.touched.set(true);
    }

    /// Records that a search for the end of a value has met the end of the text. Further such searches would take
    /// quadratic time.
    pub(super) fn set_endless(&self) {
        self.endless.set(true);
    }

    /// Returns true if a search for the end of a value has met the end of the text.
    pub(super) fn is_endless(&self) -> bool {
        self.endless.get()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'t str {
        &self.all[from..to]
    }

    /// Returns all of the text from this offset on; the caller reports how much of it was used.
    pub(super) fn rest(&self, from: usize) -> &'t str {
        &self.all[from..]
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        let byte = self.all.as_bytes().get(at).copied();
        if byte.is_none() {
            self.touch();
        }
        byte
    }

    pub(super) fn char(&self, at: usize) -> Option<char> {
        let char = self.all[at..].chars().next();
        if char.is_none() {
            self.touch();
        }
        char
    }

    pub(super) fn starts_with(&self, at: usize, marker: &str) -> bool {
        let rest = &self.all.as_bytes()[at..];
        if rest.len() < marker.len() {
            if marker.as_bytes().starts_with(rest) {
                self.touch();
            }
            return false;
        }
        rest.starts_with(marker.as_bytes())
    }

    /// Returns the place of the next occurrence of a marker; `None` if the marker does not follow. Each marker is
    /// searched for only once over the same stretch, so many openings without an end stay linear.
    pub(super) fn find(&self, from: usize, needle: &'static str) -> Option<usize> {
        self.find_first(from, &[needle]).map(|(at, _)| at)
    }

    /// Returns the place of the nearest of several markers, and the marker; `None` if no marker follows.
    ///
    /// No marker begins inside another, so the marker found stays the nearest, whatever follows.
    pub(super) fn find_first(
        &self,
        from: usize,
        needles: &[&'static str],
    ) -> Option<(usize, &'static str)> {
        let nearest = needles
            .iter()
            .filter_map(|needle| self.seek(from, needle).map(|at| (at, *needle)))
            .min_by_key(|(at, _)| *at);
        if nearest.is_none() {
            self.touch();
        }
        nearest
    }

    fn seek(&self, from: usize, needle: &'static str) -> Option<usize> {
        let mut found = self.found.borrow_mut();
        let index = match found.iter().position(|f| f.needle == needle) {
            Some(index) => index,
            None => {
                found.push(Found {
                    needle,
                    from: usize::MAX,
                    at: None,
                });
                found.len() - 1
            }
        };
        let entry = &mut found[index];
        if from < entry.from {
            // A result from further on need not be searched again.
            let to = entry
                .from
                .saturating_add(needle.len() - 1)
                .min(self.all.len());
            if let Some(at) = position(&self.all.as_bytes()[from..to], needle.as_bytes()) {
                entry.at = Some(from + at);
            }
            entry.from = from;
        } else if entry.at.is_some_and(|at| at < from) {
            entry.at = self.all[from..].find(needle).map(|at| from + at);
            entry.from = from;
        }
        entry.at
    }
}

/// Finds `needle` as `str::find` finds text; `bytes` may end inside a character.
fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.find(std::str::from_utf8(needle).ok()?),
        Err(_) => bytes
            .windows(needle.len())
            .position(|window| window == needle),
    }
}

/// Place in a [`Text`], at which a grammar reads on.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'c, 't> {
    pub(super) text: &'c Text<'t>,
    pub(super) at: usize,
}

impl<'c, 't> Cursor<'c, 't> {
    pub(super) fn new(text: &'c Text<'t>, at: usize) -> Self {
        Self { text, at }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.byte(self.at)
    }

    pub(super) fn next_char(&mut self) -> Option<char> {
        let char = self.text.char(self.at)?;
        self.at += char.len_utf8();
        self.text.count(1);
        Some(char)
    }

    pub(super) fn looking_at(&self, marker: &str) -> bool {
        self.text.starts_with(self.at, marker)
    }

    pub(super) fn eat(&mut self, marker: &str) -> bool {
        let there = self.looking_at(marker);
        if there {
            self.at += marker.len();
            self.text.count(marker.len());
        }
        there
    }

    pub(super) fn eat_any(&mut self, markers: &[&str]) -> bool {
        markers.iter().any(|marker| self.eat(marker))
    }

    pub(super) fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let from = self.at;
        while let Some(char) = self.text.char(self.at) {
            if !wanted(char) {
                break;
            }
            self.at += char.len_utf8();
        }
        self.text.count(self.at - from);
    }

    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let from = self.at;
        self.skip_while(wanted);
        self.text.slice(from, self.at)
    }

    /// Takes the characters that are wanted, but no more than the first `most` bytes and the character after them.
    pub(super) fn take_word(&mut self, most: usize, wanted: impl Fn(char) -> bool) -> &'t str {
        let from = self.at;
        while self.at - from <= most
            && let Some(char) = self.text.char(self.at)
            && wanted(char)
        {
            self.at += char.len_utf8();
        }
        self.text.count(self.at - from);
        self.text.slice(from, self.at)
    }

    pub(super) fn skip_space(&mut self) {
        self.skip_while(char::is_whitespace);
    }

    /// Takes the text up to a marker and moves past the marker; stays in place if the marker does not follow.
    pub(super) fn take_until(&mut self, marker: &'static str) -> Option<&'t str> {
        let end = self.text.find(self.at, marker)?;
        let taken = self.text.slice(self.at, end);
        self.text.count(taken.len());
        self.at = end + marker.len();
        Some(taken)
    }

    /// Returns true if the text ends here, or in the middle of one of these markers.
    pub(super) fn ends_in_part_of(&self, markers: &[&str]) -> bool {
        let rest = self.text.rest(self.at);
        let ends = markers.iter().any(|marker| marker.starts_with(rest));
        if ends {
            self.text.touch();
        }
        ends
    }
}
