//! All texts of evals, for people.

use std::{fmt, path::Path};

pub(super) const NO_NAME: &str = "field `name`: it is empty; give each case a name";
pub(super) const NOT_AN_OBJECT: &str = "a line is one case, such as {\"name\": \"norway\", \"input\": \"Norway\", \"expected\": \"Oslo\"}";
pub(super) const NO_CASES: &str = "there is no case in it";

pub(super) const NAME_TAKEN: &str =
    "an earlier case has this name, in upper or lower case; give each case a name of its own";
pub(super) const ANSWERED: &str = "there is an answer now";

pub(super) fn name_twice(name: &str, line: usize) -> String {
    format!(
        "field `name`: `{name}` is also the name of the case in line {line}; names differ, and not in upper and lower case alone"
    )
}

pub(super) fn in_line(path: &Path, line: usize, what: impl fmt::Display) -> String {
    format!("{}, line {line}: {what}", path.display())
}

pub(super) fn in_file(path: &Path, what: impl fmt::Display) -> String {
    format!("{}: {what}", path.display())
}

/// Text of an error with the field that it is about. `field` is the path of a field; it is `.` for the whole text, and
/// `?` if the text ends before it is known.
pub(super) fn in_field(field: &str, what: impl fmt::Display) -> String {
    match field {
        "." | "?" => what.to_string(),
        field => format!("field `{field}`: {what}"),
    }
}

pub(super) fn of_other_format(found: u32, known: u32) -> String {
    format!(
        "field `agents_evals`: the report has format {found}; this version reads format {known}"
    )
}

pub(super) fn not_recorded(path: &Path) -> String {
    format!(
        "there is no recording {}; record one with `.record(..)`",
        path.display()
    )
}

pub(super) fn failed(kind: impl fmt::Display, error: impl fmt::Display) -> String {
    format!("{kind}: {error}")
}

pub(super) fn panicked(message: &str) -> String {
    format!("panicked: {message}")
}

pub(super) fn differs(expected: &str, got: &str) -> String {
    format!("expected {expected}, got {got}")
}

pub(super) fn no_verdict(why: impl fmt::Display) -> String {
    format!("the judge gave no verdict: {why}")
}

pub(super) fn changed(by: &str, before: f64, now: f64, note: Option<String>) -> String {
    let note = note.map_or_else(String::new, |note| format!(" ({note})"));
    format!("{by} {before:.2} → {now:.2}{note}")
}

pub(super) fn scorer_is_new(by: &str, now: f64) -> String {
    format!("{by} is new: {now:.2}")
}
