//! Dead letters: notifications that a subscriber has not taken, and runs that cannot go on.

mod wording;

use crate::{
    Action, Client, Principal, RuntimeError,
    audit::sealed_reason,
    data::key_of,
    notifications::{Failures, NotificationContents, key_of_letter},
    summary::masked,
};
use agents_core::{Json, run::Timestamp};
use agents_store::{
    HeldKind, Letter, LetterFailure, LetterFilter, Replay, ReplayOf, Run, RunFilter, RunStatus,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Maximum number of dead letters in one list.
const MOST: u32 = 1000;

/// Dead letters of a store: lists, shows and replays them. [`Client::letters`] returns them.
///
/// A letter is dead when its subscriber has failed at the last try of the letter, or when its contents cannot be read.
/// A run that is held because it cannot go on is a dead letter, too. A run that people hold, since somebody has paused
/// it or all runs are held, is no dead letter.
///
/// ```
/// use agents_runtime::{Client, LetterQuery, Principal, RuntimeError};
///
/// /// Replays what the subscriber `invoices` has not taken.
/// async fn mend(client: &Client, grace: &Principal) -> Result<(), RuntimeError> {
///     let invoices = LetterQuery { handler_name: Some("invoices".into()), ..LetterQuery::default() };
///     for letter in client.letters().list(&invoices, grace).await? {
///         client.letters().replay(&letter.event_id, "the printer is back", grace).await?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Letters {
    client: Client,
}

/// Choice of dead letters. The default chooses the newest 100. A letter is chosen if it fits each field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LetterQuery {
    /// Chooses dead letters of this tenant, if set. A principal of a tenant has no others.
    pub tenant: Option<String>,
    /// Chooses notifications for the subscriber of this name, and runs of the agent of this name, if set.
    pub handler_name: Option<String>,
    /// Chooses dead letters that died at least this long ago, if set.
    pub older_than: Option<Duration>,
    /// Chooses dead letters that died at most this long ago, if set.
    pub younger_than: Option<Duration>,
    /// Maximum number of dead letters that are returned; 0 for 100, and at most 1000.
    pub limit: u32,
}

/// Dead letter as lists show it: without its payload. Serialized, it has the fields that tools and pages use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Id of the letter, or of the run that is held.
    pub event_id: String,
    /// Kind of the dead letter: a notification or a run.
    pub kind: DeadLetterKind,
    /// Name of the kind of notification, such as `shop.order_shipped`; `None` if the dead letter is a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_name: Option<String>,
    /// Name of the subscriber, or of the run's agent.
    pub handler_name: String,
    /// Tenant that the notification is about, or that the run works for.
    pub tenant_id: String,
    /// Kind of the last failure, as a word; for a run the kind of reason for which it is held.
    pub failure: String,
    /// Number of all tries so far; for a run its [fencing token](Run::fence), which grows with each worker that takes
    /// the run.
    pub attempts: u64,
    /// Number of replays of the letter so far; 0 for a run.
    pub replays: u32,
    /// Time at which the notification was published, or the run was started.
    pub published_at: Timestamp,
    /// Time at which the letter died, or at which the held run was last changed.
    pub died_at: Timestamp,
}

/// Kind of a [`DeadLetter`]: a notification or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeadLetterKind {
    /// The dead letter is a notification that a subscriber has not taken.
    Notification,
    /// The dead letter is a run that cannot go on.
    Run,
}

/// Dead letter with its payload and its failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeadLetterDetail {
    /// The dead letter, in the same form as in lists.
    #[serde(flatten)]
    pub letter: DeadLetter,
    /// Id of the notification, which its subscribers see; `None` for a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_id: Option<String>,
    /// Principal who has published the notification, or started the run; `None` if nobody was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_by: Option<String>,
    /// Payload of the notification, or input of the run; `None` if it cannot be read, or is not for this principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    /// Reason why there is no payload; `None` if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_missing: Option<String>,
    /// Failures of the letter's tries, the oldest first, without addresses, long numbers and keys. Of more than 20
    /// failures, some in the middle are missing. For a run, the list has the reason why it is held.
    pub failure_history: Vec<LetterFailureRecord>,
}

/// Failure of one try to hand a letter to its subscriber, or the reason why a run is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LetterFailureRecord {
    /// Number of the try among all tries to hand over the letter; for a run its fencing token.
    pub attempt: u64,
    /// Time at which the try failed, or at which the held run was last changed.
    pub at: Timestamp,
    /// Kind of the failure, as a word, such as `timed_out`.
    pub failure: String,
    /// Error of the try in words, without addresses, long numbers and keys.
    pub error: String,
}

