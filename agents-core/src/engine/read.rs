//! Reading of arguments: from the text that a model wrote to values that fit.
//!
//! The text is read strictly first. If that fails, and strict reading is not set, it is read as leniently as the schema
//! allows; every change is reported. A text that still does not fit becomes a [`ToolError`].

use super::{
    admit,
    known::{self, Spelled},
    rules::Rules,
    wording,
};
use crate::{
    Effects, Json,
    error::{self, Cause, Code, ToolError},
    journal::{Accepted, Refused},
    policy::Verdict,
    reader::{self, Change, ChangeKind, Changes, Diagnosis, ReadError, ReadErrorKind},
    tool::{self, DynTool, Prepared, ToolSpec},
};

/// Arguments that fit: as text for the record, and as values with which the tool can run.
pub(crate) type Fit = (Accepted, Prepared);

/// Reads the arguments of a call: strictly, then leniently. `changes` are those with which the text was read out of a
/// reply. `Err` says what is wrong, for the arms and the model.
pub(crate) fn read(
    rules: &Rules<'_>,
    raw: &str,
    mut changes: Changes,
) -> Result<Fit, Box<Refused>> {
    let tool = &**rules.tool;
    if raw.len() > rules.max_bytes {
        let error = too_long(tool, raw, rules.max_bytes);
        return Err(refused(error, raw, Changes::default()));
    }
    if let Err(error) = reader::check_depth(raw) {
        return Err(unreadable(rules, raw, error.to_string()));
    }
    if let Some(change) = uncertain(tool.spec(), &changes) {
        let error = told_uncertain(tool.spec(), raw, change);
        return Err(refused(error, raw, Changes::default()));
    }
    let schema = tool.spec().expected().compiled;
    let misfit = match rules.unknown_key(raw) {
        Some(unknown) => unknown,
        None => match accept(rules, raw, changes.clone()) {
            Ok(accepted) => return Ok(accepted),
            Err(misfit) => misfit,
        },
    };
    if let Some(nothing) = nothing_meant(rules, raw) {
        changes.extend(nothing);
        return accept(rules, "{}", changes)
            .map_err(|misfit| misfitting(rules, raw, misfit, &schema.diagnose_strictly(raw)));
    }
    if rules.strict || matches!(raw.trim(), "" | "null") {
        return Err(misfitting(
            rules,
            raw,
            misfit,
            &schema.diagnose_strictly(raw),
        ));
    }
    let mut found = reader::diagnose(raw, schema);
    changes.extend(found.changes);
    found.changes = changes;
    leniently(rules, raw, misfit, found)
}

/// Reads the arguments leniently, after a strict reading has failed with this misfit. `found` is what the lenient
/// reader found in the text.
fn leniently(
    rules: &Rules<'_>,
    raw: &str,
    misfit: ReadError,
    found: Diagnosis<'_>,
) -> Result<Fit, Box<Refused>> {
    let Some(json) = found.json.as_deref() else {
        return match is_object(raw) {
            true => Err(misfitting(rules, raw, misfit, &found)),
            false => Err(unreadable(rules, raw, unread(&found))),
        };
    };
    if found.fits() {
        if let Some(change) = uncertain(rules.tool.spec(), &found.changes) {
            let error = told_uncertain(rules.tool.spec(), raw, change);
            return Err(refused(error, raw, Changes::default()));
        }
        return accept(rules, json, found.changes.clone())
            .map_err(|misfit| misfitting(rules, json, misfit, &found));
    }
    if is_object(raw) {
        return Err(misfitting(rules, raw, misfit, &found));
    }
    // A whole object was found in the text, but it does not fit: a field is at fault, not the text.
    let is_whole = !found.is_cut_off() && !found.changes.any(ChangeKind::Brackets);
    match rules.prepare(json).err() {
        Some(misfit) if is_whole && is_object(json) => Err(misfitting(rules, json, misfit, &found)),
        _ => Err(unreadable(rules, raw, unread(&found))),
    }
}

/// Returns the reason why a text of arguments cannot be read. A text that broke off lacks no field, and its last value
/// is not wrong.
fn unread(found: &Diagnosis<'_>) -> String {
    let Some(error) = found.errors.first() else {
        return String::new();
    };
    if found.is_cut_off() {
        return wording::broke_off(error);
    }
    // The text is at fault: in a whole object, a field would be.
    match error.kind() {
        ReadErrorKind::Mismatch => wording::does_not_fit(error),
        _ => error.to_string(),
    }
}

