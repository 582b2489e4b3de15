//! Approval: the approver is asked whether the call may run.

use super::{call_site::CallSite, wording};
use crate::{
    context::{Activity, RunContext},
    journal::{CallFact, Fact},
    panics::{guarded, guarded_while},
    run::{Approval, ApprovalDecision, ApprovalRequest},
    shared::Shared,
};
use std::time::Duration;

impl CallSite<'_> {
    /// Asks the approver about a call, and returns the decision as a fact.
    pub(super) async fn ask(&self) -> CallFact {
        self.add(CallFact::Asked).await;
        let (id, masker) = (self.cx.node.id(), self.cx.masker());
        let machine = self.cx.node.machine();
        let asked = machine.look(|state| {
            let call = state.call_at(id, self.seq)?;
            Some((state.approval_request(id, call, masker)?, call.asked_at()))
        });
        if let (Some(replay), Some((request, _))) = (&self.cx.root.settings.replay, &asked) {
            return Box::pin(self.decide_again(replay, request)).await;
        }
        let began = self.cx.now();
        let decided = match asked {
            // On the heap: calls that need no approval are not to be as large.
            Some((request, asked)) => {
                let passed = asked.map(|asked| began.since(asked)).unwrap_or_default();
                Box::pin(self.cx.ask(request, passed)).await
            }
            // The call is no longer under way.
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
        let request = self.masker().mask(request);
        self.node.add(Fact::Confirming(Box::new(request.clone())));
        let decided = match &self.root.settings.replay {
            Some(replay) => Box::pin(self.confirm_again(replay, &request)).await,
            None => self.ask(request, Duration::ZERO).await,
        };
        self.node.add(Fact::Confirmed(decided.clone()));
        decided.approval
    }
}

impl RunContext {
    /// Asks the approver. Without an approver, the request is denied, and a question to the user expires; a run that
    /// may be put down while it waits for people waits instead. A question also expires if its time to answer is over,
    /// unless the approver keeps that time itself; `passed` is the time since the question was first asked.
    pub(crate) async fn ask(&self, request: ApprovalRequest, passed: Duration) -> ApprovalDecision {
        let settings = &self.root.settings;
        let activity = settings.activity.as_ref();
        let question = request.question.as_ref();
        if activity.is_none() && settings.approver.is_none() {
            let reason = wording::NO_APPROVER.to_owned();
            return match question {
                Some(_) => Approval::Expired { reason }.into(),
                None => Approval::deny(reason).into(),
            };
        }
        let keeps_time = settings
            .approver
            .as_ref()
            .is_some_and(|approver| approver.keeps_time());
        let within = question.and_then(|question| question.form.within);
        let left = within
            .filter(|_| !keeps_time)
            .map(|within| within.saturating_sub(passed));
        // Whoever decides does so about what is stored. A run that goes on later asks the same.
        let working = activity.map(Activity::work);
        self.store().await;
        let _waiting = activity.map(|activity| activity.wait(request.clone()));
        drop(working);
        let _still = self.watch().map(Shared::stand_still);
        let decided = async {
            let Some(approver) = &settings.approver else {
                return std::future::pending().await;
            };
            guarded_while(guarded(|| approver.decide(request))?).await
        };
        let expired = async {
            match left {
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            // An approver that panics has not approved.
            decided = decided => decided.unwrap_or_else(|panic: String| {
                Approval::deny(wording::approver_panicked(&panic)).into()
            }),
            () = expired => {
                let reason = wording::NOT_IN_TIME.to_owned();
                Approval::Expired { reason }.into()
            }
        }
    }
}