impl DeadLetter {
    fn of(letter: &Letter) -> Option<Self> {
        Some(DeadLetter {
            event_id: letter.id.clone(),
            kind: DeadLetterKind::Notification,
            event_name: Some(letter.name.clone()),
            handler_name: letter.subscriber.clone(),
            tenant_id: letter.tenant.clone(),
            failure: letter.failure.unwrap_or(LetterFailure::Failed).to_string(),
            attempts: letter.fence,
            replays: letter.replays,
            published_at: letter.published_at,
            died_at: letter.died_at?,
        })
    }

    /// Returns a run that cannot go on as a dead letter; `None` for a run that is not held, or that people hold.
    fn of_run(run: &Run) -> Option<Self> {
        let held = run.held.as_ref().filter(|_| run.status == RunStatus::Held);
        let kind = held.map_or(HeldKind::Unknown, |held| held.kind);
        if run.status != RunStatus::Held || matches!(kind, HeldKind::Paused | HeldKind::All) {
            return None;
        }
        Some(DeadLetter {
            event_id: run.id.clone(),
            kind: DeadLetterKind::Run,
            event_name: None,
            handler_name: run.agent.clone(),
            tenant_id: run.tenant.clone(),
            failure: kind.to_string(),
            attempts: run.fence,
            replays: 0,
            published_at: run.created_at,
            died_at: run.updated_at,
        })
    }
}

/// Dead letter that was found: a letter, or a run.
enum Found {
    Letter(Box<Letter>, DeadLetter),
    Run(Box<Run>, DeadLetter),
}

impl Client {
    /// Returns the dead letters of the store, for listing, showing and replaying them.
    pub fn letters(&self) -> Letters {
        Letters {
            client: self.clone(),
        }
    }
}

