use super::expected;
use crate::{
    reader::{self, Refusal},
    recovery,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Where and why arguments do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentError {
    /// Path of the offending field; empty for the whole.
    pub path: String,
    /// What was expected and what was found.
    pub message: String,
}

impl ArgumentError {
    /// Something wrong at this path; the empty path is the whole.
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        ArgumentError {
            path: path.into(),
            message: message.into(),
        }
    }

    /// The same, said of the missing field itself: a type that is read stops at the object around it.
    pub(crate) fn of_the_field(self, schema: &Value, text: &str) -> Self {
        let Some(field) = self.missing(schema, text) else {
            return self;
        };
        let path = match self.path.as_str() {
            "" => field.to_owned(),
            around => format!("{around}.{field}"),
        };
        ArgumentError::new(path, reader::MISSING)
    }

    /// The field that serde says is missing, if it is one of the object to which the path leads. What is read by
    /// way of serde's own buffer, as below a tag, is said of an object further out.
    fn missing(&self, schema: &Value, text: &str) -> Option<&str> {
        let said = self.message.strip_prefix("missing field `")?;
        let field = said.strip_suffix('`')?;
        let whole: Value = serde_json::from_str(text).ok()?;
        let object = recovery::value_at(&whole, &self.path)?.as_object()?;
        let can_be_named = !field.is_empty() && !field.contains(['.', '[', ']']);
        (can_be_named
            && !object.contains_key(field)
            && expected::may_have(schema, &whole, &self.path, field))
        .then_some(field)
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "field `{path}`: {}", self.message),
        }
    }
}

impl std::error::Error for ArgumentError {}

impl From<Refusal> for ArgumentError {
    fn from(refusal: Refusal) -> Self {
        ArgumentError::new(refusal.path(), refusal.reason())
    }
}
