//! What the reader altered, and how it tells.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A change that the reader made.
///
/// ```
/// # use agents_core as agents;
/// use agents::reader::{self, ChangeKind};
///
/// let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}});
/// let reading = reader::read(r#"{"n": "4",}"#, &schema).unwrap();
/// let kinds: Vec<_> = reading.repairs.iter().map(|change| (change.kind, &*change.path)).collect();
/// assert_eq!(kinds, [(ChangeKind::TrailingComma, "n"), (ChangeKind::Coerced, "n")]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Kind of change.
    pub kind: ChangeKind,
    /// Path of the changed value, such as `a.b[0]`; empty for the whole text.
    pub path: String,
    /// Short description of the change.
    pub note: String,
}

impl Change {
    /// Creates a change at `path`, which is empty for the whole.
    #[must_use]
    pub fn new(kind: ChangeKind, path: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            kind,
            path: path.into(),
            note: note.into(),
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

/// Kind of a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// JSON was extracted from prose, a fence, tags or a callback.
    Located,
    /// One value was chosen where the text offered several, or seemed to warn of it.
    Chosen,
    /// A superfluous comma was removed: `[1, 2,]`.
    TrailingComma,
    /// A missing comma was inserted: `{"a": 1 "b": 2}`.
    MissingComma,
    /// The separator after a key was not a plain colon: `x = 1`, `"x" 1`.
    Colon,
    /// Quotes were other than `"`, missing or not escaped.
    Quotes,
    /// Text without quotes was quoted: `{city: Paris}`.
    Unquoted,
    /// The text ended early and was closed.
    Closed,
    /// The text ended inside a value or a key: there may have been more of it.
    CutOff,
    /// A bracket was of the wrong kind or superfluous.
    Brackets,
    /// White space that JSON does not allow was removed: a no-break space, a byte order mark.
    Space,
    /// A comment was dropped.
    Comment,
    /// An ellipsis such as `[1, 2, ...]` was dropped.
    Ellipsis,
    /// A literal of another language was translated: `True`, `None`.
    Literal,
    /// A number in a notation that JSON does not allow was rewritten: `.5`, `1_000`.
    NumberFormat,
    /// An escape sequence that JSON does not allow, or a raw control character, was rewritten.
    Escapes,
    /// Call syntax of a programming language was translated: `f(x=1)`.
    Call,
    /// The value was taken out of a wrapper such as `{"arguments": …}` or `["x"]`.
    Unwrapped,
    /// JSON inside a string was parsed.
    Nested,
    /// A value was converted to another type without loss: `"5"` to 5.
    Coerced,
    /// A number, a boolean or an allowed value was extracted from text: `"150lbs"`.
    Extracted,
    /// A single value became a list of one.
    Listed,
    /// An allowed value was spelled differently: `"CELSIUS"`.
    Enum,
    /// A key was spelled differently, or could only mean one missing field.
    Renamed,
    /// A member unknown to the schema was dropped.
    DroppedKey,
    /// A `null` or empty value of an optional field was dropped.
    DroppedNull,
    /// An arm or a repair agent supplied new text.
    Fixed,
    /// A repair agent was asked in vain; nothing was changed.
    Tried,
    /// A duplicate member was dropped.
    Duplicate,
}

impl ChangeKind {
    /// Returns `true` if the text could have meant something else than what was read.
    ///
    /// Such a reading is likely right, and for a tool that [writes](crate::Effects::Writes) likely is not
    /// enough: its calls are refused instead, and the model is told why.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::reader::read;
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"euros": {"type": "integer"}}});
    /// for (text, doubtful) in [
    ///     (r#"{'euros': "500",}"#, false),
    ///     (r#"{"euros": "500 cents"}"#, true),
    ///     (r#"{"euros": 500"#, true), // or 5000?
    ///     ("{\"euros\": 500\n", false),
    ///     (r#"Do not run {"euros": 500}"#, true),
    /// ] {
    ///     let reading = read(text, &schema)?;
    ///     assert_eq!(reading.json, r#"{"euros":500}"#.replace(':', if text.contains("run") { ": " } else { ":" }));
    ///     assert_eq!(reading.repairs.iter().any(|change| change.kind.is_doubtful()), doubtful, "{text}");
    /// }
    /// # Ok::<(), agents::reader::Refusal>(())
    /// ```
    #[must_use]
    pub fn is_doubtful(self) -> bool {
        matches!(
            self,
            ChangeKind::Chosen | ChangeKind::CutOff | ChangeKind::Extracted
        )
    }
}

/// The changes of one reading, in the order in which they were made.
///
/// Of each kind the first few are told one by one, the rest as a count.
///
/// ```
/// # use agents_core as agents;
/// use agents::reader::{ChangeKind, read};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
/// let reading = read(r#"{"n": "5",}"#, &schema)?;
/// assert!(reading.repairs.any(ChangeKind::TrailingComma));
/// let coerced = reading.repairs.iter().find(|change| change.kind == ChangeKind::Coerced).unwrap();
/// assert_eq!(coerced.path, "n");
/// # Ok::<(), agents::reader::Refusal>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Repairs(pub Vec<Change>);

