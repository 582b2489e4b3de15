//! Calls of one reply at the same time: all that need not run alone, up to the run's limit.

use super::{call::one, call_site::CallSite};
use crate::{context::RunContext, definition::AgentDefinition, journal::Call};
use futures_util::future::join_all;
use tokio::sync::Semaphore;

/// Tool call of a model's reply that has no result yet.
struct Pending {
    seq: u32,
    /// Is `true` if the call's tool is `sequential`, so that no other call runs beside it.
    alone: bool,
}

/// Carries out the calls of one reply, as many side by side as allowed; their results go to the model in its own order.
pub(crate) async fn calls(definition: &AgentDefinition<'_>, cx: &RunContext) {
    all(definition, cx).await;
    if let Some(passed) = cx.node.stepped_over() {
        match cx.exceed(passed).await {}
    }
}

/// Carries out the calls of one reply that are not settled yet.
async fn all(definition: &AgentDefinition<'_>, cx: &RunContext) {
    let place = |seq, gate| CallSite {
        definition,
        cx,
        seq,
        gate,
    };
    // Mostly there is one call, and no order to keep.
    let only = cx.node.frame(|frame| match &frame.calls[..] {
        [only] if is_open(only) => Some(only.seq),
        _ => None,
    });
    if let Some(only) = only {
        return one(place(only, None)).await;
    }
    let pending = pending(definition, cx);
    let most = cx.root.settings.executor.max_parallel();
    let gate = (pending.len() > most).then(|| Semaphore::new(most));
    let gate = gate.as_ref();
    for part in pending.chunk_by(|before, after| !before.alone && !after.alone) {
        join_all(part.iter().map(|call| one(place(call.seq, gate)))).await;
    }
}

/// Returns `true` if the model waits for the result of the call.
fn is_open(call: &Call) -> bool {
    call.receipt.is_none() && !call.is_in_background()
}

fn pending(definition: &AgentDefinition<'_>, cx: &RunContext) -> Vec<Pending> {
    cx.node.frame(|frame| {
        let open = frame.calls.iter().filter(|call| is_open(call));
        let pending = open.map(|call| Pending {
            seq: call.seq,
            alone: definition
                .tools
                .get(&call.call.name)
                .is_some_and(|tool| tool.spec().sequential),
        });
        pending.collect()
    })
}
