use super::spans::int;
use crate::run::{Node, Root, ToolCallMetadata, ToolEnvelope, Within};
use tracing::{Level, field};

/// Says of a call that it is settled: one line with the target `observed_tool`, for logs and traces.
pub(crate) fn settled(node: &Node, root: &Root, seq: u32, receipt: &ToolEnvelope) {
    if !tracing::enabled!(target: "observed_tool", Level::INFO) {
        return;
    }
    let ToolCallMetadata {
        tool_name,
        agent_name,
        latency_ms,
        ok,
        error_class,
        trace_id,
        started_at,
        ended_at,
    } = ToolCallMetadata::of(receipt, &*node.agent(), root.trace_id());
    tracing::info!(
        target: "observed_tool",
        tool_name,
        agent_name,
        latency_ms = int(latency_ms),
        ok,
        error_class = error_class.map(field::display),
        trace_id,
        %started_at,
        %ended_at,
        call_id = %receipt.call_id,
        attempts = int(receipt.attempts.len() as u64),
        cached = receipt.cached,
        tokens = int(tokens(node, seq, receipt)),
        "a call is settled"
    );
}

/// What the models used that were asked within the call: by agents in the tool's body, and to repair it.
fn tokens(node: &Node, seq: u32, receipt: &ToolEnvelope) -> u64 {
    let attempts = u32::try_from(receipt.attempts.len()).unwrap_or(u32::MAX);
    (1..=attempts.saturating_add(1))
        .filter_map(|attempt| node.known(Within::Call(seq, attempt)))
        .map(|call| call.spent())
        .sum()
}
