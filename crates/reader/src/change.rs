//! Changes that the reader made, and their descriptions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A change that the reader made to a text to get valid JSON, which fits the schema if there is one.
///
/// ```
/// use agents_reader::{ChangeKind, read};
///
/// let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}});
/// let reading = read(r#"{"n": "4",}"#, &schema).unwrap();
/// let kinds: Vec<_> = reading.changes.iter().map(|change| (change.kind, &*change.path)).collect();
/// assert_eq!(kinds, [(ChangeKind::TrailingComma, "n"), (ChangeKind::Coerced, "n")]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Kind of the change that was made to the text.
    pub kind: ChangeKind,
    /// Path of the changed value, such as `a.b[0]`; empty for the whole text.
    pub path: String,
    /// Short description of the change, for people.
    pub note: String,
    /// Text that was there before the change, on one line. The reader records it for a dropped member that is unknown
    /// or stands beside the wrapper of the arguments, and for dropped text that may belong to the value. It also
    /// records a text out of which a number, a boolean or an allowed value was taken, and a number or boolean in a
    /// string that is not spelled as in JSON. In place of a text of more than 200 characters, the reader records its
    /// length. `None` for other changes.
    #[serde(rename = "was", default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// `true` if the change is uncertain: the text could have meant something else.
    ///
    /// An uncertain reading is likely right. A caller that acts on it and cannot undo the action should reject it and
    /// ask for the text again.
    ///
    /// ```
    /// use agents_reader::read;
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"euros": {"type": "integer"}}});
    /// for (text, uncertain) in [
    ///     (r#"{'euros': "500",}"#, false),
    ///     (r#"{"euros": "500 cents"}"#, true),
    ///     (r#"{"euros": "$500"}"#, true),
    ///     (r#"{"euros_cents": 500}"#, true),
    ///     (r#"{"euros": 500"#, true), // or 5000?
    ///     (r#"{"euros": 500}} ,"cents": 10}"#, true), // the rest was dropped
    ///     (r#"Do not run {"euros": 500}"#, true),
    /// ] {
    ///     let reading = read(text, &schema)?;
    ///     assert_eq!(reading.changes.uncertain().is_some(), uncertain, "{text}: {}", reading.changes);
    /// }
    /// # Ok::<(), agents_reader::ReadError>(())
    /// ```
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
}

/// Maximum number of characters of the original text that a change quotes.
const MAX_CHARS: usize = 200;

/// Shortens a text to one line of its first 200 characters, with an ellipsis if more follow.
fn in_short(text: &str) -> String {
    let flat = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(MAX_CHARS).map(flat).collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        short.push('…');
    }
    short
}

impl Change {
    /// Creates a change at `path`, which is empty for the whole text. The change is uncertain if every change of its
    /// kind is.
    #[must_use]
    pub fn new(kind: ChangeKind, path: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            kind,
            path: path.into(),
            note: note.into(),
            original: None,
            uncertain: kind.is_uncertain(),
        }
    }

    /// Marks the change as uncertain: the text could have meant something else.
    #[must_use]
    pub fn uncertain(mut self) -> Self {
        self.uncertain = true;
        self
    }

    /// Records the text that was there before the change: its first 200 characters, on one line.
    #[must_use]
    pub fn original(mut self, text: &str) -> Self {
        self.original = Some(in_short(text));
        self
    }

    /// Records the text that was there before the change, or only its length if it has more than 200 characters.
    /// Secrets are masked whole: the beginning of a secret would not be recognised.
    pub(super) fn original_or_length(self, text: &str) -> Self {
        match text.chars().nth(MAX_CHARS) {
            Some(_) => self.original(&format!("({} characters)", text.chars().count())),
            None => self.original(text),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.note),
            false => write!(f, "{}: {}", self.path, self.note),
        }
    }
}

