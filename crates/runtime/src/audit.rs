//! The audit trail: read, exported, and tied to a copy of its heads.

use crate::{
    Client, Keyring, RuntimeError, Sealed, Verdict,
    approvals::{edited_args, is_question},
    data::{key_of, opened, sealed},
    keys::hex,
    run_key::RunKey,
    summary::summary,
    verify::Verify,
};
use agents_core::run::Timestamp;
use agents_store::{AuditEvent, AuditFilter, AuditKind, NewEvent, PLATFORM, Run, RunFilter};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, io::Write};

/// Audit trail of a store: what was asked, decided, run and refused.
///
/// Each event is stored in the transaction of what it tells of: the begin of an execution before the tool runs, its end
/// after it. The digests of a run's events are a chain, made with a key of the keyring. So whoever can write the store,
/// and has no keyring, cannot change or insert an event unnoticed. Runs and last events that were removed are noticed
/// with [heads](Audit::heads) that are kept outside the store.
///
/// ```
/// use agents_runtime::{Runtime, SqliteStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let audit = Runtime::client(SqliteStore::in_memory().await?).audit();
/// let heads = audit.heads().await?; // keep a copy outside the store
/// // Later:
/// let verdict = audit.verify_from(&heads).await?;
/// assert!(verdict.is_intact(), "{verdict}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Audit {
    client: Client,
}

/// Event of the audit trail. Serialized, it is one line of an [export](Audit::export).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// Number of the event among all events of the store.
    pub number: u64,
    /// Time of the event, by the clock of the store.
    pub at: Timestamp,
    /// Kind of the event: what has happened.
    pub kind: AuditKind,
    /// Tenant that the event is about. An event of the platform may be about all tenants: `*`.
    pub tenant_id: String,
    /// Id of the run; `platform` for an event that belongs to none.
    pub run_id: String,
    /// Number of the event in its trail, from 1.
    pub seq: u64,
    /// Principal who caused the event, or `policy:` and a name, such as that of a mode. An event about an execution
    /// that begins, or about an approval that expires or is withdrawn, has the name of whoever approved the call.
    /// `None` if there is no such name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Subject of the event: the id of a request, an execution or a letter, the mode that was set, the model with which a
    /// released run may go on, the cluster and its status, the end of the run, or the action that was refused; `None` if
    /// the event has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Name of the tool that the event is about; `None` if it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Reason of the event, or the text of an instruction; `None` if there is none, or if it cannot be decrypted any
    /// more. The reason of an approval tells in short which other arguments were approved, if the decider has edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Digest of the event together with all events before it in its trail.
    pub digest: String,
}

/// Last event of the trail of a run, or of the platform. Heads that are kept outside the store show later that nothing
/// was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Id of the run; `platform` for the trail of what belongs to none.
    pub run_id: String,
    /// Number of events in the audit trail of the run so far.
    pub events: u64,
    /// Digest of the last event, which covers all events before it.
    pub digest: String,
}

impl Head {
    pub(crate) fn of(run: &Run) -> Self {
        Head {
            run_id: run.id.clone(),
            events: run.audit_seq,
            digest: hex(&run.audit_digest),
        }
    }
}

impl Audit {
    pub(crate) fn of(client: Client) -> Self {
        Audit { client }
    }

    /// Returns events, the oldest first, or the newest first with [`before`](AuditFilter::before).
    ///
    /// # Errors
    /// When the store fails, or an event of the platform has a reason and the keyring cannot be opened.
    pub async fn events(&self, filter: &AuditFilter) -> Result<Vec<AuditRecord>, RuntimeError> {
        let found = self.client.bare_store().audit(filter).await?;
        let mut keys: BTreeMap<String, Option<RunKey>> = BTreeMap::new();
        let mut records = Vec::with_capacity(found.len());
        for event in found {
            let reason = match &event.detail {
                None => self.reason_of(&event, &mut keys).await?,
                Some(detail) if event.run == PLATFORM => {
                    let keys = self.client.keys()?;
                    opened_reason(&*keys, &event.tenant_id, detail)
                }
                Some(detail) => {
                    let key = self.key_among(&mut keys, &event.run).await?;
                    key.and_then(|key| opened(key, REASON, detail).ok())
                }
            };
            records.push(record(event, reason));
        }
        Ok(records)
    }

