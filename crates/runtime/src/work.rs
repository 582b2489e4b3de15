//! Workers: processes that go on with the runs of a store.

use crate::{
    Runtime, RuntimeError,
    conversation::{Talk, seal_conversation},
    data::{RunData, entries, key_of},
    decisions::Decisions,
    error::RuntimeErrorKind,
    journal::{ForRun, StoredJournal},
    metrics::{Counters, count},
    one_call::OneCall,
    registered::{Registered, Went, With, go_on, input_of},
    texts::Texts,
    trail::CheckedTrail,
    wording::in_words,
};
use agents_core::{Error, ErrorKind, agent::Conversation, run::Timestamp};
use agents_store::{Claim, End, HeldKind, HeldReason, Lease, Rest, Run, RunStatus};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Time between two looks for runs that can go on.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// Time between two looks at the messages for a run that this worker has, such as its cancellation, while the run waits
/// for a decision. At other times, it is five times as long.
const LOOK: Duration = Duration::from_millis(200);
/// Number of claims in a row, without a new entry or a wait between them, after which a run may end its workers. A worker
/// then takes it alone, and it is held if that is in vain, too.
const MOST_CLAIMS: u32 = 3;

impl Runtime {
    /// Goes on with the runs of the store whose agents this process has, until `stop` is cancelled. Any number of
    /// processes may do so.
    ///
    /// When it is stopped, the worker claims no more runs, and returns within the [`grace`](Runtime::grace). In the
    /// first half of the grace, runs under way may end. In the second half, each run is put down at the next moment at
    /// which none of its tools that write is running, and other workers go on with the run. Runs that are left at the
    /// end of the grace are dropped. If a tool that writes is running in such a run, its execution may be in doubt.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Progress, Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::always(Script::text("Paid."));
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
    /// use std::time::Duration;
    ///
    /// let stop = tokio_util::sync::CancellationToken::new();
    /// let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    /// let run = payer.run("Pay the bills of October.").start().await?;
    /// assert!(matches!(run.wait(Duration::from_secs(60)).await?, Progress::Done(_)));
    ///
    /// // When the process is asked to end:
    /// stop.cancel();
    /// worker.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn work(self, stop: CancellationToken) {
        let put_down = PutDown::default();
        let mut under_way = JoinSet::new();
        let mut pause = PAUSE;
        let aside = self.aside(&stop);
        while !stop.is_cancelled() {
            while under_way.try_join_next().is_some() {}
            let has_room = under_way.len() < self.settings.at_once;
            let claimed = match has_room {
                true => self.claim(None).await,
                false => Ok(None),
            };
            let news = self.shared.news.notified();
            match claimed {
                Ok(Some(claimed)) => {
                    pause = PAUSE;
                    let (runtime, put_down) = (self.clone(), put_down.clone());
                    count(&self.shared.counters.claimed);
                    under_way.spawn(async move { runtime.go_on(claimed, &put_down).await });
                    continue;
                }
                Ok(None) => {}
                Err(error) => {
                    match error.may_pass() {
                        true => tracing::warn!(%error, "the store cannot be asked for runs"),
                        false => tracing::error!(%error, "the worker takes no run"),
                    }
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
                () = news, if has_room => {}
                Some(_) = under_way.join_next(), if !has_room => {}
            }
        }
        let ended = async {
            while under_way.join_next().await.is_some() {}
            aside.join_all().await;
        };
        let mut ended = Box::pin(ended);
        for order in [&put_down.safely, &put_down.at_once] {
            let half = self.settings.grace / 2;
            if tokio::time::timeout(half, &mut ended).await.is_ok() {
                return;
            }
            order.cancel();
        }
        // Messages under way are dropped here, and are sent again by the next worker.
        drop(ended);
        while under_way.join_next().await.is_some() {}
    }

    /// Starts what a worker does in addition to its runs: it stores descriptions of agents, delivers messages of
    /// webhooks, brings letters to subscribers, and erases contents after [their time](Runtime::keep_contents_for). All
    /// of this ends with `stop`.
    fn aside(&self, stop: &CancellationToken) -> JoinSet<()> {
        let mut aside = JoinSet::new();
        let (runtime, stopped) = (self.clone(), stop.clone());
        aside.spawn(async move { runtime.announce(&stopped).await });
        for webhook in self.settings.webhooks.clone() {
            let (runtime, stop) = (self.clone(), stop.clone());
            aside.spawn(async move { runtime.deliver(&webhook, &stop).await });
        }
        if !self.settings.subscribers.is_empty() {
            let (runtime, stop) = (self.clone(), stop.clone());
            aside.spawn(async move { runtime.bring_letters(&stop).await });
        }
        if let Some(time) = self.settings.keep_contents {
            let (client, stop) = (self.client.clone(), stop.clone());
            aside.spawn(async move {
                stop.run_until_cancelled(client.erase_again_and_again(time))
                    .await;
            });
        }
        aside
    }

