//! Calls that repeat themselves: the same tool, the same arguments and the same result, reply after reply.

use super::{call::Call, wording};
use crate::{json::canonical, run::ToolEnvelope};
use std::sync::Arc;

/// Number of identical calls in a row from which on the model gets a remark.
const TOLD_FROM: u32 = 3;

/// Count of identical calls of a model. For each call of the last reply that made calls, it has the number of replies
/// in a row that made the same call and got the same result.
#[derive(Clone, Debug, Default)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Repeated(Vec<Counted>);

#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
struct Counted {
    receipt: Arc<ToolEnvelope>,
    count: u32,
}

impl Repeated {
    /// Counts the settled calls of the next reply, and adds a remark to the message of each call that repeats itself.
    ///
    /// Two identical calls of one reply are counted once, because the model did not know the result of the first. Calls
    /// of tools that poll are not counted.
    pub(super) fn follow(&mut self, calls: &mut [Call]) {
        let before = self.0.len();
        for call in calls {
            let Some(receipt) = call.receipt.as_ref().filter(|_| !call.polls()) else {
                continue;
            };
            let earlier = self.0[..before].iter();
            let same = earlier.rev().find(|one| is_same(&one.receipt, receipt));
            let count = same.map_or(1, |one| one.count.saturating_add(1));
            if count >= TOLD_FROM
                && let Some(message) = &mut call.message
            {
                message.push_str(&remark(count, receipt.is_ok()));
            }
            self.0.push(Counted {
                receipt: receipt.clone(),
                count,
            });
        }
        self.0.drain(..before);
    }

    /// Returns the largest count among the calls of the last reply that made calls; 0 if there was no such call.
    pub(super) fn most(&self) -> u32 {
        let counts = self.0.iter().map(|one| one.count);
        counts.max().unwrap_or_default()
    }
}

/// Returns `true` if two receipts are of identical calls: same tool, arguments and result. A cut result counts as
/// different from any other, since the parts that were cut off may differ.
fn is_same(one: &ToolEnvelope, other: &ToolEnvelope) -> bool {
    one.name == other.name
        && one.output == other.output
        && one.error == other.error
        && !(one.truncated || other.truncated)
        && (one.input == other.input
            || canonical(one.input.as_str()) == canonical(other.input.as_str()))
}

/// Returns the remark for the model behind the result of the `nth` identical call.
fn remark(nth: u32, is_ok: bool) -> String {
    const ORDINALS: [&str; 8] = [
        "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    ];
    let ordinal = usize::try_from(nth.saturating_sub(TOLD_FROM)).ok();
    let ordinal = ordinal.and_then(|ordinal| ORDINALS.get(ordinal));
    wording::repeated(nth, ordinal.copied(), is_ok)
}
