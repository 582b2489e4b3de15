//! Secrets: found when a tool asks, for whom the run works, and shown to nobody.
//!
//! A tool asks by name. Who is asked for it, in this order: the run itself, the user, the workspace,
//! the organisation. The first that has it gives it.
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
//! From the moment a run knows a secret, its value is replaced by `[secret:name]`, in whatever
//! spelling it stands (raw, escaped in JSON, percent-encoded, in base64):
//!
//! - in what a tool gives back, before anybody sees it: the model, receipts, caches, recordings;
//! - in everything else that is written: events, receipts, log lines and spans, requests for
//!   approval, recordings, snapshots, the error that ends a run, and what a panic prints.
//!
//! What a *person* writes into a prompt or a task is told to the model as it is, and masked where it
//! is written down. What a tool logs itself passes through [`Masked`] if you put that under your
//! subscriber.
//!
//! A value of fewer than 4 characters cannot be masked without masking half of every text, so it is
//! refused. So is nothing else: a secret that is an ordinary word masks that word.

mod error;
mod mask;
mod panic;
mod store;
mod writer;

pub use error::SecretError;
pub(crate) use mask::Stream;
pub use mask::{Masker, SHORTEST};
pub use store::SecretStore;
pub use writer::Masked;

use crate::scope::Scope;
use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose a secret is, from the narrowest to the broadest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretScope {
    /// It was given to this run alone.
    Run,
    /// The user's own.
    User,
    /// The workspace's.
    Workspace,
    /// The whole organisation's.
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

/// Somebody who may have a secret. The organisation is always part of it, so that no tenant is ever
/// given another's.
///
/// ```
/// # use agents_core as agents;
/// use agents::{secret::Holder, tool::Scope};
///
/// let scope = Scope::from("acme").user("ada");
/// let asked: Vec<_> = Holder::of(&scope).map(|holder| holder.scope().to_string()).collect();
/// assert_eq!(asked, ["user", "organisation"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// A person.
    User {
        /// The tenant.
        org_id: String,
        /// Who.
        user_id: String,
    },
    /// A workspace.
    Workspace {
        /// The tenant.
        org_id: String,
        /// Which.
        domain_id: String,
    },
    /// The tenant itself.
    Org {
        /// Which.
        org_id: String,
    },
}

impl Holder {
    /// Whoever may have a secret for this scope, the narrowest first.
    pub fn of(scope: &Scope) -> impl Iterator<Item = Holder> {
        let org_id = scope.org_id.clone();
        let user = scope.user_id.clone().map(|user_id| Holder::User {
            org_id: org_id.clone(),
            user_id,
        });
        let workspace = scope.domain_id.clone().map(|domain_id| Holder::Workspace {
            org_id: org_id.clone(),
            domain_id,
        });
        user.into_iter()
            .chain(workspace)
            .chain([Holder::Org { org_id }])
    }

    /// How broad it is.
    pub fn scope(&self) -> SecretScope {
        match self {
            Holder::User { .. } => SecretScope::User,
            Holder::Workspace { .. } => SecretScope::Workspace,
            Holder::Org { .. } => SecretScope::Org,
        }
    }

    /// The tenant.
    pub fn org_id(&self) -> &str {
        match self {
            Holder::User { org_id, .. }
            | Holder::Workspace { org_id, .. }
            | Holder::Org { org_id } => org_id,
        }
    }
}

/// Where secrets are kept: a vault, a table, or a [`SecretStore`] in memory. Give it to
/// [`Run::secrets`](crate::agent::Run::secrets).
///
/// It is asked each time a tool asks, for one holder after the other; who comes first is not its
/// business.
///
/// ```
/// # use agents_core as agents;
/// use agents::{async_trait, secret::{Holder, SecretError, Secrets}, tool::SecretString};
///
/// /// One set of keys for everybody, from the environment.
/// struct Environment;
///
/// #[async_trait]
/// impl Secrets for Environment {
///     async fn find(&self, holder: &Holder, name: &str) -> Result<Option<SecretString>, SecretError> {
///         Ok(match holder {
///             Holder::Org { .. } => std::env::var(name.to_uppercase()).ok().map(SecretString::from),
///             _ => None,
///         })
///     }
/// }
/// ```
#[async_trait]
pub trait Secrets: Send + Sync + 'static {
    /// The secret called `name` that `holder` has; `None` if it has none.
    ///
    /// # Errors
    /// With [`SecretError::unavailable`] when that cannot be found out: then nobody broader is asked,
    /// for the right secret may be there.
    async fn find(&self, holder: &Holder, name: &str) -> Result<Option<SecretString>, SecretError>;
}

/// A secret, and whose it is. It does not print.
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
    value: SecretString,
    scope: SecretScope,
    fallback: bool,
}

impl Secret {
    pub(crate) fn of_run(value: SecretString) -> Self {
        Secret {
            value,
            scope: SecretScope::Run,
            fallback: false,
        }
    }

    /// The value: for the request that needs it, and for nothing else.
    pub fn expose_secret(&self) -> &str {
        self.value.expose_secret()
    }

    pub(crate) fn value(&self) -> &SecretString {
        &self.value
    }

    /// Whose it is.
    pub fn scope(&self) -> SecretScope {
        self.scope
    }

    /// It is the whole organisation's, although a user or a workspace was asked first.
    pub fn is_fallback(&self) -> bool {
        self.fallback
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret(of the {})", self.scope)
    }
}

/// Asks for a secret as a run does, the narrowest holder first: what a page shows that says which key
/// would be used.
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
/// When a holder cannot be asked, or the value is too short to be masked.
pub async fn resolve(
    secrets: &dyn Secrets,
    scope: &Scope,
    name: &str,
) -> Result<Option<Secret>, SecretError> {
    let narrower = scope.user_id.is_some() || scope.domain_id.is_some();
    for holder in Holder::of(scope) {
        if let Some(value) = secrets.find(&holder, name).await? {
            Masker::check(name, value.expose_secret())?;
            let scope = holder.scope();
            return Ok(Some(Secret {
                value,
                scope,
                fallback: narrower && scope == SecretScope::Org,
            }));
        }
    }
    Ok(None)
}
