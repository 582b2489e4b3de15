//! Which calls of one reply run at once: all that need not run alone, up to the run's limit.

use super::{Place, one};
use crate::{
    brain::Brain,
    model::Message,
    run::{RunContext, ToolEnvelope},
};
use futures_util::future::join_all;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A call that is not answered yet.
struct Pending {
    index: usize,
    seq: u32,
    /// Its tool is `sequential`.
    alone: bool,
}

/// Carries out the calls of one reply; the answers are in the model's order.
pub(super) async fn all(brain: &Brain<'_>, cx: &RunContext) -> Vec<(Arc<ToolEnvelope>, Message)> {
    let pending = pending(brain, cx);
    let most = cx.root.settings.executor.max_parallel();
    let gate = (pending.len() > most).then(|| Semaphore::new(most));
    let gate = gate.as_ref();
    let place = |index| Place {
        brain,
        cx,
        index,
        gate,
    };
    if let [only] = &pending[..] {
        return vec![one(place(only.index), only.seq).await];
    }
    let mut settled = Vec::with_capacity(pending.len());
    for part in pending.chunk_by(|before, after| !before.alone && !after.alone) {
        let calls = part.iter().map(|call| one(place(call.index), call.seq));
        settled.extend(join_all(calls).await);
    }
    settled
}

fn pending(brain: &Brain<'_>, cx: &RunContext) -> Vec<Pending> {
    cx.node.with_frame(|frame| {
        let several = frame.calls.len() > 1;
        let calls = frame.calls.iter().enumerate();
        let pending = calls.map(|(index, call)| Pending {
            index,
            seq: call.seq,
            alone: several
                && brain
                    .tools
                    .get(&call.call.name)
                    .is_some_and(|tool| tool.spec().sequential),
        });
        pending.collect()
    })
}
