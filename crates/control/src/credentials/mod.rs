//! Credentials in the store of the control plane: encrypted, and each token refreshed by one process.

mod refresh;
mod value;

pub use value::CredentialValue;

use crate::{ControlError, ControlErrorKind, wording};
use agents_core::{
    async_trait,
    secret::{SecretError, SecretOwner, SecretValue, Secrets},
};
use agents_runtime::{Keyring, Sealed};
use agents_store::{ControlStore, CredentialKey, StoredCredential};
use refresh::Slots;
use std::{fmt, sync::Arc};
use uuid::Uuid;

/// Credentials of organisations and of their workspaces, in the store of a control plane. Clones share them.
///
/// They are encrypted with the keys of their tenants. A credential keeps the key with which it was stored until it is stored
/// again or refreshed, also when the keys of runs are [rotated](agents_runtime::Client::rotate). A control plane takes them by
/// [`ControlPlane::secrets`](crate::ControlPlane::secrets), and a run by its own `.secrets(..)`.
///
/// A token of OAuth is refreshed by the first request that needs it in the last minute before it expires, or later. Of
/// all processes with the same store, one does so. It takes a lease on the row, looks at the row again, asks the token
/// server, and stores the new token. The others go on with the old token while it is valid. After that, a request waits
/// about 35 seconds at most for the new one. It is a lease, because a lock would be held while the network is waited
/// for: in SQLite nobody could write, and in PostgreSQL a connection would be taken, which the server closes after half
/// a minute. A lease ends by itself if its holder dies. So a refresh token that was replaced may be sent again: if the
/// holder died before it could store the answer, if the answer was lost on its way, or if the store took no write until
/// the lease had ended. Most servers then refuse it, and somebody has to sign in again.
///
/// If the token server fails, the stored token stays as it is, and requests send it while it is valid. After that, they
/// fail with an error that names the credential. A process asks a server that fails once in five seconds at most, for
/// each credential.
///
/// ```
/// use agents_control::{Bundle, ControlPlane, Credentials, SqliteStore};
/// use agents_core::secret::{SecretOwner, Secrets};
/// use agents_runtime::FileKeyring;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("agents-doc-credentials-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let keys = folder.join("agents.db.keys");
/// let store = SqliteStore::in_memory().await?; // or `SqliteStore::open("agents.db").await?`
/// let credentials = Credentials::open(&store, FileKeyring::open(&keys)?);
/// let acme = SecretOwner::Org { org_id: "acme".to_owned() };
/// credentials.put(&acme, "openai", "sk-1").await?;
/// let bundle = Bundle::new("at-1", "https://auth.example.com/token").refresh_token("rt-1");
/// credentials.put(&acme, "anthropic", bundle).await?;
///
/// let control = ControlPlane::open(&store).secrets(credentials.clone());
/// assert!(credentials.find(&acme, "anthropic").await?.is_some());
/// # let _ = control;
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Credentials {
    shared: Arc<Shared>,
}

/// State that all clones of the credentials share.
struct Shared {
    store: Arc<dyn ControlStore>,
    keyring: Box<dyn Keyring>,
    slots: Slots,
}

impl Credentials {
    /// Opens the credentials in a store. The keyring has the keys of the tenants; it may be the one of a runtime.
    pub fn open(store: &(impl ControlStore + Clone), keyring: impl Keyring) -> Self {
        Credentials {
            shared: Arc::new(Shared {
                store: Arc::new(store.clone()),
                keyring: Box::new(keyring),
                slots: Slots::default(),
            }),
        }
    }

    /// Stores a credential, in the place of the one of the same owner and name. Credentials of the platform belong to
    /// the organisation with the empty id.
    ///
    /// # Errors
    /// When the owner is a user, when the keyring fails, or when the store fails.
    pub async fn put(
        &self,
        owner: &SecretOwner,
        name: &str,
        value: impl Into<CredentialValue>,
    ) -> Result<(), ControlError> {
        let key = owned(owner, name)?;
        let sealed = self.shared.sealed(&key, &value.into());
        let sealed = sealed.map_err(|why| ControlError::new(ControlErrorKind::Invalid, why))?;
        Ok(self.shared.store.put_credential(&key, &sealed).await?)
    }

    /// Removes a credential, so that no further request sends it. Returns `true` if the store had it.
    ///
    /// # Errors
    /// When the owner is a user, or when the store fails.
    pub async fn remove(&self, owner: &SecretOwner, name: &str) -> Result<bool, ControlError> {
        let key = owned(owner, name)?;
        Ok(self.shared.store.remove_credential(&key).await?)
    }
}

#[async_trait]
impl Secrets for Credentials {
    async fn find(
        &self,
        owner: &SecretOwner,
        name: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        let Some(key) = key_of(owner, name) else {
            return Ok(None);
        };
        let found = refresh::current(&self.shared, key).await;
        let found = found.map_err(|why| SecretError::unavailable(name, why))?;
        Ok(found.map(SecretValue::new))
    }
}

/// Returns the key under which a credential of this owner is stored; `None` for a user, who cannot own a credential
/// here.
fn key_of(owner: &SecretOwner, name: &str) -> Option<CredentialKey> {
    let (org_id, domain_id) = match owner {
        SecretOwner::Org { org_id } => (org_id.clone(), String::new()),
        SecretOwner::Workspace { org_id, domain_id } => (org_id.clone(), domain_id.clone()),
        SecretOwner::User { .. } => return None,
    };
    Some(CredentialKey {
        org_id,
        domain_id,
        name: name.to_owned(),
    })
}

fn owned(owner: &SecretOwner, name: &str) -> Result<CredentialKey, ControlError> {
    key_of(owner, name).ok_or_else(|| {
        ControlError::new(ControlErrorKind::Invalid, wording::credential_of_user(name))
    })
}

impl Shared {
    /// Encrypts a credential so that it can be decrypted only for the same owner and name. `Err` says why it cannot be
    /// encrypted.
    fn sealed(
        &self,
        key: &CredentialKey,
        value: &CredentialValue,
    ) -> Result<StoredCredential, String> {
        let json = value.to_json().map_err(|error| error.to_string())?;
        let sealed = Sealed::of(&*self.keyring, &key.org_id, &place(key), &json);
        let Sealed { data_key, contents } = sealed.map_err(|error| error.to_string())?;
        Ok(StoredCredential {
            version: Uuid::now_v7().to_string(),
            data_key,
            contents,
        })
    }

    /// Decrypts the credential that a store has under this key. `Err` says why it cannot be decrypted.
    fn opened(
        &self,
        key: &CredentialKey,
        stored: StoredCredential,
    ) -> Result<CredentialValue, String> {
        let sealed = Sealed {
            data_key: stored.data_key,
            contents: stored.contents,
        };
        let json = sealed.open(&*self.keyring, &key.org_id, &place(key));
        let json = json.map_err(|error| error.to_string())?;
        CredentialValue::of_json(&json).map_err(|error| wording::later_credential(&error))
    }
}

/// Returns the text that binds an encrypted credential to its owner and name: under another owner or name, it cannot be
/// decrypted.
fn place(key: &CredentialKey) -> String {
    let CredentialKey {
        org_id,
        domain_id,
        name,
    } = key;
    match &**domain_id {
        "" => format!("credential {name:?} of {org_id:?}"),
        domain_id => format!("credential {name:?} of {org_id:?} {domain_id:?}"),
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}