fn refused(error: ToolError, text: &str, changes: Changes) -> Box<Refused> {
    Box::new(Refused {
        error,
        text: text.to_owned(),
        changes,
    })
}

fn unreadable(rules: &Rules<'_>, raw: &str, parse_error: String) -> Box<Refused> {
    let error = ToolError::InvalidArgs {
        raw_args: raw.to_owned(),
        parse_error,
        expected_schema: rules.tool.spec().input_schema.clone(),
    };
    refused(error, raw, Changes::default())
}

/// Returns the refusal of JSON arguments that do not fit, with the names of the fields; `found` holds the reader's
/// findings on the same text.
fn misfitting(
    rules: &Rules<'_>,
    json: &str,
    misfit: ReadError,
    found: &Diagnosis<'_>,
) -> Box<Refused> {
    if !is_object(json) {
        return unreadable(rules, json, wording::not_an_object(json, misfit.message()));
    }
    let spec = rules.tool.spec();
    let (first, all) = tool::explain(misfit, spec.expected(), found, json, !rules.strict);
    let error = ToolError::Deserialization {
        raw_value: json.to_owned(),
        path: first.path().to_owned(),
        target_type: tool::type_at(&spec.input_schema, json, first.path()),
        cause: Cause::misfit(first.message().to_owned(), all),
    };
    refused(error, json, found.changes.clone())
}

fn accept(rules: &Rules<'_>, text: &str, changes: Changes) -> Result<Fit, ReadError> {
    let Spelled {
        prepared,
        origins,
        text,
        changes: respelled,
    } = known::prepare(rules, text)?;
    let mut changes = changes;
    changes.extend(respelled);
    if let Some(schema) = rules.tool.spec().constraints() {
        schema.fits(&text)?;
    }
    let args = Json::parse(&*text).map_err(|error| ReadError::new("", error.to_string()))?;
    let Rules {
        definition,
        tool,
        context,
        ..
    } = *rules;
    let verdict = admit::judge(definition, &context.cx, tool, Some(&args));
    let reasons = admit::reasons_for_approval(rules, &verdict, &prepared);
    let risk = tool.risk_of(&prepared, context);
    let denied = match verdict {
        Verdict::Deny { reason } => Some(reason),
        Verdict::Allow | Verdict::Confirm => None,
    };
    let accepted = Accepted {
        args,
        changes,
        approval: !reasons.is_empty(),
        reasons,
        risk: Some(risk).filter(|risk| *risk != tool.spec().risk_level()),
        known: origins,
        denied,
        because: None,
    };
    Ok((accepted, prepared))
}

/// Returns the change for a tool without arguments that is called with an empty text, `null`, `[]` or `""` instead of
/// `{}`.
fn nothing_meant(rules: &Rules<'_>, raw: &str) -> Option<Changes> {
    let tool = &**rules.tool;
    let nothing = matches!(raw.trim(), "" | "null" | "[]" | "\"\"");
    (!rules.strict && nothing && tool.spec().takes_nothing())
        .then(|| Changes::from(Change::new(ChangeKind::Coerced, "", wording::NO_ARGUMENTS)))
}

fn too_long(tool: &dyn DynTool, raw: &str, limit: usize) -> ToolError {
    ToolError::InvalidArgs {
        raw_args: error::shorten(raw),
        parse_error: wording::too_long(raw.len(), limit),
        expected_schema: tool.spec().input_schema.clone(),
    }
}

pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Returns the first uncertain change in the arguments of a tool that writes: its effect may be impossible to undo.
fn uncertain<'c>(spec: &ToolSpec, changes: &'c Changes) -> Option<&'c Change> {
    changes
        .uncertain()
        .filter(|_| spec.effects == Effects::Writes)
}

/// Returns the error for uncertain arguments of a tool that writes: the model has to write them again, or an arm has to
/// repair them.
fn told_uncertain(spec: &ToolSpec, raw: &str, change: &Change) -> ToolError {
    let Change {
        kind, path, note, ..
    } = change;
    let why = match kind {
        ChangeKind::DroppedKey => wording::uncertain(&change.to_string(), kind),
        _ => wording::uncertain(note, kind),
    };
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
