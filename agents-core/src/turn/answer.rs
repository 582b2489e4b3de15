//! The final answer climbs the same ladder as arguments do: read strictly, then leniently; then the
//! agent's `invalid_output` arms; then back to the model.

mod ladder;

use crate::{
    Error,
    brain::{Answer, Brain},
    error::ReadError,
    model::Message,
    panics::guarded,
    run::{
        EventKind, RunContext,
        climb::{Climbed, Unhandled, climb},
        give_up_replaced,
    },
};
use ladder::{Climbing, Ladder};
use serde_json::Value;

/// What a model is told that takes over from one whose answer did not fit.
const TAKEN_OVER: &str = "you take over from the model that gave it";

/// What became of an answer.
pub(crate) enum Settled<O> {
    /// It is the agent's result.
    Value(O),
    /// It goes back to the model, for this reason.
    Refused(String),
}

/// Reads the final answer that the frame holds, with whatever help the arms give.
///
/// Where it stands is in the frame: a run that was put down here goes on here.
pub(crate) async fn settle<O>(
    brain: &Brain<'_>,
    answer: &Answer<O>,
    cx: &RunContext,
) -> Result<Settled<O>, Error> {
    let strict = brain.strict || cx.root.settings.strict;
    let ladder = Ladder {
        brain,
        cx,
        schema: answer.schema().unwrap_or(&Value::Null),
        compiled: answer.compiled(),
        strict,
    };
    loop {
        let (text, fault) = cx.node.with_frame(|frame| {
            (
                frame.answer.clone().unwrap_or_default(),
                frame.fault.clone(),
            )
        });
        let handed_up = cx.node.with_frame(|frame| frame.climbing.clone());
        if let Some(escalation) = handed_up {
            return match Box::pin(climb(cx, *escalation, Unhandled::Returned)).await {
                Climbed::Continues => Ok(Settled::Refused(TAKEN_OVER.to_owned())),
                Climbed::Unhandled(escalation) => Err(Error::of_escalation(*escalation, true)),
            };
        }
        let climbing = match fault {
            Some(fault) => ladder.climb(&text, &fault).await?,
            None => match guarded(|| answer.read(&text, strict))
                .unwrap_or_else(|panic| Err(ReadError::new("", panic)))
            {
                Ok((value, repairs)) => {
                    let (mut fixed, is_cut_off) = cx.node.with_frame(|frame| {
                        give_up_replaced(&mut frame.fixed, 0, &mut frame.replaced);
                        let is_cut_off = frame.cut_off && frame.replaced.is_empty();
                        (frame.fixed.clone(), is_cut_off)
                    });
                    // JSON that fits as it is has come to its end. Of a repair its result is judged.
                    let is_whole = answer.schema().is_some() && repairs.is_empty();
                    if is_cut_off && !is_whole && cx.repair().is_none() {
                        cx.node.mark_partial();
                    }
                    fixed.extend(repairs);
                    refused(cx, false);
                    if !fixed.is_empty() {
                        let repairs = cx.masker().data(fixed.clone());
                        tracing::info!(agent = %brain.name, %repairs, "answer repaired");
                        cx.root.answer_repaired(&cx.node, &fixed);
                        cx.emit(|| EventKind::AnswerRepaired {
                            answer: said(cx),
                            repairs: fixed,
                        });
                    }
                    return Ok(Settled::Value(value));
                }
                Err(fault) => {
                    ladder.tell(&text, &ladder.failure(&text, &fault).to_string());
                    let is_given = cx.node.with_frame(|frame| match frame.replaced.last_mut() {
                        Some(given) => {
                            given.failed(&fault.to_string());
                            frame.progress.failed(&fault.to_string());
                            true
                        }
                        None => false,
                    });
                    // What was given may fail in a field and be mended further; as a whole it was a try.
                    match is_given && fault.path().is_empty() {
                        true => ladder.go_back(&text, &fault),
                        false => ladder.ask_the_arms(&text, fault),
                    }
                }
            },
        };
        if let Climbing::Fell(fault) = climbing {
            let said = cx.node.with_frame(|frame| {
                let hint = frame.hint.take();
                hint.into_iter().chain(frame.progress.cut_short())
            });
            let reason = said.fold(fault, |fault, said| format!("{fault}; {said}"));
            let said = cx.masker().text(&reason);
            tracing::info!(agent = %brain.name, reason = %said, "answer refused");
            cx.emit(|| EventKind::AnswerRefused {
                reason: reason.clone(),
            });
            return Ok(Settled::Refused(reason));
        }
    }
}

/// Whether what the model said last is refused, as the step of the run tells it.
pub(crate) fn refused(cx: &RunContext, is_refused: bool) {
    let turn = cx.node.with_frame(|frame| frame.turns);
    cx.root.answer_refused(&cx.node, turn, is_refused);
}

/// What the model said last, whatever has been made of it since.
fn said(cx: &RunContext) -> String {
    cx.node
        .with_frame(|frame| match frame.history.messages().last() {
            Some(Message::Assistant { content, .. }) => content.clone(),
            _ => String::new(),
        })
}
