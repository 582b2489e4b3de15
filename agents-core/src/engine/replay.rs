//! Replay of a recorded run: results of tools and decisions of people are those that were recorded. A difference ends
//! the run.

use super::call_site::CallSite;
use crate::{
    context::RunContext,
    journal::{Call, CallFact, Dropped, Replay, is_given_again, of_an_execution},
    recovery::Plan,
    run::{ApprovalDecision, ApprovalRequest, Stop},
    tool::{SharedTool, ToolContext},
};
use std::convert::Infallible;

impl CallSite<'_> {
    /// Returns the replay; `None` if the run is no replay, or the replay does not give the results of this tool again.
    pub(super) fn replay_of(&self, tool: &SharedTool) -> Option<&Replay> {
        let replay = self.cx.root.settings.replay.as_deref()?;
        let spec = tool.spec();
        let goes_on = tool.is_part_of_the_run() || self.definition.knowledge(&spec.name).is_some();
        is_given_again(spec.effects, goes_on).then_some(replay)
    }

    /// Ends the call as it was recorded. The tool does not run.
    pub(super) async fn repeat(
        &self,
        replay: &Replay,
        tool: &SharedTool,
        context: &ToolContext,
    ) -> CallFact {
        let call = self.with_call(Call::clone);
        let args = self.cx.masker().json(&call.input());
        let executed = match replay.execution(self.path(), &call, args) {
            Ok(executed) => executed,
            Err(reason) => match self.cx.stop(Stop::Diverged { reason }).await {},
        };
        if executed.has_begun {
            self.begin(tool, context).await;
        }
        if let Some(attached) = executed.attached {
            self.add(CallFact::Attached(attached)).await;
        }
        match executed.end {
            Ok(end) => end,
            Err(dropped) => match self.cx.outwait(replay, dropped).await {},
        }
    }

    /// In a replay, waits until a call in the background may end as it was recorded.
    pub(super) async fn end_in_its_turn(&self) {
        if let Some(replay) = &self.cx.root.settings.replay
            && self.with_call(Call::is_in_background)
        {
            let so_far = || {
                let turns = self.cx.node.frame(|frame| frame.turns);
                (turns, self.cx.open_calls())
            };
            Box::pin(replay.may_end(&self.path(), so_far)).await;
        }
    }

    /// Returns the recorded decision of the arms about an execution that the replay gave again, since the error of such
    /// an execution has lost its type. `None` if the arms have to be asked.
    pub(super) fn recorded_plan(&self, tool: &SharedTool, call: &Call) -> Option<Option<Plan>> {
        let replay = self.replay_of(tool)?;
        match of_an_execution(call) {
            true => replay.plan(&self.path()),
            false => None,
        }
    }

    /// Decides about the call as people did.
    pub(super) async fn decide_again(
        &self,
        replay: &Replay,
        request: &ApprovalRequest,
    ) -> CallFact {
        let decided = self.cx.again(replay, &self.path(), request).await;
        let reason = decided.approval.denial_reason();
        CallFact::Decided {
            decided,
            took: std::time::Duration::ZERO,
            reason,
        }
    }
}

impl RunContext {
    /// In a replay, returns `true` if the agent here has to be told results of calls in the background before this turn.
    pub(super) fn owes_results(&self, turn: u32) -> bool {
        let Some(replay) = &self.root.settings.replay else {
            return false;
        };
        let agent = self.node.path().to_string();
        replay.owes_results(&agent, turn, &self.open_calls())
    }

    /// Returns the paths of the calls of the agent here that have no receipt yet.
    fn open_calls(&self) -> Vec<String> {
        self.node.frame(|frame| {
            let open = frame.under_way().filter(|call| call.receipt.is_none());
            open.map(|call| self.node.call_path(call.seq).to_string())
                .collect()
        })
    }

    /// Decides about an agent that code runs as people did.
    pub(super) async fn confirm_again(
        &self,
        replay: &Replay,
        request: &ApprovalRequest,
    ) -> ApprovalDecision {
        let path = self.node.path().to_string();
        self.again(replay, &path, request).await
    }

    /// Waits until the run drops this work, as the recorded run did. If the work is not dropped in time, the run
    /// differs from the recorded run, and ends.
    async fn outwait(&self, replay: &Replay, dropped: Dropped) -> Infallible {
        tokio::time::sleep(dropped.patience).await;
        let reason = replay.is_kept(dropped);
        self.stop(Stop::Diverged { reason }).await
    }

    async fn again(
        &self,
        replay: &Replay,
        path: &str,
        request: &ApprovalRequest,
    ) -> ApprovalDecision {
        match replay.decision(path, &request.tool_name, &request.args) {
            Ok(Ok(decided)) => decided,
            Ok(Err(dropped)) => match self.outwait(replay, dropped).await {},
            Err(reason) => match self.stop(Stop::Diverged { reason }).await {},
        }
    }
}
