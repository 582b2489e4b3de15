//! The journal of a run in a store, under the lease of its worker.

use crate::{
    RuntimeError,
    approvals::{RequestDetail, detail_of},
    audit::reason,
    data::{sealed, sealed_entries},
    keys::RunKey,
    lease::Held,
    summary::{masked, summary},
    texts::Texts,
};
use agents_core::{
    async_trait,
    journal::{Asked, Began, CallStep, Ended, Entry, Follower, Journal, JournalError},
    tool::Effects,
};
use agents_store::{
    AuditKind, Begin, Commit, Finish, NewApproval, NewEvent, Store, StoreError, Timestamp,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use uuid::Uuid;

/// Journal of a run in a store. A commit stores the entries together with the rows that follow from them.
pub(crate) struct StoredJournal {
    store: Arc<dyn Store>,
    held: Arc<Held>,
    key: RunKey,
    user: Option<String>,
    expires_after: Duration,
    /// Sender of streamed text, if the run is streamed.
    texts: Option<Arc<Texts>>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    follower: Follower,
    entries: Vec<Entry>,
    /// Executions of tools that only read, which have begun and not ended, with the times of their begins. Their rows are
    /// stored when they end.
    reading: HashMap<String, (Begin, Timestamp)>,
    /// Reason why nothing more is stored.
    failed: Option<StoreError>,
    is_finished: bool,
}

impl StoredJournal {
    /// Creates the journal of a run that was claimed, with the entries that it has.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        held: Arc<Held>,
        key: RunKey,
        user: Option<String>,
        expires_after: Duration,
        entries: Vec<Entry>,
    ) -> Result<Self, RuntimeError> {
        let journal = StoredJournal {
            store,
            held,
            key,
            user,
            expires_after,
            texts: None,
            inner: Mutex::default(),
        };
        let mut inner = Inner::default();
        for entry in &entries {
            let step = inner.follower.on(entry).map_err(RuntimeError::unreadable)?;
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
        Ok(journal)
    }

    /// Stores streamed text together with the entries that follow it.
    pub(crate) fn with_texts(mut self, texts: Option<Arc<Texts>>) -> Self {
        self.texts = texts;
        self
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reason why nothing more is stored, if there is one.
    pub(crate) fn failed(&self) -> Option<StoreError> {
        self.inner().failed.clone()
    }

    /// Returns `true` if the end of the run is stored.
    pub(crate) fn is_finished(&self) -> bool {
        self.inner().is_finished
    }

    /// Prepares a commit of these entries.
    fn commit(&self, entries: &[Entry]) -> Result<Commit, JournalError> {
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
        for entry in entries {
            let followed = inner.follower.on(entry)?;
            if let Some(texts) = &self.texts {
                for event in &followed.events {
                    texts.stores(event, entry.seq());
                }
            }
            match followed.step {
                Some(CallStep::Asked(asked)) => {
                    commit.asked.push(self.asked(&asked).map_err(failed)?);
                }
                Some(CallStep::Began(began)) => {
                    let begin = self.began(&began).map_err(failed)?;
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
        Ok(commit)
    }

    fn asked(&self, asked: &Asked) -> Result<NewApproval, RuntimeError> {
        let request = &asked.request;
        let detail = RequestDetail::new(request.clone(), asked.schema.clone());
        let effect = request.effect_description.clone();
        Ok(NewApproval {
            id: self.id_of("approval", &request.id),
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
            expires_after: self.expires_after,
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

    /// Returns the id of an execution.
    fn execution(&self, request: &str, attempt: u32) -> String {
        self.id_of("execution", &format!("{request} {attempt}"))
    }

    /// Returns an id that is the same whenever it is asked for.
    fn id_of(&self, what: &str, name: &str) -> String {
        let run = &self.held.lease.run.id;
        let digest = hmac_sha256::Hash::hash(format!("{run}\n{what}\n{name}").as_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_random_bytes(bytes)
            .into_uuid()
            .to_string()
    }

    /// Stores a commit, again and again while the store cannot be reached and the lease holds.
    async fn store(&self, commit: &Commit) -> Result<(), StoreError> {
        let mut pause = Duration::from_millis(20);
        loop {
            match self.store.commit(&self.held.lease, commit).await {
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
    /// Adds to the audit trail that an execution was not allowed.
    async fn refused(&self, commit: &Commit, error: &StoreError) {
        if error.kind() != agents_store::ErrorKind::NotApproved {
            return;
        }
        let Some(begin) = commit.began.iter().find(|begin| begin.needs.is_some()) else {
            return;
        };
        let event = NewEvent {
            run: self.held.lease.run.id.clone(),
            kind: AuditKind::Refused,
            actor: None,
            subject: Some(begin.id.clone()),
            tool_name: Some(begin.tool_name.clone()),
            detail: reason(&self.key, &error.to_string()),
        };
        if let Err(error) = self.store.record(&event).await {
            tracing::error!(run = event.run, %error, "a refused execution is not in the audit trail");
        }
    }
}

/// Returns `true` if an execution changes nothing and needs no approval. Nothing has to be known of it before it ends, and
/// its arguments and its output are in the journal alone.
fn only_reads(began: &Began) -> bool {
    began.effects != Effects::Writes && !began.approved
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
        let commit = self.commit(entries)?;
        let stored = self.store(&commit).await;
        if let Err(error) = &stored {
            self.refused(&commit, error).await;
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
