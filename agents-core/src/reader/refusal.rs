//! Why a text could not be read.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::ArgumentError;

/// Reason why a text could not be read without guessing.
///
/// It prints as one line in lower case that names the place and the remedy, fit
/// to be shown to a model.
///
/// ```
/// # use agents_core as agents;
/// use agents::reader::{RefusalKind, read};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
/// let refusal = read(r#"{"n": "many"}"#, &schema).unwrap_err();
/// assert_eq!((refusal.kind(), refusal.path()), (RefusalKind::Mismatch, "n"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    kind: RefusalKind,
    path: String,
    offset: Option<usize>,
    reason: String,
}

/// Kind of a [`Refusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalKind {
    /// The text contains no JSON: it is empty, or only prose.
    NoJson,
    /// Brackets nest deeper than 127 levels.
    TooDeep,
    /// The text exceeds the reader's limit on size or on work.
    TooLong,
    /// The text can mean several things, and neither text nor schema settles which.
    Ambiguous,
    /// The text is JSON, but does not fit the schema.
    Mismatch,
    /// The text is too broken to be understood.
    Syntax,
}

impl Refusal {
    pub(super) fn new(kind: RefusalKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            path: String::new(),
            offset: None,
            reason: reason.into(),
        }
    }

    pub(super) fn at(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }

    pub(super) fn below(mut self, path: String) -> Self {
        self.path = path;
        self
    }

    /// Returns what was wrong and what to do about it, without the position.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the path of the field concerned, such as `a.b[0]`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the byte offset of the problem, where one is known.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// Returns the kind of refusal.
    #[must_use]
    pub fn kind(&self) -> RefusalKind {
        self.kind
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.reason)?;
        match self.offset {
            Some(offset) => write!(f, " (at byte {offset})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for ArgumentError {
    fn from(refusal: Refusal) -> Self {
        ArgumentError {
            path: refusal.path,
            message: refusal.reason,
        }
    }
}

pub(crate) fn too_deep(at: usize) -> Refusal {
    Refusal::new(
        RefusalKind::TooDeep,
        "brackets nest too deep; flatten the value",
    )
    .at(at)
}
