//! Text around a value.

use super::{
    change::{Change, ChangeKind},
    log::Log,
    number::negated,
    scalar::literal,
    wording,
};

/// Kind of the text around a JSON value, which says how surely the value is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The value stands alone: only white space is around it.
    Alone,
    /// Only loose commas and brackets, or comments, stand around the value.
    Litter,
    Fence,
    Tags,
    Call,
    Prose,
    /// A word or an unpaired quote follows the value directly, so the value is a part of something else.
    Glued,
}

impl Place {
    /// Returns true if the text around the value carries no meaning.
    pub(super) fn trivial(self) -> bool {
        !matches!(self, Self::Prose | Self::Glued)
    }

    /// Returns the rank of a value by its surroundings, smallest first: values in running text come last.
    pub(super) fn rank(self) -> u8 {
        u8::from(!self.trivial())
    }

    /// Reports the text around the value that is not used. `lost` is text beside the value that may belong to it, and
    /// `before` is the text up to the value. `rivals` is true if there were other values.
    pub(super) fn report(self, log: &mut Log, rivals: bool, lost: Option<&str>, before: &str) {
        if rivals {
            let note = wording::BEST_OF_SEVERAL;
            return log.add(ChangeKind::Chosen, String::new, note);
        }
        if let Some(lost) = lost {
            let change = Change::new(ChangeKind::Located, "", wording::LOST).uncertain();
            return log.add_change(change.original_or_length(lost.trim()));
        }
        let note = match self {
            Self::Alone => return,
            Self::Prose if warns(before) => {
                let note = wording::IN_SPITE_OF_NOT;
                return log.add(ChangeKind::Chosen, String::new, note);
            }
            Self::Litter => wording::LITTER,
            Self::Fence => wording::OUT_OF_FENCE,
            Self::Tags => wording::OUT_OF_TAGS,
            Self::Call => wording::OUT_OF_CALL,
            _ => wording::OUT_OF_PROSE,
        };
        log.add(ChangeKind::Located, String::new, note);
    }
}

/// Returns the kind of the text around the value `raw[start..end]`.
pub(super) fn place(raw: &str, start: usize, end: usize) -> Place {
    const LONG: usize = 400;
    let (before, after) = (&raw[..start], &raw[end..]);
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && raw[..end].ends_with(['}', ']'])
    {
        return Place::Glued;
    }
    // A quote without an opening one shows that the bracket was inside a string.
    if after.starts_with('"')
        && !before.ends_with('"')
        && side_of(&after[..floor(after, after.len().min(200))]).is_none()
    {
        return Place::Glued;
    }
    if before.trim().is_empty() && after.trim().is_empty() {
        return Place::Alone;
    }
    // Long surroundings are prose; a closer look would cost too much.
    if before.len() + after.len() > LONG {
        let fenced =
            before.len() < 40 || before[floor(before, before.len() - 40)..].contains("```");
        return if fenced
            && before
                .trim_end()
                .rsplit('\n')
                .next()
                .is_some_and(|line| line.trim_start().starts_with("```"))
        {
            Place::Fence
        } else {
            Place::Prose
        };
    }
    let call = before.trim_end().strip_suffix('(').is_some_and(|name| {
        name.trim_end()
            .ends_with(|c: char| c.is_alphanumeric() || c == '_')
    });
    let before = if call {
        let name = before.trim_end().trim_end_matches('(').trim_end();
        name.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
    } else {
        before
    };
    let mut seen = Place::Litter;
    for side in [before, after] {
        match side_of(side) {
            Some(Place::Litter) => {}
            Some(place) => seen = place,
            None => {
                // There is prose outside, but a fence right around the value.
                let line = before
                    .trim_end()
                    .rsplit('\n')
                    .next()
                    .unwrap_or_default()
                    .trim();
                let fence = line.starts_with("```") && !line.contains(' ');
                return if fence {
                    Place::Fence
                } else if before.trim_end().ends_with('>') {
                    Place::Tags
                } else {
                    Place::Prose
                };
            }
        }
    }
    if call { Place::Call } else { seen }
}

/// Returns true if a stretch of text that was left aside may belong to the value: it holds a bracket, a key or the
/// mark of a key. `before` is all text before the stretch, and `after` all text behind it. The value is at the end of
/// `before` or at the beginning of `after`.
pub(super) fn may_belong(before: &str, text: &str, after: &str) -> bool {
    let follows_value = !before.is_empty();
    let mut text = text.trim();
    // The quotes around the whole text, and the parentheses of a call, do not count.
    if after.is_empty() && follows_value {
        text = text
            .strip_prefix(['"', '\'', '`', ')'])
            .unwrap_or(text)
            .trim_start();
    }
    if follows_value && text.starts_with([',', ':', '=', ')']) {
        return true;
    }
    // `"dry_run": true, {`, but not `Sure, {`.
    let ends_value = |text: &str| {
        let word = text
            .rsplit(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or_default();
        text.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '}' | ']'))
            || literal(word).is_some()
    };
    if !after.is_empty() && text.strip_suffix(',').is_some_and(ends_value) {
        return true;
    }
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '[', ']', ':', '=']) {
        let (left, right) = (&rest[..at], &rest[at + 1..]);
        match rest.as_bytes()[at] {
            b'[' => match mark(right) {
                Some(width) => {
                    rest = &right[width..];
                    continue;
                }
                None => return true,
            },
            b':' | b'=' if is_key(left) && starts_value(right) => return true,
            b':' | b'=' => {}
            _ => return true,
        }
        rest = right;
    }
    false
}

