//! Stage 5: the receipt, and the message that answers the call.

use crate::{
    Json,
    error::{ErrorReceipt, Origin, ToolError, shorten},
    model::Message,
    observe,
    run::{
        CallState, Ending, EventKind, Kept, Node, Root, RunContext, Settings, Timestamp, Told,
        ToolEnvelope, What,
    },
    turn::{call_id, remembered::tell_abandoned},
};
use std::{mem, sync::Arc};

/// Writes the receipt of a settled call, and says to the model what came of it.
pub(super) fn close(
    call: &mut CallState,
    node: &Node,
    ended: Timestamp,
    settings: &Settings,
) -> (Arc<ToolEnvelope>, Message) {
    let mut truncated = false;
    if call.receipt.is_none() {
        call.tell_of_effects();
    }
    let (output, error, content) = match call.result() {
        Some(Ok(output)) => {
            let is_kept = !call.attachments.is_empty();
            let (output, mut text) = capped(output, settings, is_kept, &mut truncated);
            if let Some(remark) = &call.remark {
                text.push_str(&format!("\n[{remark}]"));
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
    let message = Message::Tool {
        tool_call_id: call.call.id.clone(),
        name: call.call.name.clone(),
        // An arm may have quoted what the tool itself has been kept from telling.
        content: settings.masker.text(&content).into_owned(),
    };
    // A call that was settled before the run was put down has its receipt already.
    if let Some(receipt) = &call.receipt {
        return (receipt.clone(), message);
    }
    let receipt = settings.masker.data(ToolEnvelope {
        call_id: call_id::of(call, node),
        name: call.tool().to_owned(),
        version: call.version.clone().unwrap_or_default(),
        input: kept(call.input(), settings),
        output,
        error,
        t_start: Timestamp::from_millis(call.started),
        t_end: ended,
        cached: call.cached,
        truncated,
        // The receipt is all that is looked at from now on.
        attachments: mem::take(&mut call.attachments),
        attempts: mem::take(&mut call.attempts),
        repairs: mem::take(&mut call.repairs),
    });
    let receipt = Arc::new(receipt);
    call.receipt = Some(receipt.clone());
    (receipt, message)
}

/// A call has its receipt: that is a line in the log and a step of the run, and those who listen are told.
pub(super) fn tell(node: &Node, root: &Root, seq: u32, receipt: Arc<ToolEnvelope>) {
    observe::settled(node, root, seq, &receipt);
    root.step(Kept {
        worker: node.worker(),
        t_start: receipt.t_start,
        t_end: receipt.t_end,
        what: What::Call {
            seq,
            call_id: receipt.call_id.clone(),
        },
    });
    root.emit_at(
        node,
        || node.call_path(seq).to_string(),
        || EventKind::CallEnded(receipt),
    );
}

/// Writes the receipts of calls that are left unsettled, here and below, for this reason; what was decided about
/// escalations has not come true. What is within a call ends before it does.
pub(crate) fn close_all(node: &Node, root: &Root, why: &Ending) {
    for child in node.children() {
        close_all(&child, root, why);
    }
    for verdict in node.verdicts() {
        root.keep_dropped(node, verdict.escalation, why);
    }
    for (seq, is_new, receipt) in closed(node, &root.settings, why) {
        node.add_receipt(receipt.clone());
        if is_new {
            tell_abandoned(node, &root.settings, seq, &receipt);
            tell(node, root, seq, receipt);
        }
    }
}

/// The calls that are left here, each with whether its receipt is new, and the receipt.
fn closed(node: &Node, settings: &Settings, why: &Ending) -> Vec<(u32, bool, Arc<ToolEnvelope>)> {
    let (mut closed, mut messages) = (Vec::new(), Vec::new());
    let state = &mut *node.state();
    let calls = state.frame.iter().flat_map(|frame| &frame.calls);
    let within = |call: &CallState| {
        let why = why.of_call(state.ended_run(call.seq));
        (state.calls_within(call.seq), why)
    };
    let within: Vec<_> = calls.map(within).collect();
    if let Some(frame) = &mut state.frame {
        for (call, (calls, why)) in frame.calls.iter_mut().zip(within) {
            // One that was settled before the run ended has its receipt, and its end.
            let ended = match call.receipt {
                Some(_) => Timestamp::default(),
                None => settings
                    .clock
                    .now(format_args!("{}/call{}/end", node.path(), call.seq)),
            };
            if call.started == 0 {
                call.started = ended.as_millis();
            }
            let is_new = call.receipt.is_none();
            call.abandon(why, calls);
            let (receipt, message) = close(call, node, ended, settings);
            closed.push((call.seq, is_new, receipt));
            messages.push(message);
        }
        // If a stored run comes back to this agent, its model has been told.
        if !messages.is_empty() {
            frame.on(Told::Answered(messages));
        }
    }
    closed
}

/// Writes the receipts of calls that an agent leaves unsettled which is dropped or fails, as soon as it is.
pub(crate) struct Leaving<'a>(Option<&'a RunContext>);

impl<'a> Leaving<'a> {
    /// Those of the agent that works at `cx`.
    pub(crate) fn of(cx: &'a RunContext) -> Self {
        Leaving(Some(cx))
    }

    /// It has its answer.
    pub(crate) fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let Some(RunContext { node, root, .. }) = self.0 else {
            return;
        };
        close_all(node, root, &Ending::of(root, node));
    }
}

/// What a receipt keeps of the arguments: all, unless that is more than any call may have.
fn kept(input: Json, settings: &Settings) -> Json {
    match input.as_str().len() > settings.max_output_bytes {
        true => Json::string(&shorten(&settings.masker.text(input.as_str()))),
        false => input,
    }
}

/// The output, and how the model reads it; both cut where the limit is, and the model is told.
fn capped(
    output: &Json,
    settings: &Settings,
    is_kept: bool,
    truncated: &mut bool,
) -> (Json, String) {
    let limit = settings.max_output_bytes;
    let text = output.to_text();
    if text.len() <= limit {
        return (output.clone(), text);
    }
    *truncated = true;
    // A secret that another call has brought since cannot be told by its beginning.
    let text = settings.masker.text(&text);
    let end = text.floor_char_boundary(limit);
    let whole = match is_kept {
        true => "; the whole is kept, but not shown to you",
        false => "",
    };
    let kept = format!(
        "{}\n[cut: the first {end} of {} bytes{whole}]",
        &text[..end],
        text.len()
    );
    (Json::string(&text[..end]), kept)
}

/// A failure as the receipt has it, with what was said of it beside.
fn receipt_of(call: &CallState, error: &ToolError) -> ErrorReceipt {
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
        if let Some(by) = &call.decided_by {
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

/// A failure in the words the model gets: the class and the code, then what is wrong and where.
fn told(call: &CallState, error: &ToolError) -> String {
    let tool = &call.call.name;
    let mut text = format!(
        "ERROR {} ({}) in `{tool}`: {error}",
        error.code(),
        error.class()
    );
    if let ToolError::InvalidArgs {
        expected_schema, ..
    } = error
    {
        text.push_str(&format!("; the arguments have to follow {expected_schema}"));
    }
    if let ToolError::Execution { cause, .. } = error
        && let Some(wait) = cause.retry_after()
    {
        text.push_str(&format!("; it may succeed after {wait:?}"));
    }
    for said in call.hint.iter().chain(&call.remark) {
        text.push_str("; ");
        text.push_str(said);
    }
    text
}
