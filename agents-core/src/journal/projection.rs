//! Receipt of a call, and the message that answers it: projections of its state.

use super::{
    Projection,
    call::{Call, of_call},
    wording,
};
use crate::{
    Json,
    error::{ErrorRecord, Origin, ToolError, shorten},
    run::{Attachment, Timestamp, ToolEnvelope},
};
use std::{borrow::Cow, mem, sync::Arc};

/// Writes the receipt of a settled call and the message with the result for the model, from the call's state.
pub(super) fn close(
    call: &mut Call,
    ended: Timestamp,
    projection: &Projection,
) -> Arc<ToolEnvelope> {
    let masker = &projection.masker;
    let mut truncated = false;
    let (output, error, content) = match call.result() {
        Some(Ok(output)) => {
            let output = &masker.seen(output);
            let is_kept = !call.attachments.is_empty();
            let (output, mut text) = capped(output, projection, is_kept, &mut truncated);
            if let Some(remark) = &call.remark {
                text.push_str(&wording::remark(remark));
            }
            (Some(output), None, text)
        }
        Some(Err(error)) => {
            let receipt = Box::new(receipt_of(call, error));
            (None, Some(receipt), told(call, error))
        }
        // Only a settled call is closed.
        None => (Some(Json::string("")), None, String::new()),
    };
    // An arm may have quoted a text that was masked in the tool's own message.
    call.message = Some(match masker.text(&content) {
        Cow::Owned(masked) => masked,
        Cow::Borrowed(_) => content,
    });
    let receipt = masker.mask(ToolEnvelope {
        call_id: call.id().cloned().unwrap_or_default(),
        name: call.tool().to_owned(),
        version: call.version().unwrap_or_default().to_owned(),
        input: kept(call.input(), projection),
        output,
        error,
        t_start: call.started.unwrap_or(ended),
        t_end: ended,
        cached: call.cached,
        truncated,
        // Only the receipt is read from now on.
        attachments: call
            .attached
            .iter()
            .map(Attachment::of)
            .chain(mem::take(&mut call.attachments))
            .collect(),
        attempts: mem::take(&mut call.attempts),
        repairs: of_call(&call.candidates, 0, masker),
        known: mem::take(&mut call.known),
        is_answer: call.is_answered(),
    });
    let receipt = Arc::new(receipt);
    call.receipt = Some(receipt.clone());
    receipt
}

/// Returns the arguments for the receipt: whole, or as a text of which the beginning is kept if they are longer than
/// the limit for outputs.
fn kept(input: Json, projection: &Projection) -> Json {
    match input.as_str().len() > projection.max_output_bytes {
        true => Json::string(&shorten(&projection.masker.text(input.as_str()))),
        false => input,
    }
}

/// Returns a call's output for its receipt, and as text for the model. Both are cut at the limit, and the model is told
/// so.
fn capped(
    output: &Json,
    projection: &Projection,
    is_kept: bool,
    truncated: &mut bool,
) -> (Json, String) {
    let limit = projection.max_output_bytes;
    let text = output.to_text();
    if text.len() <= limit {
        return (output.clone(), text);
    }
    *truncated = true;
    // A secret that another call has brought since would not be recognised by its beginning alone.
    let text = projection.masker.text(&text);
    let end = text.floor_char_boundary(limit);
    let shown = &text[..end];
    (
        Json::string(shown),
        wording::cut(shown, text.len(), is_kept),
    )
}

/// Returns the failure of a call for its receipt, with an arm's hint and the run's remarks.
fn receipt_of(call: &Call, error: &ToolError) -> ErrorRecord {
    let mut receipt = error.receipt();
    if let Some(hint) = &call.hint {
        receipt = receipt.with_hint(hint);
    }
    if let Some(remark) = &call.remark {
        receipt = receipt.with_remark(remark);
    }
    if let ToolError::Execution { cause, .. } = error
        && cause.origin() == Origin::Denied
    {
        if let Some(by) = &call.denied_by {
            receipt = receipt.with_decided_by(by);
        }
        if call.revised {
            receipt = receipt.with_revision();
        }
    }
    if let Some(reason) = &call.thrown {
        receipt.reason = Some(reason.clone());
    }
    receipt
}

/// Returns the failure of a call in words for the model: the code and the class, then what is wrong and where.
fn told(call: &Call, error: &ToolError) -> String {
    let tool = &call.call.name;
    let reason = match error {
        ToolError::Execution { cause, .. } => cause.reason(),
        _ => None,
    };
    let reason = reason.map(|reason| format!(", {reason}"));
    let mut text = format!(
        "ERROR {} ({}{}) in `{tool}`: {error}",
        error.code(),
        error.class(),
        reason.unwrap_or_default()
    );
    if let ToolError::InvalidArgs {
        expected_schema, ..
    } = error
    {
        text.push_str(&wording::schema_of_arguments(expected_schema));
    }
    if let ToolError::Execution { cause, .. } = error
        && let Some(wait) = cause.retry_after()
    {
        text.push_str(&wording::may_succeed_after(wait));
    }
    for said in call.hint.iter().chain(&call.remark) {
        text.push_str("; ");
        text.push_str(said);
    }
    text
}