impl Letters {
    /// Returns dead letters, those that were published last first. Of runs that are held, the newest 1000 are looked at.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(
        &self,
        query: &LetterQuery,
        by: &Principal,
    ) -> Result<Vec<DeadLetter>, RuntimeError> {
        let Ok(tenant) = by.narrows(query.tenant.as_deref()) else {
            return Ok(Vec::new());
        };
        let limit = match query.limit {
            0 => 100,
            limit => limit.min(MOST),
        };
        let store = self.client.bare_store();
        let now = store.now().await?.as_millis();
        let ago = |time: Duration| {
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            Timestamp::from_millis(now.saturating_sub(time))
        };
        let (since, until) = (query.younger_than.map(ago), query.older_than.map(ago));
        let letters = LetterFilter {
            tenant: tenant.clone(),
            subscriber: query.handler_name.clone(),
            dead: Some(true),
            died_since: since,
            // A letter that died at this very moment has the age 0.
            died_until: until.map(|until| Timestamp::from_millis(until.as_millis() + 1)),
            before: None,
            limit,
        };
        let held = RunFilter {
            tenant,
            agent: query.handler_name.clone(),
            status: Some(RunStatus::Held),
            limit: MOST,
            ..RunFilter::default()
        };
        let letters = store.letters(&letters).await?;
        let held = store.runs(&held).await?;
        let held = held.iter().filter_map(DeadLetter::of_run);
        let held = held.filter(|run| {
            since.is_none_or(|since| run.died_at >= since)
                && until.is_none_or(|until| run.died_at <= until)
        });
        let mut all: Vec<_> = letters
            .iter()
            .filter_map(DeadLetter::of)
            .chain(held)
            .collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.published_at));
        all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(all)
    }

    /// Returns a dead letter with its payload and its failures. The payload is there for principals who [may see
    /// contents](Client::may_see_contents).
    ///
    /// # Errors
    /// When there is no such dead letter for this principal, the keyring cannot be opened, or the store fails.
    pub async fn get(&self, id: &str, by: &Principal) -> Result<DeadLetterDetail, RuntimeError> {
        let keys = self.client.keys()?;
        let (payload, mut detail, may_see) = match self.found(id, by).await? {
            Found::Letter(letter, dead) => {
                let key = key_of_letter(&letter, &*keys);
                let failures = key.as_ref().map(|key| Failures::of(&letter, key));
                let failures = failures.unwrap_or_default().0.into_iter();
                let failures = failures.map(|failure| LetterFailureRecord {
                    attempt: failure.attempt,
                    at: failure.at,
                    failure: failure.kind.to_string(),
                    error: failure.error,
                });
                let payload = key.and_then(|key| {
                    let contents = NotificationContents::of(&letter, &key)?;
                    Ok(contents.payload)
                });
                let detail = DeadLetterDetail {
                    letter: dead,
                    notification_id: Some(letter.notification.clone()),
                    published_by: letter.published_by.clone(),
                    payload: None,
                    payload_missing: None,
                    failure_history: failures.collect(),
                };
                (payload, detail, self.client.may_see_contents(by))
            }
            Found::Run(run, dead) => {
                let data = self.client.data_of(&run);
                let why = run.held.as_ref().map(|held| LetterFailureRecord {
                    attempt: run.fence,
                    at: run.updated_at,
                    failure: held.kind.to_string(),
                    error: masked(&held.why),
                });
                let detail = DeadLetterDetail {
                    letter: dead,
                    notification_id: None,
                    published_by: run.started_by.clone(),
                    payload: None,
                    payload_missing: None,
                    failure_history: why.into_iter().collect(),
                };
                let may_see = self.client.may_see_contents_of(&run, by).await?;
                (data.map(|data| data.input), detail, may_see)
            }
        };
        match payload {
            _ if !may_see => {
                detail.payload_missing = Some(wording::may_not_see(by.id()));
            }
            Ok(payload) => detail.payload = Some(payload),
            Err(error) => detail.payload_missing = Some(error.to_string()),
        }
        Ok(detail)
    }

    /// Replays a dead letter: its subscriber gets the notification again, with as many tries as at first. A dead letter
    /// that is a held run is released, so that the run goes on. The audit trail keeps the reason. If several principals
    /// replay the same letter at once, one of them succeeds, and the others get an error.
    ///
    /// # Errors
    /// When there is no such dead letter for this principal, the letter is not dead or the run is not held any more,
    /// the [roles](crate::Roles) forbid it, no reason is given, or the store fails.
    pub async fn replay(&self, id: &str, reason: &str, by: &Principal) -> Result<(), RuntimeError> {
        if reason.trim().is_empty() {
            return Err(wording::no_reason());
        }
        // With another keyring nothing can be replayed, and no refusal can be told.
        let store = self.client.store().await?;
        let keys = self.client.keys()?;
        let (action, of, tenant, detail) = match self.found_alive(id, by).await? {
            Found::Letter(letter, _) => {
                let detail = sealed_reason(&*keys, &letter.tenant, reason)?;
                let of = ReplayOf::Letter(letter.id);
                (Action::Replay, of, letter.tenant, Some(detail))
            }
            Found::Run(run, _) => {
                let key = key_of(&run, &*keys);
                let detail = key.ok().and_then(|key| crate::audit::reason(&key, reason));
                (Action::Release, ReplayOf::Run(run.id), run.tenant, detail)
            }
        };
        self.client.allowed(action, Some(&tenant), by).await?;
        let replay = Replay {
            of,
            tenant: Some(tenant),
            by: by.id().to_owned(),
            detail,
        };
        Ok(store.replay(&replay).await?)
    }

    /// Removes a subscriber, and its letters except for dead ones. Call this method when no worker has the subscriber
    /// any more.
    ///
    /// # Errors
    /// When the principal is no operator, or the store fails.
    pub async fn unsubscribe(&self, subscriber: &str, by: &Principal) -> Result<(), RuntimeError> {
        self.client.allowed(Action::Webhooks, None, by).await?;
        Ok(self.client.store().await?.unsubscribe(subscriber).await?)
    }

    /// Returns a dead letter; an error if there is none that the principal may see.
    async fn found(&self, id: &str, by: &Principal) -> Result<Found, RuntimeError> {
        self.look(id, by)
            .await?
            .ok_or_else(|| wording::no_letter(id))
    }

    /// Returns a dead letter that can be replayed; an error if there is none that the principal may see. A letter that
    /// is not dead, or a run that is not held, has an error of its own.
    async fn found_alive(&self, id: &str, by: &Principal) -> Result<Found, RuntimeError> {
        if let Some(found) = self.look(id, by).await? {
            return Ok(found);
        }
        let store = self.client.bare_store();
        let is_own = |tenant: &str| by.tenant().is_none_or(|own| own == tenant);
        let letter = store.letter(id).await?.filter(|one| is_own(&one.tenant));
        let run = store.run(id).await?.filter(|run| is_own(&run.tenant));
        Err(match (letter, run) {
            (Some(letter), _) => wording::alive(&letter),
            (None, Some(run)) if run.status != RunStatus::Held => wording::not_held(&run),
            _ => wording::no_letter(id),
        })
    }

    async fn look(&self, id: &str, by: &Principal) -> Result<Option<Found>, RuntimeError> {
        let store = self.client.bare_store();
        let is_own = |tenant: &str| by.tenant().is_none_or(|own| own == tenant);
        if let Some(letter) = store.letter(id).await?.filter(|one| is_own(&one.tenant)) {
            let dead = DeadLetter::of(&letter);
            return Ok(dead.map(|dead| Found::Letter(Box::new(letter), dead)));
        }
        let run = store.run(id).await?.filter(|run| is_own(&run.tenant));
        Ok(run.and_then(|run| {
            let dead = DeadLetter::of_run(&run)?;
            Some(Found::Run(Box::new(run), dead))
        }))
    }
}
