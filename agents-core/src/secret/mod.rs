//! Secrets: looked up when a tool asks, on behalf of the run's scope, and masked wherever text is written.
//!
//! A tool asks for a secret by name. The secret is looked up in this order: the run itself, the user, the
//! workspace, the organisation. The first one found is used.
//!
//! ```
//! # use agents_core as agents;
//! use agents::{ToolContext, secret::{SecretError, SecretScope, SecretStore, resolve}, tool::Scope};
//!
//! // In a tool:
//! async fn ask_crm(question: String, cx: &ToolContext) -> Result<String, SecretError> {
//!     let key = cx.secret("crm").await?;
//!     // send(question, key.expose_secret())
//! #   let _ = (question, key);
//!     Ok("nobody is called ACME".into())
//! }
//!
//! // Where the program is put together: `agent.run(..).scope(scope).secrets(secrets)`
//! let secrets = SecretStore::new()
//!     .org("acme", "crm", "the-key-of-all-of-acme")
//!     .user("acme", "ada", "crm", "the-key-of-ada");
//! let scope = Scope::from("acme").user("ada");
//!
//! // Where somebody wants to know whose would be used:
//! # tokio_test(async {
//! let found = resolve(&secrets, &scope, "crm").await?.unwrap();
//! assert_eq!(found.scope(), SecretScope::User);
//! # Ok::<_, SecretError>(())
//! # });
//! # fn tokio_test<F: Future<Output = Result<(), SecretError>>>(work: F) {
//! #     tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work).unwrap();
//! # }
//! ```
//!
//! # What is masked
//!
//! From the moment a run knows a secret, its value is replaced by `[secret:name]`:
//!
//! - in a tool's result, before the model, receipts or caches get it;
//! - in everything else that is written: events, receipts, log lines and spans, requests for
//!   approval, journals, the error that ends a run, and what a panic prints.
//!
//! Text that a *person* writes into a prompt or a task reaches the model unchanged, but is masked in all records.
//! A tool's own log lines are masked only if you put [`Masked`] under your subscriber.
//!
//! # What masking protects against
//!
//! Masking protects against *accidents*: a tool, a server or a library repeats a secret in an output, an error or a
//! panic. Therefore it finds the value in each encoding that programs apply without being asked: escapes with
//! backslashes (JSON, `Debug`), percent-encoding, base64 of either alphabet and at any position, and up to six of these
//! in one another, two of them base64. White space and `+` count as the same. A value that was shortened with `…` is
//! found if at least 4 of its characters are left. The time is linear in the length of the text, and bounded whatever
//! the text is.
//!
//! Masking does not protect against a program that *wants* to reveal a secret: a tool that has a secret can reverse it,
//! encrypt it or send it away. It does not find
//!
//! - other encodings: hexadecimal, HTML entities, compression, other character sets, other letter case;
//! - a value of which only a part was encoded a second time, and a value in several strings of a JSON text;
//! - a part of a value that is not followed by `…`;
//! - a secret in text with so many escapes within escapes that the search stops before their end;
//! - a secret that the run has not learnt yet.
//!
//! # The panic hook
//!
//! The process's panic hook prints a panic before any code can catch it. The first secret that any run of the
//! process learns, from [`Run::secret`](crate::agent::Run::secret), a vault or [`Masker::learn`], installs a hook,
//! once and for the rest of the process. Without a secret no hook is installed. The new hook wraps the hook that
//! is set at that moment:
//!
//! - if the message of a panic holds no secret of a run in progress, the earlier hook is called, unchanged;
//! - otherwise the place and the masked message go to the log, as an `error` of `tracing`, and the earlier
//!   hook is not called.
//!
//! To use a hook of your own, set it before the first run with secrets, so that it is wrapped. A hook that is
//! set later replaces this one and prints the message unmasked.
//!
//! A value of fewer than 4 characters, without the white space around it, is refused, since masking it would mask half
//! of every text. There is no other restriction: a secret that is an ordinary word masks that word.

mod error;
mod mask;
mod store;
mod value;
mod writer;

pub use error::SecretError;
pub use mask::Masker;
#[cfg(feature = "recordings")]
pub(crate) use mask::shown;
pub(crate) use mask::{Reference, Stream, references};
/// Text that does not print, and the trait by which it is read; re-exported from `secrecy`.
pub use secrecy::{ExposeSecret, SecretString};
pub use store::SecretStore;
pub use value::SecretValue;
pub use writer::Masked;

use crate::{Json, scope::Scope};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Minimum length of a secret, in characters.
const MIN_SECRET_CHARS: usize = 4;

/// Scope of a secret: whose it is, from the narrowest to the broadest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretScope {
    /// The secret was given to this run alone.
    Run,
    /// The secret belongs to the user for whom the run works.
    User,
    /// The secret belongs to the workspace for which the run works.
    Workspace,
    /// The secret belongs to the organisation for which the run works.
    Org,
}

