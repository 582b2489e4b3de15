//! The current value of a credential: read ► refresh, if its token expires ► store.

use super::{CredentialValue, Shared};
use crate::wording;
use agents_core::secret::SecretString;
use agents_http::{Bundle, Limits};
use agents_store::{ControlStore, CredentialAnswer, CredentialKey, CredentialLease, StoreError};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// Time before its expiry at which a token is refreshed.
const EARLY: Duration = Duration::from_secs(60);
/// Longest time that the request for a new token may take.
const REFRESH: Duration = Duration::from_secs(30);
/// Time of a lease on a credential: longer than a refresh takes, including the tries to store the new token.
const LEASE: Duration = Duration::from_secs(90);
/// Longest time that a request waits for the refresh of another process.
const PATIENCE: Duration = Duration::from_secs(35);
/// Time between two looks at whether another process has refreshed the token.
const POLL: Duration = Duration::from_millis(50);
/// Time for which a token server that has failed is not asked again.
const PAUSE: Duration = Duration::from_secs(5);
/// Number of times that a process tries to store a new token before it keeps the token itself.
const WRITES: u32 = 5;

/// State of each credential in this process, behind a lock: one refresh at a time.
#[derive(Default)]
pub(super) struct Slots(Mutex<HashMap<CredentialKey, Arc<tokio::sync::Mutex<Slot>>>>);

/// Knowledge of this process about a credential, in addition to the row in the store.
#[derive(Default)]
struct Slot {
    /// New tokens that could not be stored, and the version that they replace; `None` if there are none.
    unsaved: Option<(String, Bundle)>,
    /// Last failure of the token server: the version that was to be refreshed, the time, and the reason; `None` if
    /// there was none.
    failed: Option<(String, Instant, String)>,
}

/// Result of reading a credential from the store before it is refreshed.
enum Seen {
    /// The credential can be sent: its value; `None` if there is no credential.
    Fresh(Option<SecretString>),
    /// The token expires soon, or has expired: the tokens, and their version.
    Stale(Bundle, String),
}

/// Returns the value to send for a credential; `None` if the store has no such credential. `Err` says why the value is
/// not known.
pub(super) async fn current(
    shared: &Arc<Shared>,
    key: CredentialKey,
) -> Result<Option<SecretString>, String> {
    let bundle = match shared.seen(&key).await? {
        Seen::Fresh(value) => return Ok(value),
        Seen::Stale(bundle, _) => bundle,
    };
    // Whoever refreshes it in this process holds the slot.
    if is_valid(&bundle) && shared.slots.of(&key).try_lock().is_err() {
        return Ok(Some(token(&bundle)));
    }
    // It ends even if the caller no longer waits: the old refresh token may be worthless by then.
    let shared = shared.clone();
    let work = tokio::spawn(async move { shared.refreshed(&key).await });
    work.await
        .unwrap_or_else(|failed| Err(wording::refresh_failed(&failed)))
}

impl Shared {
    async fn seen(&self, key: &CredentialKey) -> Result<Seen, String> {
        let found = self.store.credential(key).await;
        let Some(stored) = found.map_err(|error| error.to_string())? else {
            return Ok(Seen::Fresh(None));
        };
        let version = stored.version.clone();
        Ok(match self.opened(key, stored)? {
            CredentialValue::Key(key) => Seen::Fresh(Some(key)),
            CredentialValue::Token(bundle) if bundle.expires_within(EARLY) => {
                Seen::Stale(bundle, version)
            }
            CredentialValue::Token(bundle) => Seen::Fresh(Some(token(&bundle))),
        })
    }

