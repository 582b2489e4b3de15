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
        let is_harmless = tool.spec().is_repeatable() || tool.is_part_of_the_run();
        if is_harmless || accepted.denied.is_some() {
            return;
        }
        let own = self.with_call(|call| (!call.is_edited()).then(|| call.call.clone()));
        let Some(own) = own.filter(|own| turn_of(&own.id).is_some()) else {
            return;
        };
        let args = normal(accepted.args.as_str());
        let is_same = |before: &&Call| {
            let other = self.definition.tools.get(&before.call.name);
            before.seq < self.seq
                && turn_of(&before.call.id) == turn_of(&own.id)
                && other.is_some_and(|other| other.spec().own_name() == tool.spec().own_name())
                && (normal(before.input().as_str()) == args
                    || normal(&before.call.arguments) == normal(&own.arguments))
        };
        if self
            .cx
            .node
            .frame(|frame| frame.calls.iter().any(|call| is_same(&call)))
        {
            accepted.denied = Some(wording::STANDS_TWICE.to_owned());
        }
    }
}
