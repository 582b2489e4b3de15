//! Calls that stand in one reply twice, of a server that gives calls no ids.

use super::{call_site::CallSite, model::turn_of, wording};
use crate::{
    journal::{Accepted, Call},
    model::normal,
    tool::SharedTool,
};

impl CallSite<'_> {
    /// Refuses a call that stands in its reply a second time, if nothing tells the two calls apart: neither has an id of
    /// its server. This happens only for a tool that writes and is not idempotent. The model is told how to make the
    /// call twice.
    pub(super) fn refuse_second(&self, tool: &SharedTool, accepted: &mut Accepted) {
        let spec = tool.spec();
        let is_harmless = spec.is_repeatable() || spec.polls || tool.is_part_of_the_run();
        if is_harmless || accepted.denied.is_some() {
            return;
        }
        let args = normal(accepted.args.as_str());
        let is_second = self.cx.node.frame(|frame| {
            let Some(own) = frame.under_way().find(|call| call.seq == self.seq) else {
                return false;
            };
            let turn = turn_of(&own.call.id).filter(|_| !own.is_edited());
            let is_same = |before: &Call| {
                let other = self.definition.tools.get(&before.call.name);
                before.seq < self.seq
                    && turn_of(&before.call.id) == turn
                    && other.is_some_and(|other| other.spec().own_name() == tool.spec().own_name())
                    && (normal(before.input().as_str()) == args
                        || normal(&before.call.arguments) == normal(&own.call.arguments))
            };
            turn.is_some() && frame.under_way().any(is_same)
        });
        if is_second {
            accepted.denied = Some(wording::STANDS_TWICE.to_owned());
        }
    }
}