impl fmt::Display for SecretScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SecretScope::Run => "run",
            SecretScope::User => "user",
            SecretScope::Workspace => "workspace",
            SecretScope::Org => "organisation",
        })
    }
}

/// Owner of a secret: an organisation (tenant), or a workspace or a user of it.
///
/// Every owner names its organisation, so that no tenant is ever given the secret of another.
///
/// ```
/// # use agents_core as agents;
/// use agents::{secret::SecretOwner, tool::Scope};
///
/// let scope = Scope::from("acme").user("ada");
/// let asked: Vec<_> = SecretOwner::of(&scope).map(|owner| owner.scope().to_string()).collect();
/// assert_eq!(asked, ["user", "organisation"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretOwner {
    /// A user of an organisation, for whom runs work.
    User {
        /// Id of the organisation (the tenant) that the user belongs to.
        org_id: String,
        /// Id of the user that owns the secret.
        user_id: String,
    },
    /// A workspace of an organisation, for all runs that work for it.
    Workspace {
        /// Id of the organisation (the tenant) that the workspace belongs to.
        org_id: String,
        /// Id of the workspace that owns the secret.
        domain_id: String,
    },
    /// An organisation, for all runs that work for it.
    Org {
        /// Id of the organisation (the tenant) that owns the secret.
        org_id: String,
    },
}

impl SecretOwner {
    /// Returns the owners whose secrets a scope may use, the narrowest first.
    pub fn of(scope: &Scope) -> impl Iterator<Item = SecretOwner> {
        let org_id = scope.org_id.clone();
        let user = scope.user_id.clone().map(|user_id| SecretOwner::User {
            org_id: org_id.clone(),
            user_id,
        });
        let workspace = scope
            .domain_id
            .clone()
            .map(|domain_id| SecretOwner::Workspace {
                org_id: org_id.clone(),
                domain_id,
            });
        user.into_iter()
            .chain(workspace)
            .chain([SecretOwner::Org { org_id }])
    }

    /// Returns the scope in which this owner's secrets apply: `user`, `workspace` or `organisation`.
    pub fn scope(&self) -> SecretScope {
        match self {
            SecretOwner::User { .. } => SecretScope::User,
            SecretOwner::Workspace { .. } => SecretScope::Workspace,
            SecretOwner::Org { .. } => SecretScope::Org,
        }
    }

    /// Returns the id of the organisation (the tenant).
    pub fn org_id(&self) -> &str {
        match self {
            SecretOwner::User { org_id, .. }
            | SecretOwner::Workspace { org_id, .. }
            | SecretOwner::Org { org_id } => org_id,
        }
    }
}

/// Source of secrets: a vault, a database, or a [`SecretStore`] in memory.
///
/// [`Run::secrets`](crate::agent::Run::secrets) takes a source.
///
/// A source is asked each time a tool asks for a secret that the run itself was not given: for one owner after the
/// other, the narrowest first, until one has the secret. The order of the owners is not the source's concern.
///
/// ```
/// # use agents_core as agents;
/// use agents::{async_trait, secret::{SecretError, SecretOwner, SecretValue, Secrets}};
///
/// /// One set of keys for everybody, from the environment.
/// struct Environment;
///
/// #[async_trait]
/// impl Secrets for Environment {
///     async fn find(&self, owner: &SecretOwner, name: &str) -> Result<Option<SecretValue>, SecretError> {
///         Ok(match owner {
///             SecretOwner::Org { .. } => std::env::var(name.to_uppercase()).ok().map(SecretValue::from),
///             _ => None,
///         })
///     }
/// }
/// ```
#[async_trait]
pub trait Secrets: Send + Sync + 'static {
    /// Returns the secret called `name` of this owner, or `None` if the owner has no such secret.
    ///
    /// # Errors
    /// [`SecretError::unavailable`] when the source cannot be asked. No broader owner is then asked, because the
    /// right secret may be in the source.
    async fn find(
        &self,
        owner: &SecretOwner,
        name: &str,
    ) -> Result<Option<SecretValue>, SecretError>;

    /// Returns one version of the secret called `name`, for a run whose journal refers to that version; `None` if the
    /// source does not have the version any more.
    ///
    /// Without an implementation of your own, only the current version is found.
    ///
    /// # Errors
    /// Like [`find`](Self::find).
    async fn find_version(
        &self,
        owner: &SecretOwner,
        name: &str,
        version: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        let found = self.find(owner, name).await?;
        Ok(found.filter(|value| value.version_name() == Some(version)))
    }
}

#[async_trait]
impl<S: Secrets + ?Sized> Secrets for Arc<S> {
    async fn find(
        &self,
        owner: &SecretOwner,
        name: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        (**self).find(owner, name).await
    }

    async fn find_version(
        &self,
        owner: &SecretOwner,
        name: &str,
        version: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        (**self).find_version(owner, name, version).await
    }
}

