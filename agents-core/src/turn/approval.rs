//! Between stages 3 and 4: somebody is asked whether the call may run, or has been.

use super::{
    Place, guard,
    remembered::{Asked, Told, moment, recalled, when},
};
use crate::{
    Json,
    run::{
        Approval, ApprovalRequest, CallFact, EventKind, Fact, Happened, RunContext, Signed, of_call,
    },
    tool::{SharedTool, ToolContext},
};
use serde::Serialize;
use std::time::Duration;

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
        let request = guard::approval_request(self.brain, tool, args, repairs, context);
        let request = self.cx.masker().data(request);
        self.emit(|| EventKind::ApprovalRequested(request.clone()));
        let (decided, took) = self.approved(tool, self.cx.ask(request)).await;
        self.emit(|| EventKind::ApprovalDecided {
            call_id: context.call_id.clone(),
            approval: decided.approval.clone(),
            by: decided.by.clone(),
        });
        CallFact::Decided { decided, took }
    }

    /// What somebody says, or has said.
    async fn approved(
        &self,
        tool: &SharedTool,
        asked: impl Future<Output = Signed>,
    ) -> (Signed, Duration) {
        let (seq, when) = self.with_call(|call| (call.seq, when(call)));
        let at = format!("{}/approval{when}", self.cx.node.call_path(seq));
        let began = self.cx.now(format_args!("{at}/start"));
        let decided = approved(self.cx, at.clone(), &self.asked(tool), asked).await;
        let took = self.cx.now(format_args!("{at}/end")).since(began);
        (decided, took)
    }
}

/// What somebody says about what is to happen there, or has said.
async fn approved(
    cx: &RunContext,
    at: String,
    what: &impl Serialize,
    asked: impl Future<Output = Signed>,
) -> Signed {
    let Some(tape) = &cx.root.settings.tape else {
        return asked.await;
    };
    let moment = moment(cx, at, what);
    if let Some(Happened::Approved(decided)) = recalled(cx, &**tape, &moment).await {
        return decided;
    }
    let mut told = Told::of(&**tape, moment);
    let decided = asked.await;
    told.tell(Happened::Approved(decided.clone()));
    decided
}

impl RunContext {
    /// Asks whoever decides about what is no call of a model: it is told, and a tape is asked first.
    pub(crate) async fn approve(&self, request: ApprovalRequest) -> Approval {
        if let Some(decided) = self.node.confirmed() {
            return decided.approval;
        }
        let request = self.masker().data(request);
        let call_id = request.call_id.clone();
        let at = format!("{}/approval", self.node.path());
        let (args, tool) = (request.args.clone(), request.tool_name.clone());
        let asked = Asked { args, tool: &tool };
        self.emit(|| EventKind::ApprovalRequested(request.clone()));
        let decided = approved(self, at, &asked, self.ask(request)).await;
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
