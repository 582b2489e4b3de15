//! Series of calls: what stands between one call and the next.

use super::text::Cursor;

/// Words that may stand between two calls, besides white space, commas and semicolons: conjunctions and marks of a
/// list. A number with a point or a parenthesis, such as `2.`, is a mark as well.
const LINKS: &[&str] = &["and", "then", "&", "+", "-", "*", "•"];

/// Length in bytes that no link exceeds.
const MAX_LINK: usize = 8;

fn is_link(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    let is_mark = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    word.len() <= MAX_LINK && (LINKS.contains(&word) || is_mark)
}

fn is_separator(char: char) -> bool {
    char.is_whitespace() || matches!(char, ',' | ';')
}

/// Returns true if a link may begin with this word.
fn may_grow(word: &str) -> bool {
    let is_number = word.bytes().all(|b| b.is_ascii_digit());
    is_link(word) || is_number || LINKS.iter().any(|link| link.starts_with(word))
}

/// Moves the cursor past what may stand between two calls.
pub(super) fn skip_links(cursor: &mut Cursor<'_, '_>) {
    loop {
        cursor.skip_while(is_separator);
        let rest = cursor.text.rest(cursor.at);
        let end = rest.char_indices().take(MAX_LINK + 1);
        let end = end
            .map(|(at, c)| (at, is_separator(c)))
            .find(|(_, ends)| *ends);
        match end {
            Some((end, _)) if is_link(&rest[..end]) => cursor.at += end,
            None if rest.len() <= MAX_LINK && may_grow(rest) => return cursor.text.touch(),
            _ => return,
        }
    }
}

/// State of the series at a place of the text: whether a call stands before it, and what was said since.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    has_call: bool,
    /// Beginning of the word that is being said, while only links have been said since the last call; `None` after
    /// other text, and before the first call.
    word: Option<String>,
    /// `true` if the last call is only quoted, so that `word` tells what was said since the quotation.
    is_quoted: bool,
    /// `true` if text was said since the last call that is neither prose nor a link: it may be a call.
    is_odd: bool,
    /// `true` if text that may be a call stands among the calls, so that they may not be all.
    pub(super) lost: bool,
}

impl Series {
    /// Records a call.
    pub(super) fn call(&mut self) {
        let joins_quoted = self.is_quoted && self.has_only_links();
        *self = Self {
            has_call: true,
            word: Some(String::new()),
            is_quoted: false,
            is_odd: false,
            lost: self.lost || joins_quoted || self.has_call && self.is_odd,
        };
    }

    /// Records that a call is quoted here, or stands in code.
    pub(super) fn mention(&mut self) {
        // One more item of a series is none of prose.
        self.lost |= self.goes_on();
        self.is_odd = true;
        self.is_quoted = true;
        self.word = Some(String::new());
    }

    /// Records a character of the content.
    pub(super) fn say(&mut self, char: char, in_code: bool) {
        if !in_code && matches!(char, '{' | '}') {
            self.is_odd = true;
            // The first word after a call runs into a brace: it is no prose.
            self.lost |= char == '{' && self.word.is_some() && !self.is_quoted;
        }
        let Some(word) = &mut self.word else {
            return;
        };
        if !is_separator(char) && char != '`' {
            if word.len() <= MAX_LINK {
                word.push(char);
            }
        } else if word.is_empty() || is_link(word) {
            word.clear();
        } else {
            self.word = None;
        }
    }

    /// Returns true if nothing but links stands between the last call and this place, so that a call here is one more.
    pub(super) fn goes_on(&self) -> bool {
        self.has_call && !self.is_quoted && self.has_only_links()
    }

    fn has_only_links(&self) -> bool {
        let word = self.word.as_deref();
        word.is_some_and(|word| word.is_empty() || is_link(word))
    }
}