    /// Does what a worker does in addition to its runs, until `stop` is cancelled: it stores descriptions of agents,
    /// delivers messages of webhooks, brings notifications to subscribers, and erases contents. [`work`](Runtime::work)
    /// does all of this as well. This method is for processes that call [`advance`](Runtime::advance) in place of
    /// `work`.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Advanced, Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
    /// let stop = CancellationToken::new();
    /// let upkeep = tokio::spawn(runtime.clone().upkeep(stop.clone()));
    ///
    /// // A scheduler of your own says which run goes on, and when.
    /// let run = payer.run("Pay the bills of October.").start().await?;
    /// assert_eq!(runtime.advance(run.id(), &stop).await?, Advanced::Done);
    ///
    /// stop.cancel();
    /// upkeep.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn upkeep(self, stop: CancellationToken) {
        let aside = self.aside(&stop);
        stop.cancelled().await;
        aside.join_all().await;
    }

    /// Goes on with one run in this process as far as it can go now, and returns its state. This method is for a
    /// scheduler of your own, which knows when a run can go on, in place of the queue of [`work`](Runtime::work).
    ///
    /// The run is claimed under a lease as any worker does it. So a call for a run that cannot go on, or that another
    /// process has, does no harm, and returns at once. If `stop` is cancelled, the run is put down at the next moment
    /// at which none of its tools that write is running. If the future is dropped, any worker may go on with the run
    /// when its lease has ended. If a tool that writes was running, its execution may be in doubt.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Advanced, Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
    /// let run = payer.run("Pay the bills of October.").start().await?;
    /// let stop = tokio_util::sync::CancellationToken::new();
    /// match runtime.advance(run.id(), &stop).await? {
    ///     Advanced::Done => println!("the run is over"),
    ///     Advanced::Held => println!("the run goes on once somebody releases it"),
    ///     Advanced::Waiting { until } => println!("call again after a decision, or at {until:?}"),
    ///     Advanced::Ready => println!("call again soon"),
    /// }
    /// # assert_eq!(runtime.advance(run.id(), &stop).await?, Advanced::Done);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such run, the keyring cannot be read or written, or the store fails.
    pub async fn advance(
        &self,
        run: &str,
        stop: &CancellationToken,
    ) -> Result<Advanced, RuntimeError> {
        let put_down = PutDown {
            safely: stop.clone(),
            at_once: CancellationToken::new(),
        };
        if !stop.is_cancelled() {
            self.step_until(run, &put_down).await?;
        }
        let stored = self.client.known(run).await?;
        Ok(match stored.status {
            RunStatus::Done => Advanced::Done,
            RunStatus::Held => Advanced::Held,
            RunStatus::Waiting => Advanced::Waiting {
                until: stored.wake_at,
            },
            RunStatus::Ready | RunStatus::Running => Advanced::Ready,
        })
    }

    /// Claims a run and goes on with it; returns `false` if it cannot be claimed.
    pub(crate) async fn step(&self, run: &str) -> Result<bool, RuntimeError> {
        self.step_until(run, &PutDown::default()).await
    }

    async fn step_until(&self, run: &str, put_down: &PutDown) -> Result<bool, RuntimeError> {
        let Some(claimed) = self.claim(Some(run)).await? else {
            return Ok(false);
        };
        self.go_on(claimed, put_down).await;
        Ok(true)
    }

    /// Works on one run in this process until it is over, and on the runs that come before it in its conversation. Waits
    /// while another process has it. A run that is held is an error.
    pub(crate) async fn work_on(&self, run: &str) -> Result<(), RuntimeError> {
        loop {
            if self.step(run).await? {
                continue;
            }
            let stored = self.client.known(run).await?;
            let before = self.client.before_in_conversation(&stored).await?;
            if let Some(before) = before
                && self.step(&before.id).await?
            {
                continue;
            }
            match stored.status {
                RunStatus::Done => return Ok(()),
                RunStatus::Held => {
                    return Err(crate::wording::held(run, &in_words(stored.held)));
                }
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn claim(&self, run: Option<&str>) -> Result<Option<Claimed>, RuntimeError> {
        let counters = &self.shared.counters;
        if counters.alone.load(Relaxed) > 0 {
            return Ok(None);
        }
        let claim = Claim {
            worker: self.settings.worker.clone(),
            agents: self.shared.agents(),
            run: run.map(str::to_owned),
            time: self.settings.lease,
            per_tenant: self.settings.per_tenant,
            most_claims: MOST_CLAIMS,
            alone: counters.under_way.load(Relaxed) == 0,
        };
        let at = Instant::now();
        let lease = self.client.store().await?.claim(&claim).await?;
        Ok(lease.map(|lease| Claimed {
            _under_way: Counted::of(counters, |counters| &counters.under_way),
            _alone: (lease.alone).then(|| Counted::of(counters, |counters| &counters.alone)),
            lease,
            at,
        }))
    }

    /// Goes on with a run that was claimed, until it is over, waits or is put down.
    async fn go_on(&self, claimed: Claimed, put_down: &PutDown) {
        let Claimed {
            lease,
            at,
            _under_way,
            _alone,
        } = claimed;
        let counters = &self.shared.counters;
        let run = lease.run.id.clone();
        let rest = match self.as_far_as_it_goes(&lease, at, put_down).await {
            Ok(Some(rest)) => rest,
            Ok(None) => return,
            Err(error) if error.may_pass() => {
                tracing::warn!(run, %error, "a run goes on later");
                Rest::Ready
            }
            Err(error) => {
                tracing::error!(run, %error, "a run cannot go on");
                if error.kind() == RuntimeErrorKind::Sealed {
                    let refused = self.client.refused(&lease.run, None, None, None, &error);
                    refused.await;
                }
                Rest::Held(HeldReason::new(held_kind(&error), error.to_string()))
            }
        };
        match rest {
            Rest::Done { .. } => count(&counters.ended),
            Rest::Held(_) => count(&counters.held),
            Rest::Ready | Rest::Waiting { .. } => {}
        }
        if let Err(error) = self.client.bare_store().release(&lease, &rest).await {
            tracing::warn!(run, %error, "a run cannot be given back; another worker takes it when its lease ends");
        }
    }

    /// Goes on with a run that was claimed, and returns the state in which it is given back; `None` if the lease is
    /// lost.
    async fn as_far_as_it_goes(
        &self,
        lease: &Lease,
        claimed: Instant,
        put_down: &PutDown,
    ) -> Result<Option<Rest>, RuntimeError> {
        let keeping = self.keeper()?.keep(lease.clone(), claimed);
        let (client, run) = (&self.client, &lease.run);
        let key = key_of(run, &*client.keys()?)?;
        let data = RunData::of(run, &key)?;
        let Some(agent) = self.shared.agent(&run.agent) else {
            return Ok(Some(Rest::Ready));
        };
        // The run is not over if it is the worker that lacks something.
        if run.cancelled_by.is_none() && !data.is_one_call() {
            let profile = agent.profile(&data.scope);
            let checked = profile.check(self.settings.model.is_some());
            checked.map_err(RuntimeError::unreadable)?;
        }
        let talk = self.talk(run, &data).await?;
        let store = client.store().await?.clone();
        let audit_key = client.audit_key()?;
        let mut trail = CheckedTrail::new(audit_key, run, &data);
        trail.read(&*store).await?;
        let models = trail.models();
        let decisions = Decisions::new(store.clone(), run.id.clone(), key.clone(), trail);
        decisions.read(run.messages).await?;
        let commits = store.commits(&run.id, 0).await?;
        let entries = entries(&key, 0, &commits)?;
        let for_run = ForRun {
            store,
            held: keeping.held.clone(),
            key: key.clone(),
            user: data.scope.user_id.clone(),
            expires_after: self.settings.expires_after,
            audit_key,
            platform: self.shared.platform(audit_key),
            decisions: decisions.clone(),
        };
        let (journal, recorded) = StoredJournal::new(for_run, entries)?;
        decisions.check_claim(run, &recorded).await?;
        let texts = data.streamed.then(|| {
            let (store, held) = (client.bare_store().clone(), keeping.held.clone());
            Arc::new(Texts::new(store, held, key.clone()))
        });
        let journal = Arc::new(journal.with_texts(texts.clone()));
        let (cancel, pause) = (CancellationToken::new(), put_down.safely.child_token());
        if run.cancelled_by.is_some() {
            cancel.cancel();
        }
        let undo = data.undo.clone();
        let one_call = self.one_call(run, &data).await?;
        let given = one_call.as_ref().map(|one| one.secrets.clone());
        let with = With {
            id: run.id.clone(),
            data,
            journal: journal.clone(),
            decisions: decisions.clone(),
            settings: self.settings.clone(),
            cancel: cancel.clone(),
            pause: pause.clone(),
            fence: lease.fence,
            talk,
            texts: texts.clone(),
            given: given.unwrap_or_default(),
            models,
        };
        let went = tokio::select! {
            biased;
            () = keeping.held.lost.cancelled() => return Ok(None),
            () = put_down.at_once.cancelled() => return Ok(Some(Rest::Ready)),
            () = paused(&journal, &pause) => return Ok(Some(Rest::Ready)),
            went = Box::pin(went(&*agent, one_call.as_ref(), with)) => went,
            error = self.until_altered(&run.id, &decisions, &journal, (&cancel, &pause)) => return Err(error),
            () = send(texts.as_deref()) => return Ok(None),
        };
        if let (Ok(Went::Waiting(requests)), None) = (&went, journal.failed()) {
            return Ok(Some(waiting(&decisions, requests).await?));
        }
        let rest = rest_of(&went, &journal, &cancel, |said| {
            seal_conversation(said, run, &key)
        })?;
        if let (Some(undo), Some(Rest::Done { .. })) = (&undo, &rest) {
            self.undo_is_over(run, undo).await?;
        }
        Ok(rest)
    }

    /// Returns the conversation to which a run belongs, as the previous run has stored it; `None` if it belongs to
    /// none.
    async fn talk(&self, run: &Run, data: &RunData) -> Result<Option<Talk>, RuntimeError> {
        if run.conversation != data.conversation {
            return Err(crate::wording::moved_to_another_conversation(&run.id));
        }
        let Some(conversation) = self.client.conversation_of(run) else {
            return Ok(None);
        };
        Ok(Some(Talk {
            before: conversation.snapshot().await?,
            shorten: self.shared.shorten(&run.agent),
        }))
    }

    /// Looks for messages for a run until one of them was altered in the store, and no tool that writes is running any
    /// more. Returns the error.
    async fn until_altered(
        &self,
        run: &str,
        decisions: &Decisions,
        journal: &StoredJournal,
        (cancel, pause): (&CancellationToken, &CancellationToken),
    ) -> RuntimeError {
        let error = self.look(run, decisions, cancel, pause).await;
        journal.put_down().await;
        error
    }

    /// Looks for messages for a run that this worker has: decisions, its cancellation, its pause. Returns only if one of
    /// them was altered in the store.
    async fn look(
        &self,
        run: &str,
        decisions: &Decisions,
        cancel: &CancellationToken,
        pause: &CancellationToken,
    ) -> RuntimeError {
        loop {
            tokio::time::sleep(match decisions.is_waited_for() {
                true => LOOK,
                false => LOOK * 5,
            })
            .await;
            let looked = async {
                let run = self.client.known(run).await?;
                if run.cancelled_by.is_some() {
                    cancel.cancel();
                }
                if run.paused_by.is_some() {
                    pause.cancel();
                }
                if run.messages != decisions.messages() || decisions.is_waited_for() {
                    decisions.read(run.messages).await?;
                }
                Ok::<_, RuntimeError>(())
            };
            match looked.await {
                Err(error) if error.kind() == RuntimeErrorKind::Sealed => return error,
                Err(error) => tracing::warn!(run, %error, "the messages of a run cannot be read"),
                Ok(()) => {}
            }
        }
    }
}

/// State of a run after [`Runtime::advance`], which says when to call that method again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Advanced {
    /// The run is over: there is nothing left to do.
    Done,
    /// The run is held: call `advance` again when somebody has released or cancelled the run.
    Held,
    /// The run waits: call `advance` again when a decision was taken, an execution in doubt was settled, or the run was
    /// cancelled; and at this time, by the clock of the store.
    Waiting {
        /// Time at which the run goes on by itself; `None` if it waits for decisions alone.
        until: Option<Timestamp>,
    },
    /// The run can go on, and this process does not go on with it: call `advance` again soon. Another process has the
    /// run, its turn in its conversation or its tenant has not come, a message for it has just come, the store could
    /// not be reached, or this process has no such agent or was stopped.
    Ready,
}

/// Signals with which a worker that is stopped puts its runs down.
#[derive(Clone, Default)]
struct PutDown {
    /// Token that is cancelled when each run is to be put down at the next moment at which none of its tools that write
    /// is running.
    safely: CancellationToken,
    /// Token that is cancelled when each run is to be put down at once.
    at_once: CancellationToken,
}

/// Run that a worker has claimed.
struct Claimed {
    lease: Lease,
    /// Time just before the claim.
    at: Instant,
    _under_way: Counted,
    /// Guard of a run that may end its workers: the worker claims no other one beside it.
    _alone: Option<Counted>,
}

/// Guard that counts one more in a counter, until it is dropped.
struct Counted {
    counters: Arc<Counters>,
    of: fn(&Counters) -> &AtomicU64,
}

impl Counted {
    fn of(counters: &Arc<Counters>, of: fn(&Counters) -> &AtomicU64) -> Self {
        count(of(counters));
        Counted {
            counters: counters.clone(),
            of,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.of)(&self.counters).fetch_sub(1, Relaxed);
    }
}

/// Returns the kind of the reason for holding a run that has failed with this error.
fn held_kind(error: &RuntimeError) -> HeldKind {
    match error.kind() {
        RuntimeErrorKind::Sealed => HeldKind::Altered,
        _ => HeldKind::Incompatible,
    }
}

fn incompatible(why: &impl std::fmt::Display) -> HeldReason {
    HeldReason::new(HeldKind::Incompatible, why.to_string())
}

/// Waits until a run is to be paused or its worker stopped, and then until the run can be put down.
async fn paused(journal: &StoredJournal, pause: &CancellationToken) {
    pause.cancelled().await;
    journal.put_down().await;
}

/// Goes on with a run: of the agent itself, or one that makes a single call of the agent's tools.
async fn went(
    agent: &dyn Registered,
    one_call: Option<&OneCall>,
    with: With,
) -> Result<Went, Error> {
    let Some(one_call) = one_call else {
        return agent.go_on(with).await;
    };
    go_on(&one_call.agent, input_of(&with.data)?, with).await
}

/// Returns the state in which a run that waits for decisions about these requests is given back.
async fn waiting(decisions: &Decisions, requests: &[String]) -> Result<Rest, RuntimeError> {
    let messages = decisions.messages();
    // The requests that were made in this process were not read yet.
    decisions.read(messages).await?;
    Ok(match decisions.has_any(requests) {
        true => Rest::Ready,
        false => Rest::Waiting {
            wake_at: decisions.first_expiry(),
            messages,
        },
    })
}

/// Stores streamed text while a run goes on, if it is streamed. Never returns.
async fn send(texts: Option<&Texts>) {
    match texts {
        Some(texts) => texts.send().await,
        None => std::future::pending().await,
    }
}

/// Returns the state in which a run is given back, unless it waits for decisions; `None` if the lease is lost. `seal`
/// encrypts the conversation of the run.
fn rest_of(
    went: &Result<Went, Error>,
    journal: &StoredJournal,
    cancel: &CancellationToken,
    seal: impl FnOnce(&Conversation) -> Result<Vec<u8>, RuntimeError>,
) -> Result<Option<Rest>, RuntimeError> {
    if let Some(failed) = journal.failed() {
        return Ok(match failed.kind() {
            agents_store::ErrorKind::LeaseLost => None,
            _ if failed.may_pass() => Some(Rest::Ready),
            _ => Some(Rest::Held(incompatible(&failed))),
        });
    }
    let (error, said) = match went {
        Ok(Went::Waiting(_)) => return Ok(Some(Rest::Ready)),
        Ok(Went::Done { error, said }) => (error.as_ref(), said.as_deref()),
        Err(error) => return Ok(Some(Rest::Held(incompatible(&format!("{error:#}"))))),
    };
    let end = match error {
        None => End::Answered,
        Some(error) if !journal.is_finished() => {
            return Ok(Some(Rest::Held(incompatible(&format!("{error:#}")))));
        }
        Some(error) if error.kind() == ErrorKind::Cancelled && cancel.is_cancelled() => {
            End::Cancelled
        }
        Some(_) => End::Failed,
    };
    Ok(Some(Rest::Done {
        end,
        conversation: said.map(seal).transpose()?,
    }))
}
