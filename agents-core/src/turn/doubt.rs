//! What a tool that writes does not run on: arguments that may have been meant otherwise.

use super::args::is_object;
use crate::{
    Effects, Json,
    error::{Cause, Code, ToolError},
    model::prompted::{MADE_UP, is_placeholder},
    reader::{self, Change, ChangeKind, Repairs},
    tool::{ArgumentError, ToolSpec},
};

/// The first doubtful change, of a call that cannot be taken back.
pub(super) fn of<'r>(spec: &ToolSpec, repairs: &'r Repairs) -> Option<&'r Change> {
    let mut doubtful = repairs.iter().filter(|change| change.kind.is_doubtful());
    doubtful.next().filter(|_| spec.effects == Effects::Writes)
}

/// What is said of it: whoever wrote the call says it again, or an arm does.
pub(super) fn told(spec: &ToolSpec, raw: &str, doubt: &Change) -> ToolError {
    let Change {
        kind, path, note, ..
    } = doubt;
    let remedy = match kind {
        ChangeKind::Extracted => "send the value alone",
        ChangeKind::CutOff => "send the whole object again, to its closing bracket",
        _ => "send one JSON object and nothing else",
    };
    let why = format!("{note}, and a tool that writes does not run on that: {remedy}");
    let object = match is_object(raw) {
        true => Some(raw.into()),
        false => reader::lenient(raw).ok().map(|reading| reading.json),
    };
    match object.filter(|_| *kind == ChangeKind::Extracted) {
        Some(object) => ToolError::Deserialization {
            raw_value: object.into_owned(),
            path: path.clone(),
            target_type: spec.name.to_string(),
            cause: Cause::text(Code::ValidationError, why),
        },
        None => ToolError::InvalidArgs {
            raw_args: raw.to_owned(),
            parse_error: why,
            expected_schema: spec.input_schema.clone(),
        },
    }
}

/// Small models copy the examples of a prompt. Nobody means what was made up for one.
pub(super) fn not_copied(spec: &ToolSpec, args: &Json) -> Result<(), ArgumentError> {
    let any = MADE_UP.iter().any(|word| args.as_str().contains(word));
    if spec.effects != Effects::Writes || !any {
        return Ok(());
    }
    let args = args.to_value().unwrap_or_default();
    let mut members = args.as_object().into_iter().flatten();
    let copied = members.find_map(|(name, value)| {
        let value = value.as_str()?;
        is_placeholder(name, value).then_some((name, value))
    });
    match copied {
        Some((name, value)) => Err(ArgumentError::new(
            name,
            format!("`{value}` was made up for an example: send what is meant here"),
        )),
        None => Ok(()),
    }
}
