//! Uncertain readings: a tool that writes does not run on arguments that may have been meant otherwise.

use super::args::is_object;
use crate::{
    Effects,
    error::{Cause, Code, ToolError},
    reader::{self, Change, ChangeKind, Changes},
    tool::{self, ToolSpec},
};

/// Returns the first uncertain change of a call that cannot be taken back.
pub(super) fn of<'c>(spec: &ToolSpec, changes: &'c Changes) -> Option<&'c Change> {
    changes
        .uncertain()
        .filter(|_| spec.effects == Effects::Writes)
}

/// Returns the error of such a call: whoever wrote it says it again, or an arm does.
pub(super) fn told(spec: &ToolSpec, raw: &str, change: &Change) -> ToolError {
    let Change {
        kind, path, note, ..
    } = change;
    let remedy = match kind {
        ChangeKind::Extracted => "send the value alone, as JSON has it",
        ChangeKind::Inferred => "write the name of the field that is meant",
        ChangeKind::CutOff => "send the whole object again, to its closing bracket",
        _ => "send one JSON object and nothing else",
    };
    let why = format!("{note}, and a tool that writes does not run on that: {remedy}");
    let object = match is_object(raw) {
        true => Some(raw.into()),
        false => reader::lenient(raw).ok().map(|reading| reading.json),
    };
    let is_of_a_field = matches!(kind, ChangeKind::Extracted | ChangeKind::Inferred);
    match object.filter(|_| is_of_a_field) {
        Some(object) => ToolError::Deserialization {
            target_type: tool::type_at(&spec.input_schema, &object, path),
            raw_value: object.into_owned(),
            path: path.clone(),
            cause: Cause::text(Code::ValidationError, why),
        },
        None => ToolError::InvalidArgs {
            raw_args: raw.to_owned(),
            parse_error: why,
            expected_schema: spec.input_schema.clone(),
        },
    }
}
