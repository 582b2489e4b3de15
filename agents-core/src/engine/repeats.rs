//! Calls like an earlier one of the run: same tool, same arguments. One that has written is not simply executed again,
//! and whoever is asked about one hears of an earlier denial.

use super::{call_site::CallSite, wording};
use crate::{
    Json,
    error::{DenialReason, shorten},
    journal::{Accepted, Call, Frame, args_digest},
    run::{ApprovalReason, EarlierExecution, EarlierOutcome, ToolEnvelope},
    tool::{SharedTool, ToolSpec},
};
use std::sync::Arc;

impl CallSite<'_> {
    /// Adds to accepted arguments what has become of an equal call before: in this run, in the runs around it, or in
    /// runs within them. Either a person has to approve the call for this reason, or it is refused.
    pub(super) fn look_back(&self, tool: &SharedTool, accepted: &mut Accepted) {
        // Whoever approved the call has seen it.
        if self.with_call(Call::is_approved) {
            return;
        }
        let refuse = |accepted: &mut Accepted, why: String, because| {
            if accepted.denied.is_none() {
                accepted.denied = Some(why);
                accepted.because = Some(because);
            }
        };
        let spec = tool.spec();
        if let Some(earlier) = self.repeats(tool, &accepted.args) {
            match self.asks_people() {
                true => accepted.reasons.push(ApprovalReason::Repeated(earlier)),
                false => {
                    let output = self.receipt(|receipt| *receipt.call_id == *earlier.call_id);
                    let output = output.and_then(|receipt| receipt.output.clone());
                    let output = output.map(|output| shorten(&output.to_text()));
                    let why = wording::done_before(output.as_deref());
                    refuse(accepted, why, DenialReason::Repeated);
                }
            }
        }
        let settings = &self.cx.root.settings;
        if spec.answers.is_none()
            && let Some(denial) = settings.past.denied(spec.own_name(), &accepted.args)
        {
            match self.definition.refuses_denied || settings.refuses_denied {
                true => {
                    let why = wording::denied_before(&denial);
                    refuse(accepted, why, DenialReason::ApprovalDenied);
                }
                false => accepted.reasons.push(ApprovalReason::DeniedBefore(denial)),
            }
        }
        accepted.approval = !accepted.reasons.is_empty();
    }

    /// Returns the last execution of the same call in this run, in the runs around it and in the runs within them, if
    /// the tool writes, is not idempotent, and does not say that repeated calls are meant. Only an execution that
    /// succeeded counts, and none of the same reply. In a run that is set to confirm repeats, any execution does, and so
    /// does an earlier call of the same reply.
    pub(super) fn repeats(&self, tool: &SharedTool, args: &Json) -> Option<EarlierExecution> {
        let spec = tool.spec();
        let settings = &self.cx.root.settings;
        if spec.is_repeatable() || spec.polls || tool.is_part_of_the_run() {
            return None;
        }
        let own = self.with_call(|call| call.key().map(ToString::to_string));
        let executed = settings
            .past
            .executed(spec.own_name(), &args_digest(args))
            .filter(|earlier| Some(&earlier.request) != own.as_ref());
        if settings.confirms_repeats {
            return executed.or_else(|| {
                self.cx.node.frame(|frame| {
                    let before = frame.calls.iter().filter(|call| call.seq < self.seq);
                    before
                        .rev()
                        .find_map(|call| call.about_to_run(spec.own_name(), args))
                })
            });
        }
        // Two calls of one reply that the server tells apart by their ids are meant to be two.
        let stands_beside = |earlier: &EarlierExecution| {
            let is_it = |call: &Call| {
                call.key()
                    .is_some_and(|key| key.to_string() == earlier.request)
            };
            self.cx.node.frame(|frame| frame.calls.iter().any(is_it))
        };
        let done = executed.filter(|earlier| {
            earlier.outcome == EarlierOutcome::Succeeded && !stands_beside(earlier)
        })?;
        let is_meant = match &settings.replay {
            Some(replay) => replay.has_executed(&self.path()),
            None => !self.asks_people() && self.is_meant_again(spec, args),
        };
        (!is_meant).then_some(done)
    }

    /// Returns `true` if a person can be asked about a repeated call.
    fn asks_people(&self) -> bool {
        let settings = &self.cx.root.settings;
        match &settings.replay {
            Some(replay) => replay.has_asked(&self.path()),
            None => {
                settings.confirms_repeats
                    || settings.approver.is_some()
                    || settings.activity.is_some()
            }
        }
    }

    /// Returns `true` if the model was told that the call is done, and makes it again with words of its own. A model
    /// that goes round in a circle has no new words.
    fn is_meant_again(&self, spec: &ToolSpec, args: &Json) -> bool {
        let digest = args_digest(args);
        let is_told = |receipt: &ToolEnvelope| {
            let error = receipt.error.as_ref();
            receipt.name == spec.own_name()
                && error.is_some_and(|error| {
                    error.reason.as_deref() == Some(DenialReason::Repeated.as_str())
                })
                && args_digest(&receipt.input) == digest
        };
        self.cx.node.frame(Frame::has_new_words) && self.receipt(is_told).is_some()
    }

    /// Returns the last receipt of the run that fits.
    fn receipt(&self, fits: impl Fn(&ToolEnvelope) -> bool) -> Option<Arc<ToolEnvelope>> {
        let receipts = self.cx.node.machine().look(|state| state.receipts(0));
        receipts.into_iter().rfind(|receipt| fits(receipt))
    }

    /// Adds to the reason of a refusal by a policy that the approver gave the arguments, if the approver did.
    pub(super) fn say_who_gave_them(&self, accepted: &mut Accepted) {
        if let Some(why) = &mut accepted.denied
            && self.with_call(Call::is_edited)
        {
            *why = wording::edit_refused(why);
        }
    }
}