    /// Returns the reason that the row of a request has for an event about the request; `None` if it has none.
    async fn reason_of(
        &self,
        event: &AuditEvent,
        keys: &mut BTreeMap<String, Option<RunKey>>,
    ) -> Result<Option<String>, RuntimeError> {
        let has_reason = matches!(
            event.kind,
            AuditKind::Approved
                | AuditKind::Denied
                | AuditKind::RevisionRequested
                | AuditKind::Expired
        );
        let Some(id) = event.subject.as_deref().filter(|_| has_reason) else {
            return Ok(None);
        };
        let Some(request) = self.client.bare_store().approval(id).await? else {
            return Ok(None);
        };
        if event.kind == AuditKind::Approved {
            if request.edited.is_none() || is_question(&request) {
                return Ok(None);
            }
            let key = self.key_among(keys, &event.run).await?;
            let edited = key.and_then(|key| edited_args(key, &request).ok().flatten());
            let (approved, asked) = (edited.as_ref().map(summary), &request.args_summary);
            return Ok(Some(crate::wording::edited(approved.as_deref(), asked)));
        }
        Ok(match event.kind {
            AuditKind::Expired => {
                Some(crate::wording::expired(request.decided_by.is_some()).to_owned())
            }
            _ => request.note,
        })
    }

    /// Returns the key of a run, which is looked up once; `None` if the key was erased or cannot be opened.
    async fn key_among<'k>(
        &self,
        keys: &'k mut BTreeMap<String, Option<RunKey>>,
        run: &str,
    ) -> Result<Option<&'k RunKey>, RuntimeError> {
        if !keys.contains_key(run) {
            keys.insert(run.to_owned(), self.key(run).await?);
        }
        Ok(keys.get(run).and_then(Option::as_ref))
    }

    /// Returns the key of a run; `None` if the key was erased or cannot be opened.
    async fn key(&self, run: &str) -> Result<Option<RunKey>, RuntimeError> {
        let run = self.client.known(run).await?;
        let keys = self.client.keys();
        Ok(keys.ok().and_then(|keys| key_of(&run, &*keys).ok()))
    }

    /// Writes all events that the filter chooses, the oldest first, each as one line of JSON. Returns the number of the
    /// last event, after which a later export goes on. The events are the oldest first also with
    /// [`before`](AuditFilter::before), and [`limit`](AuditFilter::limit) only says how many events are read at once.
    ///
    /// # Errors
    /// When the store fails, or the lines cannot be written.
    pub async fn export(
        &self,
        filter: &AuditFilter,
        to: &mut (impl Write + ?Sized),
    ) -> Result<u64, RuntimeError> {
        // A filter with `before` would list the newest first.
        let end = filter.before.unwrap_or(u64::MAX);
        let mut filter = AuditFilter {
            before: None,
            ..filter.clone()
        };
        loop {
            let page = self.events(&filter).await?;
            if page.is_empty() {
                return Ok(filter.after);
            }
            for record in &page {
                if record.number >= end {
                    return Ok(filter.after);
                }
                let line = serde_json::to_string(record).map_err(RuntimeError::unreadable)?;
                writeln!(to, "{line}")
                    .map_err(|error| crate::wording::trail_not_written(&error))?;
                filter.after = record.number;
            }
        }
    }

    /// Returns the head (the last event of the trail) of each run, the newest run first. At the end is the head of what
    /// belongs to no run, if there are such events.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn heads(&self) -> Result<Vec<Head>, RuntimeError> {
        let mut filter = RunFilter::default();
        let mut heads = Vec::new();
        loop {
            let page = self.client.runs(&filter).await?;
            let Some(last) = page.last() else {
                heads.extend(self.head_of_platform().await?);
                return Ok(heads);
            };
            filter.before = Some(last.id.clone());
            heads.extend(page.iter().map(Head::of));
        }
    }

    /// Returns the head of the trail of what belongs to no run; `None` if that trail is empty.
    async fn head_of_platform(&self) -> Result<Option<Head>, RuntimeError> {
        let trail = self.client.bare_store().platform().await?.trail;
        Ok(trail.filter(|trail| trail.seq > 0).map(|trail| Head {
            run_id: PLATFORM.to_owned(),
            events: trail.seq,
            digest: hex(&trail.digest),
        }))
    }

    /// Checks the trail of each run and of the platform, and the rows of runs, requests, executions and modes that the
    /// trails tell of.
    ///
    /// If somebody has removed a whole run, or its last events together with the end of the trail in the run's row,
    /// only [`verify_from`](Audit::verify_from) notices it.
    ///
    /// # Errors
    /// When the keyring cannot be read, the store belongs to another keyring, or the store fails. A trail that was
    /// changed is no error: see [`Verdict::is_intact`].
    pub async fn verify(&self) -> Result<Verdict, RuntimeError> {
        self.check(None).await
    }

    /// Checks the trail like [`verify`](Audit::verify). In addition, checks that the trail continues these heads,
    /// copies of which were kept outside the store.
    ///
    /// # Errors
    /// When the keyring cannot be read, the store belongs to another keyring, or the store fails. A trail that was
    /// changed is no error: see [`Verdict::is_intact`].
    pub async fn verify_from(&self, heads: &[Head]) -> Result<Verdict, RuntimeError> {
        self.check(Some(heads)).await
    }

    async fn check(&self, heads: Option<&[Head]>) -> Result<Verdict, RuntimeError> {
        let key = self.client.audit_key()?;
        let store = self.client.store().await?;
        Verify::new(store, self.client.keys()?, key, heads)
            .run()
            .await
    }
}

