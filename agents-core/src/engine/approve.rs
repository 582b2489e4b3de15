//! Approval: somebody is asked whether the call may run.

use super::{admit, call::Place};
use crate::{
    Json,
    context::{RunContext, Stopwatch},
    journal::{CallFact, Fact, of_call},
    panics::{guarded, guarded_while},
    run::{Approval, ApprovalRequest, EventKind, Signed},
    tool::{SharedTool, ToolContext},
};

impl Place<'_> {
    /// Asks whoever decides; with nobody to ask, the answer is no.
    pub(super) async fn ask(
        &self,
        tool: &SharedTool,
        args: Json,
        context: &ToolContext,
    ) -> CallFact {
        let repairs = self.with_call(|call| of_call(&call.candidates, 0, self.cx.masker()));
        self.add(CallFact::Asked).await;
        self.cx.node.machine().flush();
        let request = admit::approval_request(self.brain, tool, args, repairs, context);
        let request = self.cx.masker().data(request);
        self.emit(|| EventKind::ApprovalRequested(request.clone()));
        let began = self.cx.now();
        let decided = self.cx.ask(request).await;
        let took = self.cx.now().since(began);
        self.emit(|| EventKind::ApprovalDecided {
            call_id: context.call_id.clone(),
            approval: decided.approval.clone(),
            by: decided.by.clone(),
        });
        CallFact::Decided { decided, took }
    }
}

impl RunContext {
    /// Asks whoever decides about what is no call of a model: subscribers are told.
    pub(crate) async fn approve(&self, request: ApprovalRequest) -> Approval {
        if let Some(decided) = self.node.confirmed() {
            return decided.approval;
        }
        let request = self.masker().data(request);
        let call_id = request.call_id.clone();
        self.emit(|| EventKind::ApprovalRequested(request.clone()));
        let decided = self.ask(request).await;
        self.node.add(Fact::Confirmed(decided.clone()));
        let Signed { approval, by } = decided;
        self.emit(|| EventKind::ApprovalDecided {
            call_id: call_id.into(),
            approval: approval.clone(),
            by,
        });
        approval
    }
}

impl RunContext {
    /// Asks whoever decides; with nobody to ask, the answer is no.
    pub(crate) async fn ask(&self, request: ApprovalRequest) -> Signed {
        let Some(approver) = &self.root.settings.approver else {
            return Approval::deny("nobody is there to approve; give the run an `.approver(..)`")
                .into();
        };
        // People may take their time: what is finished by then is stored.
        let _still = self.watch().map(Stopwatch::stand_still);
        let decided = async { guarded_while(guarded(|| approver.decide(request))?).await };
        // No word is no.
        decided.await.unwrap_or_else(|panic: String| {
            Approval::deny(format!("whoever was asked panicked: {panic}")).into()
        })
    }
}
