//! Reasons why a text could not be read, with their places.

use super::wording;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Error in a text that was read, with its place.
///
/// An error prints as one line that names the place, the problem and, where it is not obvious, the remedy. The line may
/// be shown to a model.
///
/// ```
/// use agents_reader::{ReadErrorKind, read};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
/// let error = read(r#"{"n": "many"}"#, &schema).unwrap_err();
/// assert_eq!((error.kind(), error.path()), (ReadErrorKind::Mismatch, "n"));
/// assert_eq!(error.to_string(), "field `n`: expected an integer, got \"many\"");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReadError(Box<Inner>);

/// Contents of a [`ReadError`]. They are boxed, since a result is passed on for each value and is rarely an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Inner {
    path: String,
    message: String,
    #[serde(default, skip_serializing_if = "is_mismatch")]
    kind: ReadErrorKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    /// Everything that is wrong with the text, this error included; empty if it is the only error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    all: Vec<ReadError>,
}

fn is_mismatch(kind: &ReadErrorKind) -> bool {
    *kind == ReadErrorKind::Mismatch
}

/// Kind of a [`ReadError`]: why the text could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The text contains no JSON: it is empty, only prose, or ends before the first member of an object.
    NoJson,
    /// Brackets nest deeper than 127 levels, or JSON lies in strings in JSON more than three times. Or values nest too
    /// deep once such strings, added lists and alternatives of the schema are counted.
    TooDeep,
    /// The text exceeds the reader's limit on size or on work.
    TooLong,
    /// The text has several meanings, and neither the text nor the schema settles which one is meant.
    Ambiguous,
    /// The text can be read as JSON, but a value does not fit the schema or is missing.
    #[default]
    Mismatch,
    /// The text is too broken to be understood, or is not valid JSON where only valid JSON is accepted.
    Syntax,
}

impl ReadError {
    /// Creates the error of a value that does not fit, at this path; the empty path is the whole text.
    ///
    /// ```
    /// use agents_reader::ReadError;
    ///
    /// let error = ReadError::new("items[2].name", "expected a string");
    /// assert!(error.field("items") && !error.field("item"));
    /// ```
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::of(ReadErrorKind::Mismatch, message).below(path.into())
    }

    /// Creates the error of a required field that is missing; `path` is the path of the field, such as `a.b[0]`.
    #[must_use]
    pub fn missing(path: impl Into<String>) -> Self {
        Self::new(path, wording::MISSING)
    }

    pub(crate) fn of(kind: ReadErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            path: String::new(),
            offset: None,
            message: message.into(),
            all: Vec::new(),
        }))
    }

    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    pub(crate) fn below(mut self, path: String) -> Self {
        self.0.path = path;
        self
    }

    /// Returns the path of the value that is wrong or missing, such as `a.b[0]`; empty for the whole text, and if only
    /// the byte of the problem is known.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns the problem and, where it is not obvious, the remedy, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns `true` if the path of the error is `name`, or leads to a value inside the field with the path `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> bool {
        self.0
            .path
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Attaches all errors of the same text, for [`all`](Self::all). They replace those attached before, and should
    /// include this error.
    #[must_use]
    pub fn with_others(mut self, all: impl IntoIterator<Item = ReadError>) -> Self {
        self.0.all = all.into_iter().collect();
        self
    }

    /// Returns all known errors of the same text: the errors that were passed to [`with_others`](Self::with_others), or
    /// this error alone. The function [`diagnose`](crate::diagnose) finds all errors of a text.
    ///
    /// ```
    /// use agents_reader::ReadError;
    ///
    /// let lines = ReadError::new("lines", "expected an integer");
    /// assert_eq!(lines.all().count(), 1);
    /// let path = ReadError::missing("path");
    /// assert_eq!(lines.clone().with_others([lines, path]).all().count(), 2);
    /// ```
    pub fn all(&self) -> impl Iterator<Item = &ReadError> {
        let alone = self.0.all.is_empty().then_some(self);
        alone.into_iter().chain(&self.0.all)
    }

    /// Returns the byte offset of the problem, if it is known.
    #[must_use]
    pub(crate) fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// Returns the kind of the error, by which callers decide what to do.
    #[must_use]
    pub fn kind(&self) -> ReadErrorKind {
        self.0.kind
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            path,
            message,
            kind,
            offset,
            all,
        } = &*self.0;
        f.debug_struct("ReadError")
            .field("path", path)
            .field("message", message)
            .field("kind", kind)
            .field("offset", offset)
            .field("all", all)
            .finish()
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            write!(f, "field `{}`: ", self.0.path)?;
        }
        f.write_str(&self.0.message)?;
        match self.0.offset {
            Some(offset) => write!(f, " (at byte {offset})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ReadError {}

pub(crate) fn too_deep(at: usize) -> ReadError {
    ReadError::of(ReadErrorKind::TooDeep, wording::BRACKETS_TOO_DEEP).at(at)
}
