//! The journal of a run in a store, under the lease of its worker.

use crate::{
    RuntimeError,
    approvals::{RequestDetail, USE_WITHIN},
    audit::reason,
    data::{sealed, sealed_entries},
    decisions::Decisions,
    error::RuntimeErrorKind,
    ids::{approval_of, execution_of},
    lease::Held,
    metrics::count,
    modes::ModeInEffect,
    proofs::{detail_of, proof_of_mode},
    run_key::RunKey,
    summary::{masked, summary},
    texts::Texts,
    trail::{CheckedTrail, Recorded},
};
use agents_core::{
    async_trait,
    journal::{Asked, Began, CallStep, Ended, Entry, Follower, Journal, JournalError},
    run::{ApprovalReason, ApprovalRequest},
    tool::Effects,
};
use agents_store::{
    AuditKey, AuditKind, Begin, ByMode, Commit, Finish, NewApproval, NewEvent, Store, StoreError,
    Timestamp,
};
use std::{
    collections::{BTreeSet, HashMap},
    future::pending,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;
use uuid::Uuid;

/// Journal of a run in a store. A commit stores the entries together with the rows that follow from them.
pub(crate) struct StoredJournal {
    store: Arc<dyn Store>,
    held: Arc<Held>,
    key: RunKey,
    user: Option<String>,
    expires_after: Duration,
    /// Sender of streamed text; `None` if the run is not streamed.
    texts: Option<Arc<Texts>>,
    audit_key: AuditKey,
    /// Audit trail of the platform, which tells of the modes.
    platform: Arc<tokio::sync::Mutex<CheckedTrail>>,
    decisions: Arc<Decisions>,
    inner: Mutex<Inner>,
    /// Signal that executions of tools that write have ended, for whoever waits to give the run back.
    rests: Notify,
}

/// Data of a run that its journal needs besides the entries.
pub(crate) struct ForRun {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) held: Arc<Held>,
    pub(crate) key: RunKey,
    /// User whom the run works for; `None` if it works for no particular one.
    pub(crate) user: Option<String>,
    /// Time after which a request for approval expires if nobody has decided.
    pub(crate) expires_after: Duration,
    pub(crate) audit_key: AuditKey,
    pub(crate) platform: Arc<tokio::sync::Mutex<CheckedTrail>>,
    pub(crate) decisions: Arc<Decisions>,
}

#[derive(Default)]
struct Inner {
    follower: Follower,
    entries: Vec<Entry>,
    /// Executions of tools that only read, which have begun and not ended, with the times of their begins. Their rows are
    /// stored when they end.
    reading: HashMap<String, (Begin, Timestamp)>,
    /// Reason why nothing more is stored; `None` while the journal works.
    failed: Option<StoreError>,
    is_finished: bool,
    /// Is `true` if the run is to be put down: to stop in this process and go on later.
    is_put_down: bool,
    /// Ids of the executions of tools that write, and of approved calls, that go on in this process. A delegate counts
    /// only if its call was approved.
    under_way: BTreeSet<String>,
}

/// Commit that is to be stored, with what else follows from its entries.
#[derive(Default)]
struct Prepared {
    commit: Commit,
    /// Requests for approval that the commit makes.
    requests: Vec<ApprovalRequest>,
    /// Ids of the executions that begin with the commit and have to end before the run is put down.
    effects: Vec<String>,
}

impl StoredJournal {
    /// Creates the journal of a run that this worker has claimed, with the entries that it has.
    /// Returns it with what the entries record of requests and executions.
    pub(crate) fn new(
        for_run: ForRun,
        entries: Vec<Entry>,
    ) -> Result<(Self, Recorded), RuntimeError> {
        let ForRun {
            store,
            held,
            key,
            user,
            expires_after,
            audit_key,
            platform,
            decisions,
        } = for_run;
        let journal = StoredJournal {
            store,
            held,
            key,
            user,
            expires_after,
            texts: None,
            audit_key,
            platform,
            decisions,
            inner: Mutex::default(),
            rests: Notify::new(),
        };
        let (mut inner, mut recorded) = (Inner::default(), Recorded::default());
        for entry in &entries {
            let step = inner.follower.on(entry).map_err(RuntimeError::unreadable)?;
            recorded.on(&journal.held.lease.run.id, entry, &step);
            inner.is_finished |= ends(entry);
            match step.step {
                Some(CallStep::Began(began)) if only_reads(&began) => {
                    let begin = journal.began(&began)?;
                    inner.reading.insert(begin.id.clone(), (begin, entry.at()));
                }
                Some(CallStep::Ended(ended)) => {
                    let id = journal.execution(&ended.request, ended.attempt);
                    inner.reading.remove(&id);
                }
                _ => {}
            }
        }
        inner.entries = entries;
        *journal.inner() = inner;
        Ok((journal, recorded))
    }

