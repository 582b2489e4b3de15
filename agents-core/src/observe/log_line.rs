use super::spans::int;
use crate::{
    context::{Node, Root},
    run::{ToolCallMetadata, ToolEnvelope},
};
use tracing::{Level, field};

/// Logs that a call is settled: one line with the target `observed_tool`, for logs and traces.
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
    // Tokens of the models that were asked within the call: by agents in the tool's body, and to repair the call.
    let tokens = node.spent_within(seq);
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
        tokens = int(tokens),
        "a call is settled"
    );
}
