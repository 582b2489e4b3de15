//! Approval: the approver is asked whether the call may run.

use super::{call_site::CallSite, wording};
use crate::{
    context::{Activity, RunContext, Stopwatch},
    journal::{CallFact, Fact},
    panics::{guarded, guarded_while},
    run::{Approval, ApprovalDecision, ApprovalRequest},
};

impl CallSite<'_> {
    /// Asks the approver about a call, and returns the decision as a fact. Without an approver, the answer is a denial.
    pub(super) async fn ask(&self) -> CallFact {
        self.add(CallFact::Asked).await;
        let (id, masker) = (self.cx.node.id(), self.cx.masker());
        let machine = self.cx.node.machine();
        let request = machine.look(|state| {
            let call = state.call_at(id, self.seq)?;
            state.approval_request(id, call, masker)
        });
        let began = self.cx.now();
        let decided = match request {
            // On the heap: calls that need no approval are not to be as large.
            Some(request) => Box::pin(self.cx.ask(request)).await,
            // The call was closed meanwhile.
            None => std::future::pending().await,
        };
        let took = self.cx.now().since(began);
        let reason = decided.approval.denial_reason();
        CallFact::Decided {
            decided,
            took,
            reason,
        }
    }
}

impl RunContext {
    /// Asks the approver about an action that is no call of a model, such as code that runs an agent. Subscribers are
    /// told of it.
    pub(crate) async fn approve(&self, request: ApprovalRequest) -> Approval {
        if let Some(decided) = self.node.confirmed() {
            return decided.approval;
        }
        let request = self.masker().data(request);
        self.node.add(Fact::Confirming(Box::new(request.clone())));
        let decided = self.ask(request).await;
        self.node.add(Fact::Confirmed(decided.clone()));
        decided.approval
    }
}

impl RunContext {
    /// Asks the approver about a request. Without an approver, the answer is a denial; a run that may end while it
    /// waits for people waits instead.
    pub(crate) async fn ask(&self, request: ApprovalRequest) -> ApprovalDecision {
        let settings = &self.root.settings;
        let activity = settings.activity.as_ref();
        if activity.is_none() && settings.approver.is_none() {
            return Approval::deny(wording::NO_APPROVER).into();
        }
        // Whoever decides does so about what is stored. A run that goes on later asks the same.
        let working = activity.map(Activity::work);
        self.store().await;
        let _waiting = activity.map(|activity| activity.wait(request.clone()));
        drop(working);
        let _still = self.watch().map(Stopwatch::stand_still);
        let Some(approver) = &settings.approver else {
            return std::future::pending().await;
        };
        let decided = async { guarded_while(guarded(|| approver.decide(request))?).await };
        // An approver that panics has not approved.
        decided.await.unwrap_or_else(|panic: String| {
            Approval::deny(wording::approver_panicked(&panic)).into()
        })
    }
}