/// Kind of a [`Change`]: what the reader did to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// JSON was taken out of the text around it: prose, a fence, tags, a call such as `show({…})`, a list mark or stray
    /// characters.
    Located,
    /// A value was chosen among several in the text, or the text seemed to warn of the value. Always uncertain.
    Chosen,
    /// A superfluous comma was removed: `[1, 2,]`.
    TrailingComma,
    /// A comma was missing, or written as `;`: `{"a": 1 "b": 2}`.
    MissingComma,
    /// The colon after a key was missing, doubled or another mark: `x = 1`, `"x" 1`.
    Colon,
    /// Quotes were other than `"`, an opening or closing quote was missing, a quote inside a text was not escaped, or
    /// strings were joined with `+`.
    Quotes,
    /// Text without quotes was quoted: `{city: Paris}`.
    Unquoted,
    /// The text ended early and was closed: only brackets were missing.
    Closed,
    /// The text ended where more may have been to come: inside a value, key or list, behind a comma or colon, or before
    /// a field or an entry that the schema allows.
    CutOff,
    /// A bracket was of the wrong kind, superfluous, closed too early, or missing before the end of the text.
    Brackets,
    /// White space that JSON does not allow was removed: a no-break space, a byte order mark.
    Space,
    /// A comment was dropped.
    Comment,
    /// An ellipsis such as `[1, 2, ...]` was dropped.
    Ellipsis,
    /// A literal of another language was translated, or the prefix of a string was dropped: `True`, `None`, `r"x"`.
    Literal,
    /// A number in a notation that JSON does not allow was rewritten: `.5`, `1_000`.
    NumberFormat,
    /// An escape sequence that JSON does not allow, or a raw control character, was rewritten; or a layer of escapes
    /// over the whole value was removed.
    Escapes,
    /// Call syntax of a programming language was translated: `f(x=1)`, `ObjectId("x")`.
    Call,
    /// The value was taken out of a wrapper such as `{"arguments": …}` or `["x"]`, or a bare value was put into the
    /// schema's only field.
    Unwrapped,
    /// JSON inside a string was parsed.
    Nested,
    /// A value was converted to another type, without loss and without another possible meaning: `"5"` to 5.
    Coerced,
    /// A number, boolean or allowed value was taken out of a longer text, or of one with several meanings:
    /// `"150lbs"`, `"$5"`, and `"1,200"`, where the comma may be a decimal mark.
    Extracted,
    /// A list was made: of a single value, of several values in a row, of the lines of a Markdown list, or of numbers
    /// in one text.
    Listed,
    /// An allowed value was spelled differently: `"CELSIUS"`.
    Enum,
    /// A key was spelled differently: `maxItems` for `max_items`.
    Renamed,
    /// A key with other words was read as the only missing field: `amount_cents` for `amount`.
    Inferred,
    /// A member was dropped, because the schema does not know it or because it stood beside the wrapper of the
    /// arguments.
    DroppedKey,
    /// A `null` or empty value was dropped, because its field is optional or has another value in the text.
    DroppedNull,
    /// A key without a value got the `default` of its schema.
    Defaulted,
    /// A second member for the same field was dropped, because it had the same value. Two different values make the
    /// text ambiguous.
    Duplicate,
}

impl ChangeKind {
    /// Returns true if every change of this kind is uncertain; changes of other kinds may be uncertain too.
    fn is_uncertain(self) -> bool {
        matches!(
            self,
            Self::Chosen
                | Self::CutOff
                | Self::Extracted
                | Self::Inferred
                | Self::Ellipsis
                | Self::Defaulted
        )
    }
}

/// Changes of one reading, in the order in which they were made.
///
/// The first few changes of each kind are listed one by one. Further changes of a kind are one entry with their count,
/// at the end.
///
/// ```
/// use agents_reader::{ChangeKind, read};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
/// let reading = read(r#"{"n": "5",}"#, &schema)?;
/// assert!(reading.changes.any(ChangeKind::TrailingComma));
/// let coerced = reading.changes.iter().find(|change| change.kind == ChangeKind::Coerced).unwrap();
/// assert_eq!(coerced.path, "n");
/// # Ok::<(), agents_reader::ReadError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Changes(pub Vec<Change>);

impl Changes {
    /// Returns `true` if nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the changes of a later reading of the same value.
    pub fn extend(&mut self, later: Changes) {
        self.0.extend(later.0);
    }

    /// Returns the number of entries; an entry that stands for several further changes counts as one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over the entries, in the order in which the changes were made. Entries that stand for several further
    /// changes come last.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// Returns the first uncertain change; `None` if the reading is certain.
    #[must_use]
    pub fn uncertain(&self) -> Option<&Change> {
        self.0.iter().find(|change| change.uncertain)
    }

    /// Returns `true` if there is a change of this kind.
    #[must_use]
    pub fn any(&self, kind: ChangeKind) -> bool {
        self.0.iter().any(|change| change.kind == kind)
    }
}

impl From<Change> for Changes {
    fn from(change: Change) -> Self {
        Self(vec![change])
    }
}

impl IntoIterator for Changes {
    type Item = Change;
    type IntoIter = std::vec::IntoIter<Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Changes {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, change) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            change.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialises_as_a_list() {
        let repairs = Changes(vec![
            Change::new(ChangeKind::DroppedKey, "a.b", "unknown").original("true"),
            Change::new(ChangeKind::Colon, "", "a colon"),
        ]);
        let text = serde_json::to_string(&repairs).unwrap();
        assert_eq!(
            text,
            r#"[{"kind":"dropped_key","path":"a.b","note":"unknown","was":"true"},{"kind":"colon","path":"","note":"a colon"}]"#
        );
        assert_eq!(serde_json::from_str::<Changes>(&text).unwrap(), repairs);
    }
}
