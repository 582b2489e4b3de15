use super::spans::int;
use crate::{
    context::{Node, Root},
    panics,
    run::{ToolCallMetadata, ToolEnvelope},
};
use tracing::{Level, field};

/// Reports that a call is settled: hooks get its receipt, and the log gets a line with the target `observed_tool`.
pub(crate) fn settled(node: &Node, root: &Root, seq: u32, receipt: &ToolEnvelope) {
    let hooks = &root.settings.receipt_hooks;
    let is_logged = tracing::enabled!(target: "observed_tool", Level::INFO);
    if hooks.is_empty() && !is_logged {
        return;
    }
    let call = ToolCallMetadata {
        tokens: Some(node.spent_within(seq)),
        cost: node.paid_within(seq),
        ..ToolCallMetadata::of(receipt, &*node.agent(), root.trace_id())
    };
    for hook in hooks {
        panics::told("on_receipt", &root.settings.masker, || hook(receipt, &call));
    }
    if is_logged {
        log(&call, receipt);
    }
}

fn log(call: &ToolCallMetadata, receipt: &ToolEnvelope) {
    let ToolCallMetadata {
        tool_name,
        agent_name,
        latency_ms,
        ok,
        error_class,
        trace_id,
        started_at,
        ended_at,
        tokens,
        cost,
    } = call;
    tracing::info!(
        target: "observed_tool",
        tool_name,
        agent_name,
        latency_ms = int(*latency_ms),
        ok,
        error_class = error_class.map(field::display),
        trace_id,
        %started_at,
        %ended_at,
        call_id = %receipt.call_id,
        attempts = int(receipt.attempts.len() as u64),
        cached = receipt.cached,
        tokens = tokens.map(int),
        cost = cost.map(field::display),
        "a call is settled"
    );
}
