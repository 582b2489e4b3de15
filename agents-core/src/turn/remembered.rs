//! What a tape remembers, taken for what happens; and what happens, told to the tape.

use super::Place;
use crate::{
    Json,
    error::{Cause, ErrorReceipt, ToolError},
    model::Usage,
    panics::guarded,
    recovery::Plan,
    run::{
        Call, CallFact, Fact, Happened, Inside, Moment, Node, Recalled, RunContext, Settings, Stop,
        Tape, ToolEnvelope, Within, trace::StepKind,
    },
    tool::{Prepared, SharedTool, ToolContext},
};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::{fmt, sync::Arc};

impl Place<'_> {
    /// Carries out a call whose arguments are accepted, or takes what the tape says came of it.
    pub(super) async fn dispatch(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &ToolContext,
    ) -> CallFact {
        let is_part =
            tool.is_part_of_the_run() || self.brain.knowledge(&tool.spec().name).is_some();
        let Some(tape) = self.tape().filter(|_| !is_part) else {
            return self.carry_out(tool, prepared, context).await;
        };
        let moment = self.moment(format_args!("run{}", self.round()), &self.asked(tool));
        let cx = &context.cx;
        if let Some(Happened::Executed {
            result,
            cached,
            inside,
        }) = recalled(cx, &**tape, &moment).await
        {
            restore(cx, inside);
            return match (result, cached) {
                (Ok(output), true) => CallFact::Cached(output),
                (result, _) => {
                    let partial = result.is_ok() && cx.is_partial();
                    CallFact::Ended { result, partial }
                }
            };
        }
        let mut told = Told::within(&**tape, moment, cx);
        let event = self.carry_out(tool, prepared, context).await;
        let (result, cached) = match &event {
            CallFact::Cached(output) => (Ok(output.clone()), true),
            CallFact::Ended { result, .. } => (result.clone(), false),
            _ => return event,
        };
        let inside = told.inside();
        told.tell(Happened::Executed {
            result,
            cached,
            inside,
        });
        event
    }

    /// Keeps the output of a settled call whole, or takes it to be kept where the tape says it is.
    pub(super) async fn keep_whole(&self) {
        let Some(tape) = self.tape() else {
            return self.put_away().await;
        };
        let moment = || self.moment(format_args!("whole"), &());
        if tape.recalls()
            && let Some(Happened::Kept(attachments)) = recalled(self.cx, &**tape, &moment()).await
        {
            for attachment in attachments {
                self.add(CallFact::Kept(attachment)).await;
            }
            return;
        }
        self.put_away().await;
        let attachments = self.with_call(|call| call.attachments.clone());
        if !attachments.is_empty() {
            tape.keep(moment(), Happened::Kept(attachments));
        }
    }

    /// Settles the call as the tape wants it, whatever would have come of it; says whether it does.
    pub(super) async fn is_settled_by_tape(&self) -> bool {
        let Some(tape) = self.tape().filter(|tape| tape.recalls()) else {
            return false;
        };
        let moment = self.moment(format_args!("settled"), &());
        let Some(Happened::Settled(receipt)) = recalled(self.cx, &**tape, &moment).await else {
            return false;
        };
        let receipt = Arc::unwrap_or_clone(receipt);
        let result = result_of(receipt.output, receipt.error);
        let input = receipt.input;
        self.add(CallFact::SettledAs { input, result }).await;
        true
    }

    /// The call is settled, and has its receipt.
    pub(super) fn tell_settled(&self, receipt: &Arc<ToolEnvelope>) {
        if let Some(tape) = self.tape() {
            let moment = self.moment(format_args!("settled"), &());
            tape.keep(moment, Happened::Settled(receipt.clone()));
        }
    }

    /// Whether waits are waited.
    pub(super) fn waits(&self) -> bool {
        self.tape().is_none_or(|tape| tape.waits())
    }

    fn tape(&self) -> Option<&Arc<dyn Tape>> {
        self.cx.root.settings.tape.as_ref()
    }

    fn moment(&self, what: fmt::Arguments<'_>, asked: &impl Serialize) -> Moment {
        let at = format!("{}/{what}", self.cx.node.call_path(self.seq));
        moment(self.cx, at, asked)
    }

    pub(super) fn asked<'a>(&self, tool: &'a SharedTool) -> Asked<'a> {
        Asked {
            args: self.with_call(Call::input),
            tool: &tool.spec().name,
        }
    }
}

/// A call that was left unsettled has its receipt: no replay waits for it, but it is on the tape.
pub(super) fn tell_abandoned(
    node: &Node,
    settings: &Settings,
    seq: u32,
    receipt: &Arc<ToolEnvelope>,
) {
    if let Some(tape) = &settings.tape {
        let at = format!("{}/abandoned", node.call_path(seq));
        let asked = Json::null();
        tape.keep(Moment { at, asked }, Happened::Settled(receipt.clone()));
    }
}

/// What is asked of a tool, or about it.
#[derive(Serialize)]
pub(super) struct Asked<'a> {
    /// Numbers may be longer than what reads them can hold: the arguments stay text.
    #[serde(serialize_with = "as_text")]
    pub(super) args: Json,
    pub(super) tool: &'a str,
}

fn as_text<S: Serializer>(args: &Json, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(args.as_str())
}

/// What arms say to a failure, or have said. They are asked in any case, for a tape knows repair agents by
/// name alone.
pub(crate) fn decided(
    cx: &RunContext,
    at: String,
    error: &ToolError,
    asked: impl FnOnce() -> Option<Plan>,
) -> Option<Plan> {
    let Some(tape) = &cx.root.settings.tape else {
        return asked();
    };
    let moment = moment(cx, at, &json!({ "error": error.to_string() }));
    if let Recalled::Happened(happened) = tape.recall(&moment)
        && let Happened::Decided(plan) = *happened
    {
        let now = guarded(asked).unwrap_or_default();
        return if now == plan { now } else { plan };
    }
    let plan = asked();
    tape.keep(moment, Happened::Decided(plan.clone()));
    plan
}

