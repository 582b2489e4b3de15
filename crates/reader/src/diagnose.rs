//! Everything that is wrong with a text, in one go.

use std::borrow::Cow;

use super::{
    change::{ChangeKind, Changes},
    error::ReadError,
    schema::Schema,
};

/// Maximum number of errors that are listed; further errors are only counted.
const MAX_ERRORS: usize = 64;

/// Result of reading a text, with all errors of the text, for a caller that has to explain them.
///
/// ```
/// use agents_reader::{Schema, diagnose};
/// use serde_json::json;
///
/// let schema = Schema::new(&json!({
///     "type": "object",
///     "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
///     "required": ["city", "days"],
/// }));
///
/// let fits = diagnose("{'city': 'Oslo', 'days': '3'}", &schema);
/// assert_eq!((fits.json.as_deref(), fits.fits()), (Some(r#"{"city":"Oslo","days":3}"#), true));
///
/// let wrong = diagnose("{'days': 'some'}", &schema);
/// assert_eq!(wrong.json.as_deref(), Some(r#"{"days":"some"}"#));
/// let errors: Vec<_> = wrong.errors.iter().map(ToString::to_string).collect();
/// assert_eq!(errors, [
///     "field `city`: required, and missing; add it",
///     "field `days`: expected an integer, got \"some\"",
/// ]);
///
/// let prose = diagnose("I cannot do that.", &schema);
/// assert_eq!((prose.json.as_deref(), prose.errors.len()), (None, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis<'a> {
    /// Valid JSON that was made out of the text, whether it fits or not. `None` if the text cannot be read, or if it
    /// does not fit and only a schema could settle how to read it.
    pub json: Option<Cow<'a, str>>,
    /// Changes that were made to get the JSON in `json`.
    pub changes: Changes,
    /// Errors in the order of the schema, which is alphabetical unless `serde_json` preserves the order of keys. If
    /// `json` is `None`, the reason is the only entry. The list is empty if everything fits, and has at most 64
    /// entries.
    pub errors: Vec<ReadError>,
    /// Number of errors beyond those that are listed.
    pub unlisted: usize,
}

impl Diagnosis<'_> {
    /// Returns `true` if no error was found, so that the JSON fits the schema. After
    /// [`diagnose_strictly`](Schema::diagnose_strictly), the JSON may still have unknown keys.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns `true` if the text ended before its JSON was complete, or may have, and the reader closed it. Returns
    /// `false` if no JSON could be made.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.changes.any(ChangeKind::Closed) || self.changes.any(ChangeKind::CutOff)
    }
}

/// Reads a text as [`Schema::read`] does. If the text does not fit, lists everything that is wrong with it.
/// [`Diagnosis`] has an example.
///
/// A value with several possible shapes is one error, unless its type and its constant fields tell which shape is
/// meant.
#[must_use]
pub fn diagnose<'a>(text: &'a str, schema: &Schema) -> Diagnosis<'a> {
    let error = match schema.read(text) {
        Ok(reading) => {
            return Diagnosis {
                json: Some(reading.json),
                changes: reading.changes,
                errors: Vec::new(),
                unlisted: 0,
            };
        }
        Err(error) => error,
    };
    let Ok(reading) = super::lenient(text) else {
        return unreadable(error);
    };
    let found = schema.misfits(&reading.json, true, MAX_ERRORS);
    Diagnosis {
        errors: match found.listed.is_empty() {
            true => vec![error],
            false => found.listed,
        },
        unlisted: found.more,
        json: Some(reading.json),
        changes: reading.changes,
    }
}

impl Schema {
    /// Lists everything that keeps a text from fitting as it stands; [`Schema::fits`] names only the first error.
    /// Unknown keys are left out, since types usually ignore them. For a text that is not valid JSON, that is the only
    /// error.
    #[must_use]
    pub fn diagnose_strictly<'a>(&self, text: &'a str) -> Diagnosis<'a> {
        match super::strictly(text) {
            Ok(Ok(_)) => {
                let found = self.misfits(text, false, MAX_ERRORS);
                Diagnosis {
                    json: Some(text.into()),
                    changes: Changes::default(),
                    errors: found.listed,
                    unlisted: found.more,
                }
            }
            Ok(Err(at)) => unreadable(super::invalid(at)),
            Err(error) => unreadable(error),
        }
    }
}

fn unreadable<'a>(error: ReadError) -> Diagnosis<'a> {
    Diagnosis {
        json: None,
        changes: Changes::default(),
        errors: vec![error],
        unlisted: 0,
    }
}
