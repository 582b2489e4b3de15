//! Changes made to a text before it was used, as receipts and events show them.

use crate::reader::{Change, ChangeKind, Changes};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IntoDeserializer, value::CowStrDeserializer},
};
use std::{borrow::Cow, fmt};

/// Changes that were made to arguments or to an answer, and tries in vain, in order: by the reader, by arms, by repair
/// agents and by the approver.
///
/// ```
/// # use agents_core as agents;
/// use agents::{reader, run::{RepairKind, Repairs}};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
/// let repairs = Repairs::from(reader::read(r#"{"n": "5",}"#, &schema)?.changes);
/// assert!(repairs.any(reader::ChangeKind::TrailingComma) && !repairs.any(RepairKind::Fixed));
/// assert_eq!(repairs.to_string(), "n: trailing comma dropped; n: number taken out of its quotes");
/// # Ok::<(), reader::ReadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Repairs(pub Vec<RepairStep>);

/// Entry of [`Repairs`]: a change to a text, or a try that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairStep {
    /// Kind of the change: who made it, and how.
    pub kind: RepairKind,
    /// Path of the changed value, such as `a.b[0]`; empty for the whole text.
    pub path: String,
    /// Short description of the change to the text, for people.
    pub note: String,
    /// Beginning of the text before the change, on one line; `None` if the text is not known, as with most changes of
    /// the reader. In place of a long text, the reader gives its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Is `true` if the text could also be read in another way; see [`Change::uncertain`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
}

/// Kind of a [`RepairStep`]: who changed the text, and how. It is serialized as one word.
///
/// ```
/// # use agents_core as agents;
/// use agents::{reader::ChangeKind, run::RepairKind};
///
/// let kinds = [RepairKind::Read(ChangeKind::Quotes), RepairKind::Fixed];
/// assert_eq!(serde_json::to_string(&kinds)?, r#"["quotes","fixed"]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepairKind {
    /// The reader changed the text in this way, to make it fit.
    Read(ChangeKind),
    /// An arm, a repair agent or the approver supplied new text, which is used.
    Fixed,
    /// An arm, a repair agent or the approver gave a text that is not used, or a repair agent gave none; nothing was
    /// changed. A repair that was withheld, because the tool may have taken effect, counts as well.
    Tried,
}

const FIXED: &str = "fixed";
const TRIED: &str = "tried";

impl Serialize for RepairKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RepairKind::Read(kind) => kind.serialize(serializer),
            RepairKind::Fixed => serializer.serialize_str(FIXED),
            RepairKind::Tried => serializer.serialize_str(TRIED),
        }
    }
}

impl<'de> Deserialize<'de> for RepairKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<str>::deserialize(deserializer)?;
        match &*word {
            FIXED => Ok(RepairKind::Fixed),
            TRIED => Ok(RepairKind::Tried),
            _ => {
                let word: CowStrDeserializer<'_, D::Error> = word.into_deserializer();
                ChangeKind::deserialize(word).map(RepairKind::Read)
            }
        }
    }
}

impl From<ChangeKind> for RepairKind {
    fn from(kind: ChangeKind) -> Self {
        RepairKind::Read(kind)
    }
}

impl PartialEq<ChangeKind> for RepairKind {
    fn eq(&self, other: &ChangeKind) -> bool {
        *self == RepairKind::Read(*other)
    }
}

impl RepairStep {
    /// Creates the entry of a change at `path`, which is empty for the whole text.
    #[must_use]
    pub fn new(
        kind: impl Into<RepairKind>,
        path: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        RepairStep {
            kind: kind.into(),
            path: path.into(),
            note: note.into(),
            was: None,
            uncertain: false,
        }
    }

    /// Sets the text before the change. Only the beginning of the text is kept.
    #[must_use]
    pub(crate) fn was(mut self, text: &str) -> Self {
        self.was = Some(in_short(text));
        self
    }
}

impl From<Change> for RepairStep {
    fn from(change: Change) -> Self {
        let Change {
            kind,
            path,
            note,
            original: was,
            uncertain,
        } = change;
        RepairStep {
            kind: kind.into(),
            path,
            note,
            was,
            uncertain,
        }
    }
}

impl fmt::Display for RepairStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.note),
            false => write!(f, "{}: {}", self.path, self.note),
        }
    }
}

impl Repairs {
    /// Returns `true` if there are no repair steps: nothing was changed, and no repair was tried in vain.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the steps of later repairs.
    pub(crate) fn extend(&mut self, later: Repairs) {
        self.0.extend(later.0);
    }

    /// Returns the number of repair steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over the repair steps, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, RepairStep> {
        self.0.iter()
    }

    /// Returns `true` if one of the repair steps is of this kind.
    #[must_use]
    pub fn any(&self, kind: impl Into<RepairKind>) -> bool {
        let kind = kind.into();
        self.0.iter().any(|step| step.kind == kind)
    }
}

impl From<Changes> for Repairs {
    fn from(changes: Changes) -> Self {
        Repairs(changes.into_iter().map(RepairStep::from).collect())
    }
}

impl From<RepairStep> for Repairs {
    fn from(step: RepairStep) -> Self {
        Repairs(vec![step])
    }
}

impl IntoIterator for Repairs {
    type Item = RepairStep;
    type IntoIter = std::vec::IntoIter<RepairStep>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Repairs {
    type Item = &'a RepairStep;
    type IntoIter = std::slice::Iter<'a, RepairStep>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Repairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            step.fmt(f)?;
        }
        Ok(())
    }
}

/// Returns the beginning of a text on one line, for receipts and events: at most 200 characters, and then `…` if the
/// text goes on.
pub(crate) fn in_short(text: &str) -> String {
    const ENOUGH: usize = 200;
    let flat = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(ENOUGH).map(flat).collect();
    if text.chars().nth(ENOUGH).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_stored_as_a_list_with_one_word_for_the_kind() {
        let mut read = RepairStep::new(ChangeKind::DroppedKey, "a.b", "unknown").was("true");
        read.uncertain = true;
        let repairs = Repairs(vec![
            read,
            RepairStep::new(RepairKind::Tried, "", "in vain"),
            RepairStep::new(RepairKind::Fixed, "", "by an arm"),
        ]);
        let text = serde_json::to_string(&repairs).unwrap();
        assert_eq!(
            text,
            r#"[{"kind":"dropped_key","path":"a.b","note":"unknown","was":"true","uncertain":true},{"kind":"tried","path":"","note":"in vain"},{"kind":"fixed","path":"","note":"by an arm"}]"#
        );
        assert_eq!(serde_json::from_str::<Repairs>(&text).unwrap(), repairs);
        assert!(serde_json::from_str::<RepairKind>("\"nonsense\"").is_err());
    }
}