impl Repairs {
    /// Returns `true` if nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the changes of a later reading.
    pub fn extend(&mut self, later: Repairs) {
        self.0.extend(later.0);
    }

    /// Returns the number of changes that are listed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over the changes, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// Returns `true` if there is a change of this kind.
    #[must_use]
    pub fn any(&self, kind: ChangeKind) -> bool {
        self.0.iter().any(|change| change.kind == kind)
    }
}

impl From<Change> for Repairs {
    fn from(change: Change) -> Self {
        Self(vec![change])
    }
}

impl IntoIterator for Repairs {
    type Item = Change;
    type IntoIter = std::vec::IntoIter<Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Repairs {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Repairs {
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

const KINDS: usize = ChangeKind::Duplicate as usize + 1;

/// Of each kind so many are told in full: a document with ten thousand single
/// quotes has one habit, not ten thousand stories.
const TOLD: u32 = 8;

/// Collects changes while reading, and can take them back.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    changes: Vec<Change>,
    counts: [u32; KINDS],
}

/// A point in a [`Log`] to return to.
#[derive(Clone)]
pub(super) struct Mark {
    len: usize,
    counts: [u32; KINDS],
}

impl Log {
    /// Path and note are only built when the change will be told.
    pub(super) fn add(
        &mut self,
        kind: ChangeKind,
        path: impl FnOnce() -> String,
        note: impl Into<String>,
    ) {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        if *count <= TOLD {
            self.changes.push(Change {
                kind,
                path: path(),
                note: note.into(),
            });
        }
    }

    /// The same for a note that costs something to write.
    pub(super) fn add_with(
        &mut self,
        kind: ChangeKind,
        path: impl FnOnce() -> String,
        note: impl FnOnce() -> String,
    ) {
        if self.counts[kind as usize] < TOLD {
            self.add(kind, path, note());
        } else {
            self.counts[kind as usize] += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether members were renamed or left out, or brackets did not match: then this may be a piece of
    /// something larger.
    pub(super) fn is_of_pieces(&self) -> bool {
        use ChangeKind::{Brackets, DroppedKey, Renamed};
        let any = |kind: ChangeKind| self.counts[kind as usize] > 0;
        any(Brackets) || any(DroppedKey) || any(Renamed)
    }

    /// How many changes are told.
    pub(super) fn told(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            len: self.changes.len(),
            counts: self.counts,
        }
    }

    pub(super) fn undo(&mut self, mark: &Mark) {
        self.changes.truncate(mark.len);
        self.counts = mark.counts;
    }

    /// Takes out what was added since.
    pub(super) fn split_off(&mut self, mark: &Mark) -> Self {
        let mut counts = self.counts;
        for (now, then) in counts.iter_mut().zip(mark.counts) {
            *now -= then;
        }
        self.counts = mark.counts;
        Self {
            changes: self.changes.split_off(mark.len),
            counts,
        }
    }

    /// Appends what another log holds, the places told relative to `path`.
    pub(super) fn append(&mut self, other: Log, path: &str) {
        for mut change in other.changes {
            change.path = match (path.is_empty(), change.path.is_empty()) {
                (true, _) => change.path,
                (_, true) => path.to_owned(),
                _ if change.path.starts_with('[') => format!("{path}{}", change.path),
                _ => format!("{path}.{}", change.path),
            };
            self.changes.push(change);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }

    pub(super) fn finish(mut self) -> Repairs {
        let mut told = [0; KINDS];
        for change in &self.changes {
            told[change.kind as usize] += 1;
        }
        let mut seen = [false; KINDS];
        for n in 0..self.changes.len() {
            let kind = self.changes[n].kind;
            let more = self.counts[kind as usize].saturating_sub(told[kind as usize]);
            if more > 0 && !std::mem::replace(&mut seen[kind as usize], true) {
                let note = format!("{more} more: {}", self.changes[n].note);
                self.changes.push(Change {
                    kind,
                    path: String::new(),
                    note,
                });
            }
        }
        Repairs(self.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ninth_of_a_kind_is_counted() {
        let mut log = Log::default();
        for n in 0..20 {
            log.add(ChangeKind::Quotes, || format!("[{n}]"), "single quotes");
        }
        let repairs = log.finish();
        assert_eq!(repairs.len(), 9);
        assert_eq!(repairs.0[8].to_string(), "12 more: single quotes");
    }

    #[test]
    fn serialises_as_a_list() {
        let repairs = Repairs(vec![Change {
            kind: ChangeKind::DroppedKey,
            path: "a.b".into(),
            note: "unknown".into(),
        }]);
        let text = serde_json::to_string(&repairs).unwrap();
        assert_eq!(
            text,
            r#"[{"kind":"dropped_key","path":"a.b","note":"unknown"}]"#
        );
        assert_eq!(serde_json::from_str::<Repairs>(&text).unwrap(), repairs);
    }
}
