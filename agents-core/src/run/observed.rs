use super::{Cx, Node, ToolEnvelope};
use crate::observe::spans::int;

/// Says of a call that it is settled: one line with the target `observed_tool`, for logs and traces.
pub(crate) fn observed(cx: &Cx, seq: u32, receipt: &ToolEnvelope) {
    tracing::info!(
        target: "observed_tool",
        tool_name = %receipt.name,
        agent_name = %cx.node.agent(),
        latency_ms = i64::try_from(receipt.duration().as_millis()).unwrap_or(i64::MAX),
        ok = receipt.is_ok(),
        error_class = receipt.error.as_ref().map(|error| tracing::field::display(error.class)),
        trace_id = %cx.root.trace_id(),
        started_at = %receipt.t_start,
        ended_at = %receipt.t_end,
        call_id = %receipt.call_id,
        attempts = int(receipt.attempts.len() as u64),
        cached = receipt.cached,
        tokens = int(tokens(cx, seq, receipt)),
        "a call is settled"
    );
}

/// What the models used that were asked within the call: by agents in the tool's body, and to repair it.
fn tokens(cx: &Cx, seq: u32, receipt: &ToolEnvelope) -> u64 {
    let attempts = u32::try_from(receipt.attempts.len()).unwrap_or(u32::MAX);
    (1..=attempts.saturating_add(1))
        .filter_map(|attempt| cx.node.known_call(seq, attempt))
        .map(|call| call.spent())
        .sum()
}

impl Node {
    /// The place of a call by name, whatever its attempts.
    pub(crate) fn call_path(&self, seq: u32) -> String {
        format!("{}/call{seq:04}", self.path())
    }
}
