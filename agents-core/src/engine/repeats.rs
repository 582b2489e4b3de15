//! Calls that have run before: a person is asked about them, if the run says so.

use super::call_site::CallSite;
use crate::{
    Json,
    journal::{Accepted, Call, args_digest},
    run::{ApprovalReason, EarlierExecution},
    tool::SharedTool,
};

impl CallSite<'_> {
    /// Makes a person approve the call if an equal call (same tool, same arguments) was executed before: in this run,
    /// in the runs around it, or in runs within them. This happens only in a run that is set to confirm repeated calls,
    /// for a tool that writes and is not idempotent.
    pub(super) fn confirm_repeat(&self, tool: &SharedTool, accepted: &mut Accepted) {
        if let Some(earlier) = self.repeats(tool, &accepted.args) {
            accepted.approval = true;
            accepted.reasons.push(ApprovalReason::Repeated(earlier));
        }
    }

    /// Returns the last execution of the same call in this run, in the runs around it and in the runs within them. An
    /// earlier call of the same reply counts as well. Returns `None` if there is no such execution, or repetitions need
    /// no approval.
    pub(super) fn repeats(&self, tool: &SharedTool, args: &Json) -> Option<EarlierExecution> {
        let spec = tool.spec();
        let settings = &self.cx.root.settings;
        if !settings.confirms_repeats || spec.is_repeatable() || tool.is_part_of_the_run() {
            return None;
        }
        let own = self.with_call(|call| call.key().map(ToString::to_string));
        let executed = settings
            .past
            .executed(spec.own_name(), &args_digest(args))
            .filter(|earlier| Some(&earlier.request) != own.as_ref());
        executed.or_else(|| {
            self.cx.node.frame(|frame| {
                let before = frame.calls.iter().filter(|call| call.seq < self.seq);
                before
                    .rev()
                    .find_map(|call| call.about_to_run(spec.own_name(), args))
            })
        })
    }

    /// Adds to the reason of a refusal by a policy that the approver gave the arguments, if the approver did.
    pub(super) fn say_who_gave_them(&self, accepted: &mut Accepted) {
        if let Some(why) = &mut accepted.denied
            && self.with_call(Call::is_edited)
        {
            *why = super::wording::edit_refused(why);
        }
    }
}