/// A secret and its scope. The value of the secret appears neither in `Debug` output nor in any log.
///
/// ```
/// # use agents_core as agents;
/// use agents::{ToolContext, secret::SecretError};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), SecretError> {
///
/// async fn header(cx: &ToolContext) -> Result<String, SecretError> {
///     let key = cx.secret("crm").await?;
///     tracing::debug!(?key, "asking"); // the owner is logged, never the value
///     Ok(format!("Bearer {}", key.expose_secret()))
/// }
/// assert!(header(&ToolContext::detached("ask_crm")).await.unwrap_err().is_missing());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Secret {
    value: SecretValue,
    scope: SecretScope,
    fallback: bool,
}

impl Secret {
    pub(crate) fn of_run(value: SecretValue) -> Self {
        Secret {
            value,
            scope: SecretScope::Run,
            fallback: false,
        }
    }

    /// Returns the value of the secret. Use it in the request that needs it and nowhere else.
    pub fn expose_secret(&self) -> &str {
        self.value.text().expose_secret()
    }

    /// Returns the version of the secret; `None` if its source has no versions.
    pub fn version(&self) -> Option<&str> {
        self.value.version_name()
    }

    /// Makes a run's masker hide the secret, under this name. A value that has fewer than 4 characters, without the
    /// white space around it, is an error.
    pub(crate) fn hide(&self, name: &str, masker: &Arc<Masker>) -> Result<(), SecretError> {
        let reference = Reference {
            scope: self.scope,
            name: name.to_owned(),
            version: self.version().map(str::to_owned),
        };
        masker.learn_as(reference, &self.value)
    }

    /// Returns the scope of the secret: whose it is.
    pub fn scope(&self) -> SecretScope {
        self.scope
    }

    /// Returns `true` if the secret is the organisation's, although a user or a workspace was asked first.
    pub fn is_fallback(&self) -> bool {
        self.fallback
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret(of the {})", self.scope)
    }
}

/// Looks up a secret as a run does, asking the narrowest owner first; `None` if no owner has the secret. One use is to
/// show which key a run would use.
///
/// ```
/// # use agents_core as agents;
/// use agents::secret::{SecretError, SecretScope, SecretStore, resolve};
/// use agents::tool::Scope;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), SecretError> {
///
/// let secrets = SecretStore::new().org("acme", "crm", "the key of all");
/// let secret = resolve(&secrets, &Scope::from("acme").user("ada"), "crm").await?.unwrap();
/// assert_eq!(secret.scope(), SecretScope::Org);
/// assert!(secret.is_fallback(), "Ada was asked first");
/// assert_eq!(format!("{secret:?}"), "Secret(of the organisation)");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When an owner's secrets cannot be looked up, or the value is too short to be masked.
pub async fn resolve(
    secrets: &dyn Secrets,
    scope: &Scope,
    name: &str,
) -> Result<Option<Secret>, SecretError> {
    let narrower = scope.user_id.is_some() || scope.domain_id.is_some();
    for owner in SecretOwner::of(scope) {
        if let Some(value) = secrets.find(&owner, name).await? {
            Masker::check(name, value.text().expose_secret())?;
            let scope = owner.scope();
            return Ok(Some(Secret {
                value,
                scope,
                fallback: narrower && scope == SecretScope::Org,
            }));
        }
    }
    Ok(None)
}

/// Puts secrets in the place of the references to them in a stored value, such as `journal::Began::stored_args` (feature
/// `recordings`). Returns the value, and the names and values of the secrets that were found. A reference whose secret is
/// not found stays, as does one to a secret of the run itself, and a call whose arguments hold one fails.
///
/// # Errors
/// When an owner's secrets cannot be looked up, or a value is too short to be masked.
pub async fn restore(
    stored: &Json,
    secrets: &dyn Secrets,
    scope: &Scope,
) -> Result<(Json, Vec<(String, SecretValue)>), SecretError> {
    let (masker, mut found) = (Arc::new(Masker::new()), Vec::new());
    for reference in references(stored.as_str()) {
        if let Some(value) = resolve_reference(secrets, scope, &reference).await? {
            found.push((reference.name.clone(), value.of_no_version()));
            masker.learn_as(reference, &value)?;
        }
    }
    let restored = masker.restored(stored.as_str()).into_owned();
    let restored = Json::parse(restored).unwrap_or_else(|_| stored.clone());
    Ok((restored, found))
}

/// Looks up the secret to which a reference in a journal leads: of the reference's scope and, if the reference names a
/// version, of that version. Returns `None` if there is no such secret, and for a secret of the run itself.
pub(crate) async fn resolve_reference(
    secrets: &dyn Secrets,
    scope: &Scope,
    reference: &Reference,
) -> Result<Option<SecretValue>, SecretError> {
    let Some(owner) = SecretOwner::of(scope).find(|owner| owner.scope() == reference.scope) else {
        return Ok(None);
    };
    let found = match &reference.version {
        Some(version) => secrets.find_version(&owner, &reference.name, version),
        None => secrets.find(&owner, &reference.name),
    };
    found.await
}