/// Returns the length of a marker in square brackets, such as `[/INST]`, in bytes and without the opening bracket;
/// `None` if there is no marker. `text` is the text after the opening bracket.
fn mark(text: &str) -> Option<usize> {
    let end = text.find(']')?;
    let word = |c: char| c.is_ascii_uppercase() || matches!(c, '_' | '/' | ' ');
    (end > 0 && text[..end].chars().all(word)).then_some(end + 1)
}

/// Returns true if a text ends with a key: a string, or a single word at the beginning of a line or behind a comma.
fn is_key(text: &str) -> bool {
    let text = text.trim_end();
    if text.ends_with(['"', '\'', '”', '`']) {
        return true;
    }
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let before = text.trim_end_matches(word);
    before.len() < text.len()
        && (before
            .trim_end_matches([' ', '\t'])
            .ends_with(['\n', ',', ';'])
            || before.trim().is_empty())
}

/// Returns true if a text begins with a string, a number or a literal, perhaps incomplete.
fn starts_value(text: &str) -> bool {
    let text = text.trim_start();
    if text.starts_with("```") {
        return false;
    }
    let word = text
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '-' | '“' | '`'))
        || literal(word).is_some()
}

/// Returns true if the sentence before a value has a negation, such as "do not use": the value may then be a bad
/// example.
fn warns(before: &str) -> bool {
    const NEAR: usize = 200;
    let near = &before[floor(before, before.len().saturating_sub(NEAR))..];
    let sentence = near
        .rsplit(['.', '!', '?', '\n'])
        .next()
        .unwrap_or_default();
    negated(&sentence.replace('’', "'"))
}

/// Returns the kind of the text beside a value; `None` if it is prose.
fn side_of(text: &str) -> Option<Place> {
    let mut seen = Place::Litter;
    let mut rest = text.trim_start_matches('\u{FEFF}').trim_start();
    while let Some(c) = rest.chars().next() {
        let used = match c {
            ';' | ',' | '}' | ']' | ')' | '(' | '\u{FEFF}' | '"' | '\'' | '`'
                if !rest.starts_with("```") =>
            {
                c.len_utf8()
            }
            '`' => {
                seen = Place::Fence;
                let info = &rest[3..];
                3 + info
                    .find(|c: char| !c.is_ascii_alphanumeric() && !"-_+".contains(c))
                    .unwrap_or(info.len())
            }
            '<' => {
                seen = Place::Tags;
                rest.find('>')? + 1
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            _ => return None,
        };
        rest = rest[used..].trim_start();
    }
    Some(seen)
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// Finds thinking at the start of `text`. Returns `Some(Some(length))` for a stretch of thinking, and `Some(None)` at a
/// mark that ends thinking. Returns `None` if no mark of thinking stands there. Thinking without an end takes all of
/// the text.
pub(super) fn thinking(text: &str) -> Option<Option<usize>> {
    const TAGS: [&str; 5] = ["think", "thinking", "reasoning", "thought", "reflection"];
    let (closing, name) = match text.strip_prefix("</") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('<')?),
    };
    let (name, _) = name
        .get(..name.len().min(16))
        .or(name.get(..name.len().min(12)))?
        .split_once('>')?;
    if !TAGS.contains(&name) {
        return None;
    }
    if closing {
        return Some(None);
    }
    let close = format!("</{name}>");
    Some(Some(
        text.find(&close).map_or(text.len(), |at| at + close.len()),
    ))
}

/// Returns true if another member follows the end of a value: `, "b": 2`.
pub(super) fn goes_on(rest: &str) -> bool {
    let Some(member) = rest.trim_start().strip_prefix(',') else {
        return false;
    };
    let Some((key, after)) = member
        .trim_start()
        .strip_prefix('"')
        .and_then(|rest| rest.split_once('"'))
    else {
        return false;
    };
    !key.contains('\n') && after.trim_start().starts_with(':')
}

/// Returns true if another member follows, perhaps behind brackets that were closed too early: `} , "b": 2`.
pub(super) fn runs_on(rest: &str) -> bool {
    goes_on(rest.trim_start_matches(|c: char| matches!(c, '}' | ']') || c.is_whitespace()))
}

/// Returns true if an object with a quoted key begins here.
pub(super) fn has_member(text: &str) -> bool {
    let inside = text.strip_prefix('{').unwrap_or_default().trim_start();
    inside.starts_with(['"', '\''])
}
