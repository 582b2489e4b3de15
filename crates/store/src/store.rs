//! The trait of all stores.

use crate::{
    Approval, ApprovalFilter, AuditEvent, AuditFilter, AuditKey, Claim, Commit, Committed,
    Conversation, Decision, Delivery, DeliveryClaim, DeliveryEnd, DeliveryFilter, Execution,
    ExecutionFilter, Lease, Letter, LetterClaim, LetterEnd, LetterFilter, ModeChange, NewEvent,
    NewManifest, NewNotification, NewRun, NewText, NewTriage, Platform, Renewed, Replay, Rest, Run,
    RunFilter, Settle, StoreError, StoreMetrics, StoredManifest, Subscription, Text, Triage,
};
use agents_core::run::Timestamp;
use async_trait::async_trait;
use std::{path::PathBuf, sync::Arc, time::Duration};

/// Store of durable runs: see the [crate's page](crate) for what it promises. `agents_store::conformance` checks a store
/// of your own.
///
/// ```
/// use agents_store::{Claim, Commit, End, ErrorKind, NewRun, Rest, RunStatus, SqliteStore, Store};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// store.create(&NewRun { id: "1".into(), agent: "payer".into(), ..NewRun::default() }).await?;
///
/// // A worker takes the run for 30 seconds, stores a step of one entry, and says that the run is over.
/// let claim = Claim {
///     worker: "worker-1".into(),
///     agents: vec!["payer".into()],
///     run: None,
///     time: Duration::from_secs(30),
///     per_tenant: 0,
///     most_claims: 5,
///     alone: true,
/// };
/// let lease = store.claim(&claim).await?.expect("a run is ready");
/// let step = Commit { id: "a".into(), after: 0, last: 1, entries: b"{}".to_vec(), ..Commit::default() };
/// store.commit(&lease, &step).await?;
/// store.release(&lease, &Rest::done(End::Answered)).await?;
/// assert_eq!(store.run("1").await?.map(|run| run.status), Some(RunStatus::Done));
///
/// // The lease ended with the release.
/// let late = store.commit(&lease, &step).await.unwrap_err();
/// assert_eq!(late.kind(), ErrorKind::LeaseLost);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A method fails with [`Unavailable`](crate::ErrorKind::Unavailable) if the store cannot be reached or is too busy,
/// and with [`Failed`](crate::ErrorKind::Failed) if it cannot be read or written for another reason. A method that
/// fails with other kinds as well names them.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    label = "expected a store",
    note = "a store in one file: `SqliteStore::open(\"agents.db\").await?`; in memory: `SqliteStore::in_memory().await?`"
)]
pub trait Store: Send + Sync + 'static {
    /// Returns the path of a file for the keys of the contents, beside the store; `None`, the default, if the keys
    /// belong elsewhere.
    fn keys_beside(&self) -> Option<PathBuf> {
        None
    }

    /// Returns `true` if the contents are gone with the process, so that their keys may be as well; `false` by default.
    fn is_in_memory(&self) -> bool {
        false
    }

    /// Sets the key with which this process makes the digests of the audit trail. A store belongs to the first key that
    /// it was given. If the store is written to before that, it belongs to a key of zeros; writes of a
    /// [`ControlStore`](crate::ControlStore) do not count.
    ///
    /// # Errors
    /// With [`OtherKey`](crate::ErrorKind::OtherKey) if the store belongs to another key.
    async fn audit_with(&self, key: &AuditKey) -> Result<(), StoreError>;

    /// Returns the time by the clock of the store, which all of its times go by.
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// Stores a run that is ready, and returns it. If the tenant has a run of the agent with the same key, that run is
    /// returned, and nothing is stored. A conversation is created with its first run, and belongs to the agent of that
    /// run.
    ///
    /// # Errors
    /// With [`OtherAgent`](crate::ErrorKind::OtherAgent) if the conversation belongs to another agent.
    async fn create(&self, run: &NewRun) -> Result<Run, StoreError>;

    /// Returns the run with this id; `None` if there is no such run.
    async fn run(&self, id: &str) -> Result<Option<Run>, StoreError>;

    /// Returns runs, the newest first, or the oldest first if the filter says so.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if the run of [`RunFilter::before`] or [`RunFilter::after`] is not
    /// there.
    async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, StoreError>;

    /// Gives a worker a run that can go on; returns `None` if the worker can claim no run.
    ///
    /// A run can go on if it is ready, if its time to wait is over, or if its lease has ended. A run that was claimed
    /// too often without a new entry, or that is paused, is held instead. A run of a conversation is claimed when all
    /// earlier runs of that conversation are over.
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError>;

    /// Renews a lease for this time from now.
    ///
    /// # Errors
    /// With [`LeaseLost`](crate::ErrorKind::LeaseLost) if another worker has the run by now, or the run was given back
    /// or held.
    async fn renew(&self, lease: &Lease, time: Duration) -> Result<Renewed, StoreError>;

    /// Stores a commit, whole or not at all.
    ///
    /// # Errors
    /// With [`LeaseLost`](crate::ErrorKind::LeaseLost) if another worker has the run by now, or the run was given back
    /// or held. With [`Conflict`](crate::ErrorKind::Conflict) if the journal does not end with the entry before the
    /// commit. With [`NotApproved`](crate::ErrorKind::NotApproved) if an execution that begins needs an approval, and
    /// there is none for these arguments that may still be used. With [`NotFound`](crate::ErrorKind::NotFound) if an
    /// execution that ends has never begun.
    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError>;

    /// Gives a run back. A paused run that could go on or wait is held. A run that would wait is ready if it has got
    /// messages that its worker has not seen. If the run is over, its requests that nobody has decided, and its
    /// approvals that were not used, are cancelled.
    ///
    /// # Errors
    /// With [`LeaseLost`](crate::ErrorKind::LeaseLost) if another worker has the run by now, or the run was given back
    /// or held. With [`NotFound`](crate::ErrorKind::NotFound) if the worker gives back messages of a conversation for a
    /// run that belongs to none.
    async fn release(&self, lease: &Lease, rest: &Rest) -> Result<(), StoreError>;

    /// Returns the commits of a run that have an entry with a greater number than `after`, in order.
    async fn commits(&self, run: &str, after: u64) -> Result<Vec<Committed>, StoreError>;

    /// Returns the conversation of a tenant with this id; `None` if there is no such conversation.
    async fn conversation(
        &self,
        tenant: &str,
        id: &str,
    ) -> Result<Option<Conversation>, StoreError>;

    /// Stores streamed text of a run, for the worker that has the lease. In passing, rows whose time is over are
    /// removed, whichever run they belong to; a store may limit how many at once.
    ///
    /// # Errors
    /// With [`LeaseLost`](crate::ErrorKind::LeaseLost) if another worker has the run by now, or the run was given back
    /// or held.
    async fn add_texts(&self, lease: &Lease, texts: &[NewText]) -> Result<(), StoreError>;

    /// Returns the streamed text of a run, in order, from the rows with greater numbers than `after`. Rows whose time
    /// is over are missing.
    async fn texts(&self, run: &str, after: u64) -> Result<Vec<Text>, StoreError>;

    /// Cancels a run, and returns it. A run that waits or is held is ready then, so that a worker ends it; a pause
    /// ends. A run that is over stays as it is.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such run.
    async fn cancel(&self, run: &str, by: &str) -> Result<Run, StoreError>;

    /// Pauses a run that is not over, and returns it. A run that no worker has is held immediately. A run under way is
    /// held when its worker gives it back, unless it is over then. A run that is held or paused already stays as it is.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such run, and with [`Over`](crate::ErrorKind::Over)
    /// if the run is over.
    async fn pause(&self, run: &str, by: &str) -> Result<Run, StoreError>;

    /// Stores an instruction of a person to the agent of a run that is not over, and returns the run. The instruction is an
    /// event of the audit trail ([`Instructed`](crate::AuditKind::Instructed)), and its encrypted text the particulars of the
    /// event. A worker that has the run looks for it.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such run, and with [`Over`](crate::ErrorKind::Over)
    /// if the run is over.
    async fn instruct(&self, run: &str, by: &str, text: &[u8]) -> Result<Run, StoreError>;

    /// Makes a held run ready, and returns it. A run that was paused and is still under way goes on. Any other run stays
    /// as it is. `model` is the name of a model with which the run may go on in place of another one; the event about the
    /// release ([`Released`](crate::AuditKind::Released)) has it as its subject.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such run.
    async fn unhold(&self, run: &str, by: &str, model: Option<&str>) -> Result<Run, StoreError>;

    /// Holds all runs that are neither over nor held already, and returns their number. The leases on them end.
    async fn hold_all(&self, why: &str, by: &str) -> Result<u64, StoreError>;

    /// Replaces the wrapped key of a run's contents, if the stored one is `before`. Returns `false`, and stores
    /// nothing, if it is not, or if there is no such run.
    async fn rewrap(&self, run: &str, before: &[u8], after: &[u8]) -> Result<bool, StoreError>;

    /// Removes the contents of a run that is over: its input, its keys, its labels, its journal, its streamed text, and
    /// in the rows of its requests and executions the arguments, descriptions, notes, outputs and errors. The messages
    /// that the run has stored in its conversation are removed as well. Pseudonyms take the place of names. The audit
    /// trail stays, and still verifies.
    ///
    /// These stay in the rows: names of agents and tools, versions, risks, states, times, ids, digests, and the
    /// [reasons](crate::Approval::reasons) of requests. The id of a call is a digest of its arguments without a key, so
    /// whoever guesses the arguments can check the guess.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such run, and with
    /// [`NotOver`](crate::ErrorKind::NotOver) if the run is not over.
    async fn erase(&self, run: &str, by: &str) -> Result<(), StoreError>;

    /// Removes what a tenant has beside its runs: its notifications and their letters, its credentials of a control
    /// plane, and the statuses of its clusters of failures. In the audit trail of what belongs to no run, pseudonyms
    /// take the place of the names of its people. The trail still verifies. Names in events about modes stay, because
    /// these are names of operators.
    async fn erase_tenant(&self, tenant: &str, by: &str) -> Result<(), StoreError>;

    /// Decides about a request for approval that is pending. If its run waits for the decision, a worker can go on with
    /// the run.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such request, or if it belongs to another tenant.
    /// With [`Settled`](crate::ErrorKind::Settled) if the request was decided before, its time is over, or its run is
    /// over.
    async fn decide(&self, decision: &Decision) -> Result<Approval, StoreError>;

    /// Returns the request with this id; `None` if there is no such request.
    async fn approval(&self, id: &str) -> Result<Option<Approval>, StoreError>;

    /// Returns requests, the oldest first. Whoever asks for those after the last one that was returned misses none,
    /// also if many processes store requests at once. Before it lists them, the store marks requests whose time is over
    /// as expired, and so it marks approvals that were not used in time, of all runs. A process without the audit key
    /// of the store marks none.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if the request of [`ApprovalFilter::after`] is not there.
    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError>;

    /// Returns executions, the oldest first.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if the execution of [`ExecutionFilter::after`] is not
    /// there.
    async fn executions(&self, filter: &ExecutionFilter) -> Result<Vec<Execution>, StoreError>;

    /// Returns the execution with this id; `None` if there is no such execution.
    async fn execution(&self, id: &str) -> Result<Option<Execution>, StoreError>;

    /// Sets or removes a mode, with its event in the trail of the [`PLATFORM`](crate::PLATFORM).
    async fn set_mode(&self, change: &ModeChange) -> Result<(), StoreError>;

    /// Returns what belongs to no run: the modes that are set, and the end of the platform's audit trail.
    async fn platform(&self) -> Result<Platform, StoreError>;

    /// Stores the manifests of the agents that a process has. A manifest that is there already is marked as seen. Of
    /// each agent, the store keeps the eight manifests that were seen last.
    async fn put_manifests(&self, manifests: &[NewManifest]) -> Result<(), StoreError>;

    /// Returns the manifests in the order of the names of their agents. Of each agent, the one that was seen last comes
    /// first.
    async fn manifests(&self) -> Result<Vec<StoredManifest>, StoreError>;

    /// Stores the verdict of a person about an execution in doubt, counts a message for its run, and returns the
    /// execution. A run that waits is ready then.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such execution, and with
    /// [`Settled`](crate::ErrorKind::Settled) if the execution is not in doubt.
    async fn settle(&self, settle: &Settle) -> Result<Execution, StoreError>;

    /// Returns figures about the work that the store holds: the work of this tenant (organisation), or of all tenants
    /// for `None`.
    async fn metrics(&self, tenant: Option<&str>) -> Result<StoreMetrics, StoreError>;

    /// Gives a worker the events that a webhook has to be told of. These are events that nobody has told it of, and
    /// events whose next try is due. A webhook that the store does not know yet is told of later events only, and none
    /// is told of events that belong to no run. Each event is given to one worker at a time, and again until a worker
    /// has told its end.
    async fn claim_deliveries(&self, claim: &DeliveryClaim) -> Result<Vec<Delivery>, StoreError>;

    /// Ends a try to deliver an event. The end of an earlier try than the last one changes nothing, unless the event was
    /// delivered.
    async fn end_delivery(&self, delivery: &Delivery, end: &DeliveryEnd) -> Result<(), StoreError>;

    /// Returns the deliveries that are still to be made and the ones that were given up, the oldest first. An event is
    /// among them once a worker has [claimed](Store::claim_deliveries) for its webhook since the event.
    async fn deliveries(&self, filter: &DeliveryFilter) -> Result<Vec<Delivery>, StoreError>;

    /// Makes a delivery that was given up due again. It is named by its webhook and the number of its event.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if no such delivery was given up.
    async fn redeliver(&self, webhook: &str, event: u64) -> Result<(), StoreError>;

    /// Stores subscriptions. From then on, a notification that is published goes to each subscriber of its name. A
    /// subscriber takes one name: a subscription to another name takes the place of its earlier one. A new subscription
    /// also gets the earlier notifications of its name for which no subscriber was known.
    async fn subscribe(&self, subscriptions: &[Subscription]) -> Result<(), StoreError>;

    /// Removes a subscriber, and its letters except for dead ones. A subscriber that the store does not know changes
    /// nothing.
    async fn unsubscribe(&self, subscriber: &str) -> Result<(), StoreError>;

    /// Stores a notification with a letter to each subscriber, and returns its id. If the tenant has a notification of
    /// this name with the same key, the id of that notification is returned, and nothing is stored.
    async fn publish(&self, notification: &NewNotification) -> Result<String, StoreError>;

    /// Gives a worker letters that are due: those that nobody has tried, and those whose next try is due. Each letter is
    /// given to one worker at a time, and given again until a worker has told how it ended.
    async fn claim_letters(&self, claim: &LetterClaim) -> Result<Vec<Letter>, StoreError>;

    /// Ends a try to bring a letter. The end of an earlier try than the last one changes nothing, unless the
    /// notification was taken.
    async fn end_letter(&self, letter: &Letter, end: &LetterEnd) -> Result<(), StoreError>;

    /// Returns letters, the newest first.
    async fn letters(&self, filter: &LetterFilter) -> Result<Vec<Letter>, StoreError>;

    /// Returns the letter with this id; `None` if there is no such letter, as after its notification was taken.
    async fn letter(&self, id: &str) -> Result<Option<Letter>, StoreError>;

    /// Makes a dead letter due, or a held run ready, with an event in the audit trail. Of several replays at once, one
    /// succeeds.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such letter or run, or if it belongs to another tenant.
    /// With [`Settled`](crate::ErrorKind::Settled) if the letter is not dead, or the run is not held.
    async fn replay(&self, replay: &Replay) -> Result<(), StoreError>;

    /// Sets the status of a cluster of failures, with an event in the trail of the [`PLATFORM`](crate::PLATFORM).
    async fn triage(&self, triage: &NewTriage) -> Result<(), StoreError>;

    /// Returns the statuses that people have set for these clusters, of this tenant or, for `None`, of all tenants.
    async fn triages(
        &self,
        tenant: Option<&str>,
        clusters: &[String],
    ) -> Result<Vec<Triage>, StoreError>;

    /// Adds an event to the trail of a run, or of the [`PLATFORM`](crate::PLATFORM). In the trail of a run, an event of
    /// the kind [`Undone`](crate::AuditKind::Undone) also marks the execution that is its subject as undone.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such run, or no such execution.
    async fn record(&self, event: &NewEvent) -> Result<(), StoreError>;

    /// Returns events of the audit trail: the oldest first, or the newest first with [`AuditFilter::before`]. Whoever
    /// asks for the events after the last one that was returned misses none, also if many processes add events at once.
    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEvent>, StoreError>;
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)+) => {
        #[async_trait]
        impl<S: Store + ?Sized> Store for Arc<S> {
            fn keys_beside(&self) -> Option<PathBuf> {
                (**self).keys_beside()
            }

            fn is_in_memory(&self) -> bool {
                (**self).is_in_memory()
            }

            $(async fn $name(&self $(, $arg: $type)*) -> Result<$out, StoreError> {
                (**self).$name($($arg),*).await
            })+
        }
    };
}

