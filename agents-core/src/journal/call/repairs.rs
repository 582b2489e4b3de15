//! Repairs in a receipt: the changes to a text, and the repairs that were tried.
//!
//! They are computed from the candidates: the texts that were tried in turn.

use super::wording::repairs as wording;
use crate::{
    error::{ErrorRecord, ToolError},
    journal::{
        candidates::{By, Candidate, Candidates, Fault, Gave},
        wording::FAILED_ALREADY,
    },
    reader::ReadError,
    recovery::{FixError, text_at},
    run::{RepairKind, RepairStep, Repairs, in_short},
    secret::Masker,
};
use serde_json::Value;

/// Returns the repairs of a call's arguments, from the candidate `first` on: the changes to the model's text and to
/// each repaired text that is used, and the repairs that had no success.
pub(crate) fn of_call(
    candidates: &Candidates<ToolError>,
    first: usize,
    masker: &Masker,
) -> Repairs {
    told(candidates, wording::ARGUMENTS, first, masker)
}

/// Returns the repairs of a final answer for its record.
pub(crate) fn of_answer(candidates: &Candidates<ReadError>, masker: &Masker) -> Repairs {
    told(candidates, wording::ANSWER, 0, masker)
}

/// Returns the repair steps for each text that was tried, in turn.
///
/// A text that is used is `fixed`, and the reader's changes to it are listed. A text that is not used is `tried`. The
/// reader's changes to the model's own text are always listed.
///
/// Secrets are masked first, because a step holds only the beginning of a text.
fn told<F: Fault>(
    candidates: &Candidates<F>,
    what: &str,
    first: usize,
    masker: &Masker,
) -> Repairs {
    let mut repairs = Repairs::default();
    // Mostly there is only the model's own text, for which this is not needed.
    let mut used = None;
    let mut is_used = |at: usize| used.get_or_insert_with(|| candidates.used())[at];
    for (at, one) in candidates.iter().enumerate().skip(first) {
        match &one.gave {
            Gave::Text(_) if one.by == By::Model => repairs.extend(one.changes.clone().into()),
            Gave::Text(_) if is_used(at) => {
                repairs.extend(fixed(candidates, one, what, masker).into());
                repairs.extend(one.changes.clone().into());
            }
            Gave::Text(text) => repairs.extend(in_vain(one, text, &one.why, masker).into()),
            Gave::Again(text) => {
                repairs.extend(in_vain(one, text, FAILED_ALREADY, masker).into());
            }
            Gave::Nothing(why) => repairs.extend(gave_none(one, why).into()),
            Gave::Withheld(text) => repairs.extend(withheld(one, text.as_deref(), masker).into()),
            Gave::CutOff => repairs.extend(cut_off(one).into()),
        }
    }
    repairs
}

/// Returns the error of the candidate `index`, for an event, if the candidate repeats a text that failed before.
pub(crate) fn again(
    candidates: &Candidates<ToolError>,
    index: usize,
    masker: &Masker,
) -> Option<ErrorRecord> {
    let one = candidates.get(index);
    let Gave::Again(text) = &one.gave else {
        return None;
    };
    let error = ToolError::InvalidArgs {
        raw_args: text.clone(),
        parse_error: FAILED_ALREADY.to_owned(),
        expected_schema: Value::Null,
    };
    Some(ErrorRecord {
        message: in_vain(one, text, FAILED_ALREADY, masker).to_string(),
        ..error.receipt()
    })
}

/// Returns the repair step for a text that is used: it replaces a whole text, or one value in a text.
fn fixed<F: Fault>(
    candidates: &Candidates<F>,
    one: &Candidate<F>,
    what: &str,
    masker: &Masker,
) -> RepairStep {
    let by = one.by.name();
    let before = one.instead_of.map(|before| candidates.get(before));
    let failed = before.and_then(Candidate::failed);
    let field = failed.and_then(|failed| failed.error.field());
    let was = match (failed, before) {
        (Some(failed), _) => &failed.text,
        (None, Some(before)) => before.text(),
        (None, None) => "",
    };
    match field.filter(|_| one.is_one_value()) {
        Some(field) => {
            let was = text_at(was, field).map(|was| masker.text(was));
            let note = wording::value_given(by, was.is_some(), one.tokens);
            let step = RepairStep::new(RepairKind::Fixed, field, note);
            match was {
                Some(was) => step.was(&was),
                None => step,
            }
        }
        None => {
            let note = wording::text_given(by, what, one.tokens);
            RepairStep::new(RepairKind::Fixed, "", note).was(&masker.text(was))
        }
    }
}

/// Returns the repair step for a text that was tried in vain.
fn in_vain<F>(one: &Candidate<F>, text: &str, why: &str, masker: &Masker) -> RepairStep {
    let text = in_short(&masker.text(text));
    let by = one.by.name();
    tried(wording::tried_in_vain(by, &text, one.tokens, why))
}

/// Returns the repair step for a repair agent that gave no text.
fn gave_none<F>(one: &Candidate<F>, why: &FixError) -> RepairStep {
    tried(wording::gave_nothing(one.by.name(), why, one.tokens))
}

/// Returns the repair step for a repair that was withheld, because the tool may have taken effect already.
fn withheld<F>(one: &Candidate<F>, text: Option<&str>, masker: &Masker) -> RepairStep {
    let text = text.map(|text| in_short(&masker.text(text)));
    tried(wording::withheld(one.by.name(), text.as_deref()))
}

/// Returns the repair step for a repair agent whose work ended before it answered.
fn cut_off<F>(one: &Candidate<F>) -> RepairStep {
    tried(wording::cut_off(one.by.name()))
}

fn tried(note: String) -> RepairStep {
    RepairStep::new(RepairKind::Tried, "", note)
}
