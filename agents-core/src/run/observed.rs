use super::{CallState, Cx, EventKind, Node, Timestamp, ToolCallMetadata, ToolEnvelope, Within};
use crate::{
    Json,
    observe::{Kept, What, spans::int},
};
use tracing::{Level, field};

/// Says of a call that it is settled: one line with the target `observed_tool`, for logs and traces.
pub(crate) fn observed(cx: &Cx, seq: u32, receipt: &ToolEnvelope) {
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
    } = ToolCallMetadata::of(receipt, &*cx.node.agent(), cx.root.trace_id());
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
        tokens = int(tokens(cx, seq, receipt)),
        "a call is settled"
    );
}

/// What the models used that were asked within the call: by agents in the tool's body, and to repair it.
fn tokens(cx: &Cx, seq: u32, receipt: &ToolEnvelope) -> u64 {
    let attempts = u32::try_from(receipt.attempts.len()).unwrap_or(u32::MAX);
    (1..=attempts.saturating_add(1))
        .filter_map(|attempt| cx.node.known(Within::Call(seq, attempt)))
        .map(|call| call.spent())
        .sum()
}

impl Node {
    /// The place of a call by name, whatever its attempts.
    pub(crate) fn call_path(&self, seq: u32) -> String {
        format!("{}/call{seq:04}", self.path())
    }
}

impl Cx {
    /// The place, by name: the agent's, or the call's within which this is.
    pub(crate) fn step_place(&self) -> String {
        match self.within {
            Some(Within::Call(seq, _)) => self.node.call_path(seq),
            Some(answer @ Within::Answer(_)) => format!("{}/{answer}", self.node.path()),
            None => self.node.path().to_string(),
        }
    }

    /// The arguments of the call within which this is, as they stand.
    pub(crate) fn arguments(&self) -> Option<Json> {
        let Some(Within::Call(seq, _)) = self.within else {
            return None;
        };
        self.node.with_frame(|frame| {
            let mut calls = frame.calls.iter();
            calls.find(|call| call.seq == seq).map(CallState::input)
        })
    }

    /// The agent that works here begins.
    pub(crate) fn began(&self) -> Timestamp {
        self.emit(|| EventKind::AgentStarted);
        self.now(format_args!("{}/start", self.node.path()))
    }

    /// The agent that works here has ended.
    pub(crate) fn ended(&self, t_start: Timestamp, ok: bool) {
        self.emit(|| EventKind::AgentEnded { ok });
        let t_end = self.now(format_args!("{}/end", self.node.path()));
        self.root.step(Kept {
            worker: self.node.worker(),
            t_start,
            t_end,
            what: What::Agent { ok },
        });
    }
}
