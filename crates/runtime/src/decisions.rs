//! Decisions about the requests of one run, while a worker has it.

use crate::{
    RuntimeError,
    approvals::is_question,
    data::opened,
    doubts::finding_of,
    instructions::instruction_of,
    proofs::{answer_of, check_decision, edited_of},
    run_key::RunKey,
    trail::{CheckedTrail, Recorded},
};
use agents_core::run::{Approval, ApprovalDecision, ApprovalRequest, Approver, Findings, Steering};
use agents_store::{ApprovalStatus, ExecutionFilter, Run, Store, Timestamp};
use futures_util::future::BoxFuture;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
use tokio::sync::Notify;

/// Decisions about the requests of one run that a worker has. As the run's approver, they answer at once if a request
/// is decided. They wait for the decision about any other request.
pub(crate) struct Decisions {
    store: Arc<dyn Store>,
    run: String,
    key: RunKey,
    known: Mutex<Known>,
    changed: Notify,
    /// Findings of people about the run's calls in doubt.
    pub(crate) findings: Findings,
    /// Instructions of people to the agent.
    pub(crate) steering: Steering,
    /// Audit trail of the run: no row counts that it does not tell of.
    trail: tokio::sync::Mutex<CheckedTrail>,
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Known {
    decided: BTreeMap<String, ApprovalDecision>,
    /// Number of messages for the run (decisions, cancellations and the like) when the decisions were read.
    messages: u64,
    /// Time at which the first of the open requests expires; `None` if none is open.
    first_expiry: Option<Timestamp>,
}

impl Decisions {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        run: String,
        key: RunKey,
        trail: CheckedTrail,
    ) -> Arc<Self> {
        Arc::new(Decisions {
            store,
            run,
            key,
            known: Mutex::default(),
            changed: Notify::new(),
            findings: Findings::new(),
            steering: Steering::new(),
            trail: tokio::sync::Mutex::new(trail),
            waiting: AtomicUsize::new(0),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks the row of the run that this worker has claimed, and that its journal and its audit trail tell of the same.
    pub(crate) async fn check_claim(
        &self,
        run: &Run,
        recorded: &Recorded,
    ) -> Result<(), RuntimeError> {
        let mut trail = self.trail.lock().await;
        trail.check_claim(&*self.store, run.clone(), recorded).await
    }

    /// Reads the decisions about the run's requests from the store. `messages` is the number of messages for the run
    /// before that. A decision or an instruction that the audit trail does not tell of is an error.
    pub(crate) async fn read(&self, messages: u64) -> Result<(), RuntimeError> {
        let mut known = Known {
            messages,
            ..Known::default()
        };
        let mut trail = self.trail.lock().await;
        for one in trail.requests(&*self.store).await? {
            if one.status == ApprovalStatus::Pending {
                let first = known.first_expiry.get_or_insert(one.expires_at);
                *first = one.expires_at.min(*first);
            }
            if let Some(decided) = self.decided(&one)? {
                known.decided.insert(one.request, decided);
            }
        }
        // Without a message, nobody has said anything.
        if messages > 0 {
            self.read_findings().await?;
            trail.read(&*self.store).await?;
        }
        // The run itself knows which of them the agent was told before.
        for event in trail.take_instructions() {
            self.steering.say(instruction_of(&event, &self.key)?);
        }
        drop(trail);
        *self.known() = known;
        self.changed.notify_waiters();
        Ok(())
    }

    async fn read_findings(&self) -> Result<(), RuntimeError> {
        let mut filter = ExecutionFilter {
            run: Some(self.run.clone()),
            settled: true,
            ..ExecutionFilter::default()
        };
        loop {
            let page = self.store.executions(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            filter.after = Some(last.id.clone());
            for one in &page {
                if let Some((call, finding)) = finding_of(one, &self.key)? {
                    self.findings.add(call, finding);
                }
            }
        }
    }

    fn decided(
        &self,
        one: &agents_store::Approval,
    ) -> Result<Option<ApprovalDecision>, RuntimeError> {
        let note = one.note.clone().unwrap_or_default();
        match one.status {
            ApprovalStatus::Pending | ApprovalStatus::Cancelled => return Ok(None),
            ApprovalStatus::Expired => {
                let reason = crate::wording::expired(one.decided_by.is_some()).to_owned();
                return Ok(Some(Approval::Expired { reason }.into()));
            }
            _ => {}
        }
        let at_most = check_decision(one, &self.key)?;
        let approval = match one.status {
            ApprovalStatus::Approved | ApprovalStatus::Consumed => match &one.edited {
                None => Approval::Approve,
                Some(answer) if is_question(one) => Approval::Answer {
                    answer: opened(&self.key, &answer_of(&one.request), answer)?,
                },
                Some(edited) => Approval::ApproveWith {
                    args: opened(&self.key, &edited_of(&one.request), edited)?,
                },
            },
            ApprovalStatus::RevisionRequested => Approval::Revise { note },
            _ => Approval::deny(note),
        };
        let decided = match &one.decided_by {
            Some(by) => approval.by(by),
            None => approval.into(),
        };
        Ok(Some(match at_most {
            Some(most) => decided.at_most(most),
            None => decided,
        }))
    }

    /// Returns the number of messages for the run when the decisions were read, by which new ones are noticed.
    pub(crate) fn messages(&self) -> u64 {
        self.known().messages
    }

    /// Returns the time at which the first of the open requests expires; `None` if none is open.
    pub(crate) fn first_expiry(&self) -> Option<Timestamp> {
        self.known().first_expiry
    }

    /// Returns `true` if at least one of these requests is decided or has expired.
    pub(crate) fn has_any(&self, requests: &[String]) -> bool {
        let known = self.known();
        requests
            .iter()
            .any(|request| known.decided.contains_key(request))
    }

    /// Returns `true` while the run waits for a decision.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.waiting.load(SeqCst) > 0
    }
}

/// Approver of a run, which answers with the stored decisions.
pub(crate) struct StoredDecisions(pub(crate) Arc<Decisions>);

impl Approver for StoredDecisions {
    fn keeps_time(&self) -> bool {
        true
    }

    fn decide(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalDecision> {
        let decisions = self.0.clone();
        Box::pin(async move {
            let _waits = Waits::count(&decisions);
            loop {
                let changed = decisions.changed.notified();
                let decided = decisions.known().decided.get(&request.id).cloned();
                match decided {
                    Some(decided) => return decided,
                    None => changed.await,
                }
            }
        })
    }
}

/// Guard of an approver that waits for a decision. Until it is dropped, [`is_waited_for`](Decisions::is_waited_for)
/// returns `true`, and the worker looks for decisions more often.
struct Waits(Arc<Decisions>);

impl Waits {
    fn count(decisions: &Arc<Decisions>) -> Self {
        decisions.waiting.fetch_add(1, SeqCst);
        Waits(decisions.clone())
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, SeqCst);
    }
}