/// Where the arms are asked about a call.
pub(crate) fn arms_of(cx: &RunContext, call: &Call) -> String {
    format!("{}/arms{}", cx.node.call_path(call.seq), when(call))
}

/// How far recovery has come with a call: no two failures of it have come equally far.
pub(super) fn when(call: &Call) -> String {
    format!("{}.{}", call.rounds(), call.candidates.tried_count())
}

pub(super) fn moment(cx: &RunContext, at: String, asked: &impl Serialize) -> Moment {
    let asked = Json::of(asked).unwrap_or_else(|_| Json::string(""));
    Moment {
        at,
        asked: cx.masker().json(&asked),
    }
}

/// What the tape says; `None` if it is to happen now. Where the recorded run waited in vain, this one waits
/// for what ended it.
pub(super) async fn recalled(
    cx: &RunContext,
    tape: &dyn Tape,
    moment: &Moment,
) -> Option<Happened> {
    match tape.recall(moment) {
        Recalled::Live => None,
        Recalled::Happened(happened) => match *happened {
            Happened::Nothing(inside) => {
                restore(cx, inside);
                match tape.in_vain(&moment.at).await {}
            }
            happened => Some(happened),
        },
        Recalled::Diverged(reason) => match cx.stop(Stop::Diverged { reason }).await {},
    }
}

/// Tells the tape what came of something, also when nothing did.
pub(super) struct Told<'a> {
    tape: &'a dyn Tape,
    moment: Option<Moment>,
    /// Where agents may be at work on it, and what they had done there before.
    within: Option<(RunContext, Inside)>,
}

impl<'a> Told<'a> {
    pub(super) fn of(tape: &'a dyn Tape, moment: Moment) -> Self {
        Told {
            tape,
            moment: Some(moment),
            within: None,
        }
    }

    fn within(tape: &'a dyn Tape, moment: Moment, cx: &RunContext) -> Self {
        let mut told = Told::of(tape, moment);
        told.within = Some((cx.clone(), inside(cx)));
        told
    }

    pub(super) fn tell(&mut self, what: Happened) {
        if let Some(moment) = self.moment.take() {
            self.tape.keep(moment, what);
        }
    }

    /// What agents have done within it.
    fn inside(&self) -> Inside {
        match &self.within {
            Some((cx, before)) => since(before, inside(cx)),
            None => Inside::default(),
        }
    }

    /// Whether the tool is running still.
    fn cut_off(&self) -> bool {
        let running = |(cx, _): &(RunContext, Inside)| cx.with_call(Call::is_running);
        self.within.as_ref().and_then(running).unwrap_or_default()
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if self.moment.is_none() {
            return;
        }
        let mut inside = self.inside();
        inside.cut_off = self.cut_off();
        self.tell(Happened::Nothing(inside));
    }
}

fn result_of(output: Option<Json>, error: Option<Box<ErrorReceipt>>) -> Result<Json, Cause> {
    match (output, error) {
        (_, Some(error)) => Err(Cause::text(error.code, error.message)),
        (Some(output), None) => Ok(output),
        (None, None) => Ok(Json::string("")),
    }
}

/// What agents did within the call's attempt at `cx`.
fn inside(cx: &RunContext) -> Inside {
    let Some(place) = cx.within.and_then(|within| cx.node.known(within)) else {
        return Inside::default();
    };
    Inside {
        receipts: place.receipts(),
        steps: place.machine().look(|state| state.steps_within(place.id())),
        tokens: place.spent(),
        partial: place.is_partial(),
        cut_off: false,
        ended_run: place.ended_run(),
    }
}

/// What is new: a repair agent may have been at work there before the tool was.
fn since(before: &Inside, now: Inside) -> Inside {
    let known = |receipt: &Arc<ToolEnvelope>| {
        let mut before = before.receipts.iter();
        before.any(|one| one.call_id == receipt.call_id)
    };
    let receipts = now.receipts.into_iter().filter(|receipt| !known(receipt));
    Inside {
        receipts: receipts.collect(),
        steps: now.steps.into_iter().skip(before.steps.len()).collect(),
        tokens: now.tokens - before.tokens,
        partial: now.partial,
        cut_off: now.cut_off,
        ended_run: now.ended_run,
    }
}

/// What agents did there has been done already.
fn restore(cx: &RunContext, inside: Inside) {
    let Some(within) = cx.within.filter(|_| inside != Inside::default()) else {
        return;
    };
    let Inside {
        receipts,
        steps,
        tokens,
        partial,
        cut_off,
        ended_run,
    } = inside;
    if cut_off {
        cx.add_to_call(CallFact::Begun { intent: None });
    }
    cx.node.inside(within).add(Fact::Restored {
        receipts,
        tokens,
        partial,
        ended_run,
    });
    let mut usage = Usage::default();
    for step in steps {
        if let StepKind::Turn { usage: of_turn, .. } = &step.kind {
            usage += *of_turn;
        }
        cx.node.add(Fact::Told(Box::new(step)));
    }
    // What a run of its own has used is known in all, and no closer.
    usage.input_tokens += tokens.saturating_sub(usage.tokens());
    cx.root.node.add(Fact::Used(usage));
}

/// The round of a call within which something is, for what has to differ between rounds.
pub(crate) fn round_of(cx: &RunContext) -> u32 {
    match cx.within {
        Some(Within::Call(_, round)) => round,
        _ => 0,
    }
}