forward! {
    audit_with(key: &AuditKey) -> ();
    now() -> Timestamp;
    create(run: &NewRun) -> Run;
    run(id: &str) -> Option<Run>;
    runs(filter: &RunFilter) -> Vec<Run>;
    claim(claim: &Claim) -> Option<Lease>;
    renew(lease: &Lease, time: Duration) -> Renewed;
    commit(lease: &Lease, commit: &Commit) -> ();
    release(lease: &Lease, rest: &Rest) -> ();
    commits(run: &str, after: u64) -> Vec<Committed>;
    conversation(tenant: &str, id: &str) -> Option<Conversation>;
    add_texts(lease: &Lease, texts: &[NewText]) -> ();
    texts(run: &str, after: u64) -> Vec<Text>;
    cancel(run: &str, by: &str) -> Run;
    pause(run: &str, by: &str) -> Run;
    instruct(run: &str, by: &str, text: &[u8]) -> Run;
    unhold(run: &str, by: &str, model: Option<&str>) -> Run;
    hold_all(why: &str, by: &str) -> u64;
    rewrap(run: &str, before: &[u8], after: &[u8]) -> bool;
    erase(run: &str, by: &str) -> ();
    erase_tenant(tenant: &str, by: &str) -> ();
    decide(decision: &Decision) -> Approval;
    approval(id: &str) -> Option<Approval>;
    approvals(filter: &ApprovalFilter) -> Vec<Approval>;
    executions(filter: &ExecutionFilter) -> Vec<Execution>;
    execution(id: &str) -> Option<Execution>;
    set_mode(change: &ModeChange) -> ();
    platform() -> Platform;
    put_manifests(manifests: &[NewManifest]) -> ();
    manifests() -> Vec<StoredManifest>;
    settle(settle: &Settle) -> Execution;
    metrics(tenant: Option<&str>) -> StoreMetrics;
    claim_deliveries(claim: &DeliveryClaim) -> Vec<Delivery>;
    end_delivery(delivery: &Delivery, end: &DeliveryEnd) -> ();
    deliveries(filter: &DeliveryFilter) -> Vec<Delivery>;
    redeliver(webhook: &str, event: u64) -> ();
    subscribe(subscriptions: &[Subscription]) -> ();
    unsubscribe(subscriber: &str) -> ();
    publish(notification: &NewNotification) -> String;
    claim_letters(claim: &LetterClaim) -> Vec<Letter>;
    end_letter(letter: &Letter, end: &LetterEnd) -> ();
    letters(filter: &LetterFilter) -> Vec<Letter>;
    letter(id: &str) -> Option<Letter>;
    replay(replay: &Replay) -> ();
    triage(triage: &NewTriage) -> ();
    triages(tenant: Option<&str>, clusters: &[String]) -> Vec<Triage>;
    record(event: &NewEvent) -> ();
    audit(filter: &AuditFilter) -> Vec<AuditEvent>;
}