impl Client {
    /// Adds to the audit trail that a principal was not allowed to do something.
    pub(crate) async fn refused(
        &self,
        run: &Run,
        by: Option<&str>,
        subject: Option<&str>,
        tool: Option<&str>,
        why: &RuntimeError,
    ) {
        let key = self.keys().and_then(|keys| key_of(run, &*keys));
        let event = NewEvent {
            run: run.id.clone(),
            tenant: None,
            kind: AuditKind::Refused,
            actor: by.map(str::to_owned),
            subject: subject.map(str::to_owned),
            tool_name: tool.map(str::to_owned),
            detail: key.ok().and_then(|key| reason(&key, &why.to_string())),
        };
        let recorded = async { Ok::<_, RuntimeError>(self.store().await?.record(&event).await?) };
        if let Err(error) = recorded.await {
            tracing::error!(run = run.id, refused = %why, %error, "a refusal is not in the audit trail");
        }
    }
}

/// Name under which the reason of an event is encrypted, which binds the text to that use.
const REASON: &str = "reason of an event";

/// Encrypts the reason of an event with the key of its run; `None` if that fails.
pub(crate) fn reason(key: &RunKey, why: &str) -> Option<Vec<u8>> {
    sealed(key, REASON, &why).ok()
}

/// Decrypts the reason of an event.
pub(crate) fn opened_by(key: &RunKey, detail: &[u8]) -> Result<String, RuntimeError> {
    opened(key, REASON, detail)
}

/// Encrypts the reason of an event that is about a tenant and belongs to no run.
pub(crate) fn sealed_reason(
    keyring: &dyn Keyring,
    tenant: &str,
    why: &str,
) -> Result<Vec<u8>, RuntimeError> {
    let Sealed { data_key, contents } = Sealed::of(keyring, tenant, REASON, why.as_bytes())?;
    // The length of the wrapped key stands before both.
    let length = u16::try_from(data_key.len()).map_err(RuntimeError::sealed)?;
    Ok([&length.to_le_bytes()[..], &data_key, &contents].concat())
}

/// Decrypts the reason of an event that is about a tenant and belongs to no run; `None` if it cannot be decrypted any
/// more.
pub(crate) fn opened_reason(keyring: &dyn Keyring, tenant: &str, detail: &[u8]) -> Option<String> {
    let (length, rest) = detail.split_first_chunk::<2>()?;
    let (data_key, contents) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    let sealed = Sealed {
        data_key: data_key.to_vec(),
        contents: contents.to_vec(),
    };
    let reason = sealed.open(keyring, tenant, REASON).ok()?;
    String::from_utf8(reason).ok()
}

fn record(event: AuditEvent, reason: Option<String>) -> AuditRecord {
    AuditRecord {
        number: event.number,
        at: event.at,
        kind: event.kind,
        tenant_id: event.tenant_id,
        run_id: event.run,
        seq: event.seq,
        actor: event.actor,
        subject: event.subject,
        tool_name: event.tool_name,
        reason,
        digest: hex(&event.digest),
    }
}