    /// Refreshes the token of a credential, unless somebody else has done so, and returns the credential's value;
    /// `None` if the credential was removed.
    async fn refreshed(&self, key: &CredentialKey) -> Result<Option<SecretString>, String> {
        let slot = self.slots.of(key);
        let mut slot = slot.lock().await;
        let begun = Instant::now();
        loop {
            let (bundle, version) = match self.seen(key).await? {
                Seen::Fresh(value) => return Ok(value),
                Seen::Stale(bundle, version) => (bundle, version),
            };
            if let Some((before, bundle)) = slot.unsaved.take_if(|(before, _)| *before == version) {
                let counts = self.store_next(key, &before, &bundle, &mut slot, 1).await;
                match (counts, is_valid(&bundle)) {
                    (true, true) => return Ok(Some(token(&bundle))),
                    (true, false) if slot.unsaved.is_some() => return Err(wording::token_unsaved()),
                    _ => continue,
                }
            }
            let is_valid = is_valid(&bundle);
            if let Some(why) = slot.failure_of(&version) {
                return match is_valid {
                    true => Ok(Some(token(&bundle))),
                    false => Err(why.to_owned()),
                };
            }
            let lease = CredentialLease {
                version: version.clone(),
                holder: Uuid::now_v7().to_string(),
                time: LEASE,
            };
            match self.leased(key, &lease).await? {
                CredentialAnswer::Changed => {}
                CredentialAnswer::Taken { .. } if is_valid => return Ok(Some(token(&bundle))),
                CredentialAnswer::Taken { .. } if begun.elapsed() > PATIENCE => {
                    return Err(wording::refresh_elsewhere());
                }
                CredentialAnswer::Taken { wait } => sleep(wait.min(POLL)).await,
                CredentialAnswer::Leased => match bundle.refresh(&limits()).await {
                    Ok(next) => {
                        if self
                            .store_next(key, &version, &next, &mut slot, WRITES)
                            .await
                        {
                            return Ok(Some(token(&next)));
                        }
                    }
                    Err(error) => {
                        tracing::warn!(
                            credential = key.name,
                            org = key.org_id,
                            %error,
                            "a token is not refreshed"
                        );
                        self.release(key, &lease.holder).await;
                        slot.failed = Some((version, Instant::now(), error.to_string()));
                    }
                },
            }
        }
    }

    async fn leased(
        &self,
        key: &CredentialKey,
        lease: &CredentialLease,
    ) -> Result<CredentialAnswer, String> {
        let answer = self.store.lease_credential(key, lease).await;
        answer.map_err(|error| error.to_string())
    }

    /// Ends the lease on a credential, so that others may refresh it. If that fails, they wait for the end of its time.
    async fn release(&self, key: &CredentialKey, holder: &str) {
        if let Err(error) = self.store.release_credential(key, holder).await {
            tracing::warn!(credential = key.name, org = key.org_id, %error, "a lease is not released");
        }
    }

    /// Stores new tokens in place of those of the version `before`, with at most `writes` tries. If the store fails,
    /// this process keeps the tokens, and stores them with the next request. Returns `false` if the credential was
    /// changed or removed in the meantime: then the tokens are of no use.
    async fn store_next(
        &self,
        key: &CredentialKey,
        before: &str,
        bundle: &Bundle,
        slot: &mut Slot,
        writes: u32,
    ) -> bool {
        let failed = match self.sealed(key, &CredentialValue::Token(bundle.clone())) {
            Err(why) => why,
            Ok(next) => {
                let store = &*self.store;
                match tried(writes, || store.renew_credential(key, before, &next)).await {
                    Ok(is_stored) => return is_stored,
                    Err(error) => error.to_string(),
                }
            }
        };
        tracing::error!(
            credential = key.name,
            org = key.org_id,
            why = failed,
            "a refreshed token is not stored; it is lost if the process ends"
        );
        slot.unsaved = Some((before.to_owned(), bundle.clone()));
        true
    }
}

/// Tries a write up to `writes` times, as long as the store fails. Returns the result of the last try.
async fn tried<F: Future<Output = Result<bool, StoreError>>>(
    writes: u32,
    write: impl Fn() -> F,
) -> Result<bool, StoreError> {
    let mut attempt = 1;
    loop {
        match write().await {
            Err(_) if attempt < writes => sleep(POLL * 2_u32.pow(attempt)).await,
            done => return done,
        }
        attempt += 1;
    }
}

impl Slots {
    fn of(&self, key: &CredentialKey) -> Arc<tokio::sync::Mutex<Slot>> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(key.clone()).or_default().clone()
    }
}

impl Slot {
    /// Returns the reason why the token of this version could not be refreshed in the last five seconds; `None` if no
    /// refresh of it has failed in that time.
    fn failure_of(&self, version: &str) -> Option<&str> {
        let (of, at, why) = self.failed.as_ref()?;
        (of == version && at.elapsed() < PAUSE).then_some(why)
    }
}

fn is_valid(bundle: &Bundle) -> bool {
    !bundle.expires_within(Duration::ZERO)
}

fn token(bundle: &Bundle) -> SecretString {
    bundle.access_token().into()
}

fn limits() -> Limits {
    Limits {
        total: Some(REFRESH),
        ..Limits::default()
    }
}