    /// Sets the sender whose streamed text is stored together with the entries that follow it.
    pub(crate) fn with_texts(mut self, texts: Option<Arc<Texts>>) -> Self {
        self.texts = texts;
        self
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reason why nothing more is stored; `None` while the journal works.
    pub(crate) fn failed(&self) -> Option<StoreError> {
        self.inner().failed.clone()
    }

    /// Returns `true` if the run has begun: it has entries.
    pub(crate) fn has_begun(&self) -> bool {
        !self.inner().entries.is_empty()
    }

    /// Returns `true` if the end of the run is stored.
    pub(crate) fn is_finished(&self) -> bool {
        self.inner().is_finished
    }

    /// Waits until the run can be put down, because no tool that writes is running. From then on, no such tool begins.
    /// A delegate is no such tool, unless its call was approved. While one of them runs, the run itself begins no other
    /// one, except within it: see `Run::no_effects_after`.
    pub(crate) async fn put_down(&self) {
        loop {
            let rests = self.rests.notified();
            {
                let mut inner = self.inner();
                inner.is_put_down = true;
                if inner.under_way.is_empty() {
                    return;
                }
            }
            rests.await;
        }
    }

    /// Counts the executions of tools that write which begin with a commit: the run is not put down while they go on.
    /// Returns `false`, and counts none, if the run is being put down and no other such execution goes on. The
    /// executions may not begin then.
    fn begins(&self, prepared: &Prepared) -> bool {
        let mut inner = self.inner();
        let ended = &prepared.commit.ended;
        let has_ended = |id: &str| ended.iter().any(|finish| finish.id == id);
        let mut began = prepared
            .effects
            .iter()
            .filter(|id| !has_ended(id))
            .peekable();
        if began.peek().is_none() {
            return true;
        }
        if inner.is_put_down && inner.under_way.is_empty() {
            return false;
        }
        inner.under_way.extend(began.cloned());
        true
    }

    /// Takes the executions that a commit has ended, or was to end, from those that go on.
    fn ends(&self, commit: &Commit) {
        let mut inner = self.inner();
        for finish in &commit.ended {
            inner.under_way.remove(&finish.id);
        }
        drop(inner);
        self.rests.notify_waiters();
    }

    /// Prepares the commit that stores these entries with the rows that follow from them.
    fn prepare(&self, entries: &[Entry]) -> Result<Prepared, JournalError> {
        let failed = |error: RuntimeError| JournalError::new(error.to_string());
        let mut inner = self.inner();
        if let Some(error) = &inner.failed {
            return Err(JournalError::new(error.to_string()));
        }
        let after = inner.follower.seq();
        Entry::follows(after, entries)?;
        let mut commit = Commit {
            id: Uuid::now_v7().to_string(),
            after,
            last: entries.last().map_or(after, Entry::seq),
            entries: sealed_entries(&self.key, after, entries).map_err(failed)?,
            ..Commit::default()
        };
        let (mut requests, mut effects) = (Vec::new(), Vec::new());
        for entry in entries {
            let followed = inner.follower.on(entry)?;
            if let Some(texts) = &self.texts {
                for event in &followed.events {
                    texts.stores(event, entry.seq());
                }
            }
            match followed.step {
                Some(CallStep::Asked(mut asked)) => {
                    self.name_executions(&mut asked.request);
                    commit.asked.push(self.asked(&asked).map_err(failed)?);
                    requests.push(asked.request);
                }
                Some(CallStep::Began(began)) => {
                    let begin = self.began(&began).map_err(failed)?;
                    if has_effect(&began) {
                        effects.push(begin.id.clone());
                    }
                    match only_reads(&began) {
                        true => {
                            let reading = (begin.clone(), entry.at());
                            inner.reading.insert(begin.id, reading);
                        }
                        false => commit.began.push(begin),
                    }
                }
                Some(CallStep::Ended(ended)) => {
                    let id = self.execution(&ended.request, ended.attempt);
                    let read = inner.reading.remove(&id);
                    let mut finish = self.ended(id, &ended, read.is_some()).map_err(failed)?;
                    if let Some((begin, at)) = read {
                        finish.took = entry.at().since(at);
                        commit.began.push(begin);
                    }
                    commit.ended.push(finish);
                }
                _ => {}
            }
        }
        if let Some(texts) = &self.texts {
            commit.texts = texts.take().map_err(failed)?;
        }
        Ok(Prepared {
            commit,
            requests,
            effects,
        })
    }

    /// Replaces the ids of earlier executions in a request by the ids of their rows.
    fn name_executions(&self, request: &mut ApprovalRequest) {
        for reason in &mut request.reasons {
            if let ApprovalReason::Repeated(earlier) = reason {
                earlier.id = self.execution(&earlier.request, earlier.attempt);
            }
        }
    }

    /// Lets the mode in effect approve the requests of a commit that need no person. Returns an error, and approves
    /// nothing, if the mode was written by hand or cannot be read.
    async fn decide_by_mode(
        &self,
        commit: &mut Commit,
        requests: &[ApprovalRequest],
    ) -> Result<(), RuntimeError> {
        if requests.is_empty() {
            return Ok(());
        }
        let tenant = &self.held.lease.run.tenant;
        let mode = ModeInEffect::of(&*self.store, &self.audit_key, &self.platform, tenant).await?;
        let Some(mode) = mode else { return Ok(()) };
        for (asked, request) in commit.asked.iter_mut().zip(requests) {
            if let Some(by) = mode.skips(request) {
                asked.by_mode = Some(ByMode {
                    seq: mode.seq(),
                    proof: proof_of_mode(&self.key, asked, &by)?,
                    use_within: USE_WITHIN,
                    by,
                });
            }
        }
        Ok(())
    }

    fn asked(&self, asked: &Asked) -> Result<NewApproval, RuntimeError> {
        let request = &asked.request;
        let detail = RequestDetail::from(asked);
        let effect = request.effect_description.clone();
        let question = request.question.as_ref();
        let within = question.and_then(|question| question.form.within);
        Ok(NewApproval {
            id: approval_of(&self.held.lease.run.id, &request.id),
            request: request.id.clone(),
            place: asked.place.clone(),
            agent_name: request.agent_name.clone(),
            tool_name: request.tool_name.clone(),
            version: request.tool_version.clone(),
            args_summary: summary(&request.args),
            effect_description: effect.map_or_else(
                || crate::wording::effect(&request.tool_name, request.effects),
                |effect| masked(&effect),
            ),
            risk_level: request.risk,
            user_id: self.user.clone(),
            args_digest: asked.args_digest.clone(),
            expires_after: within.unwrap_or(self.expires_after),
            reasons: Some(
                serde_json::to_string(&in_clear(&request.reasons))
                    .map_err(RuntimeError::unreadable)?,
            ),
            follows: request.follows.clone(),
            by_mode: None,
            detail: sealed(&self.key, &detail_of(&request.id), &detail)?,
        })
    }

    fn began(&self, began: &Began) -> Result<Begin, RuntimeError> {
        let id = self.execution(&began.request, began.attempt);
        let input = match only_reads(began) {
            true => Vec::new(),
            false => sealed(&self.key, &format!("input of {id}"), &began.args)?,
        };
        Ok(Begin {
            input,
            id,
            call_id: began.call_id.clone(),
            attempt: began.attempt,
            agent_name: began.agent.clone(),
            tool_name: began.tool.clone(),
            version: began.version.clone(),
            args_digest: began.args_digest.clone(),
            risk_level: began.risk,
            needs: began.approved.then(|| began.request.clone()),
        })
    }

    fn ended(&self, id: String, ended: &Ended, reads: bool) -> Result<Finish, RuntimeError> {
        let output = ended.result.as_ref().ok();
        let output = output.map(|output| match reads {
            true => Ok(Vec::new()),
            false => sealed(&self.key, &format!("output of {id}"), output),
        });
        Ok(Finish {
            output: output.transpose()?,
            error: ended
                .result
                .as_ref()
                .err()
                .map(|error| masked(&error.message)),
            effect_unknown: ended.effect_unknown,
            took: Duration::ZERO,
            id,
        })
    }

    /// Returns the id of an execution of this run: see [`execution_of`].
    fn execution(&self, request: &str, attempt: u32) -> String {
        execution_of(&self.held.lease.run.id, request, attempt)
    }

    /// Stores a commit; tries again while the store cannot be reached and the lease lasts.
    async fn store(&self, commit: &Commit) -> Result<(), StoreError> {
        let mut pause = Duration::from_millis(20);
        loop {
            let stored = self.store.commit(&self.held.lease, commit).await;
            let counters = &self.held.counters;
            count(match stored {
                Ok(()) => &counters.steps,
                Err(_) => &counters.steps_failed,
            });
            match stored {
                Err(error) if error.may_pass() && self.held.holds() => {
                    tracing::warn!(run = %self.held.lease.run.id, %error, "a step is stored again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
                stored => return stored,
            }
        }
    }
}

impl StoredJournal {
    /// Adds to the audit trail that the store did not allow an execution.
    async fn refused(&self, commit: &Commit, error: &StoreError) {
        if error.kind() != agents_store::ErrorKind::NotApproved {
            return;
        }
        let mut began = commit.began.iter();
        let approved = began.clone().find(|begin| begin.needs.is_some());
        if let Some(begin) = approved.or_else(|| began.next()) {
            let why = error.to_string();
            self.record_refusal(&begin.id, &begin.tool_name, &why).await;
        }
    }

    /// Adds to the audit trail that a mode was written by hand, and so decides nothing.
    async fn forged(&self, commit: &Commit, error: &RuntimeError) {
        tracing::error!(run = self.held.lease.run.id, %error, "a person is asked whatever the mode is");
        if error.kind() == RuntimeErrorKind::Sealed
            && let Some(asked) = commit.asked.first()
        {
            let why = error.to_string();
            self.record_refusal(&asked.id, &asked.tool_name, &why).await;
        }
    }

    async fn record_refusal(&self, subject: &str, tool: &str, why: &str) {
        let event = NewEvent {
            run: self.held.lease.run.id.clone(),
            tenant: None,
            kind: AuditKind::Refused,
            actor: None,
            subject: Some(subject.to_owned()),
            tool_name: Some(tool.to_owned()),
            detail: reason(&self.key, why),
        };
        if let Err(error) = self.store.record(&event).await {
            tracing::error!(run = event.run, refused = why, %error, "a refusal is not in the audit trail");
        }
    }
}

/// Returns `true` if an execution changes nothing and needs no approval. Nothing has to be known of it before it ends, and
/// its arguments and its output are in the journal alone.
fn only_reads(began: &Began) -> bool {
    began.effects != Effects::Writes && !began.approved
}

/// Returns `true` if an execution has to end before its run is put down: the tool writes and is no delegate, or the call
/// was approved. The calls of a delegate count for themselves.
fn has_effect(began: &Began) -> bool {
    began.key.is_some() || began.approved
}

/// Returns `true` if the entry is the end of the run.
fn ends(entry: &Entry) -> bool {
    entry.kind() == "finished" && entry.is_of_the_outermost_run()
}

#[async_trait]
impl Journal for StoredJournal {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        Ok(self.inner().entries.clone())
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        let prepared = self.prepare(entries)?;
        if !self.begins(&prepared) {
            // The run is dropped now, and these entries with it.
            return pending().await;
        }
        let Prepared {
            mut commit,
            requests,
            ..
        } = prepared;
        let by_mode = self.decide_by_mode(&mut commit, &requests).await;
        let stored = self.store(&commit).await;
        if let (Some(texts), Ok(())) = (&self.texts, &stored) {
            texts.sent(&commit.texts);
        }
        self.ends(&commit);
        match (&stored, by_mode) {
            (Err(error), _) => self.refused(&commit, error).await,
            // Without its mode, a person is asked.
            (Ok(()), Err(error)) => self.forged(&commit, &error).await,
            (Ok(()), Ok(())) if commit.asked.iter().any(|asked| asked.by_mode.is_some()) => {
                let messages = self.decisions.messages();
                if let Err(error) = self.decisions.read(messages).await {
                    tracing::warn!(%error, "the decisions of a mode are read later");
                }
            }
            (Ok(()), Ok(())) => {}
        }
        let mut inner = self.inner();
        if let Err(error) = stored {
            let why = JournalError::new(error.to_string());
            inner.failed = Some(error);
            return Err(why);
        }
        inner.is_finished |= entries.iter().any(ends);
        // An effect that begins now could overlap with one of the next worker.
        if commit.began.is_empty() || self.held.holds() {
            return Ok(());
        }
        // There is nothing wrong with the run: it is given back, and goes on under another lease.
        let why = crate::wording::lease_about_to_end();
        let failed = StoreError::new(agents_store::ErrorKind::Unavailable, why);
        inner.failed = Some(failed);
        Err(JournalError::new(why))
    }
}

/// Returns the reasons of a request without what people have said, which is encrypted with the exact request.
fn in_clear(reasons: &[ApprovalReason]) -> Vec<ApprovalReason> {
    let mut reasons = reasons.to_vec();
    for reason in &mut reasons {
        if let ApprovalReason::DeniedBefore(denial) = reason {
            denial.by = None;
            denial.reason.clear();
        }
    }
    reasons
}
