use super::{Bundle, wording};
use crate::Limits;
use agents_core::{
    async_trait,
    model::{ModelError, ModelErrorKind as Kind},
};
use std::{
    collections::HashMap,
    error::Error,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Error of a [`BundleStore`], for instance of the database in which it keeps tokens.
pub type StoreError = Box<dyn Error + Send + Sync>;

/// Time before its expiry at which an access token is refreshed, so that it does not expire on the way.
const EARLY: Duration = Duration::from_secs(60);

/// Storage of the OAuth tokens of organisations. An application implements it for its database.
///
/// ```
/// use agents_core::async_trait;
/// use agents_http::{Bundle, BundleStore, StoreError};
/// use std::path::PathBuf;
///
/// /// A file for each organisation, in a folder that only the program can read.
/// struct Folder(PathBuf);
///
/// #[async_trait]
/// impl BundleStore for Folder {
///     async fn read(&self, org: &str) -> Result<Option<Bundle>, StoreError> {
///         match std::fs::read(self.0.join(org)) {
///             Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
///             Err(_) => Ok(None),
///         }
///     }
///
///     async fn write(&self, org: &str, bundle: &Bundle) -> Result<(), StoreError> {
///         Ok(std::fs::write(self.0.join(org), serde_json::to_vec(bundle)?)?)
///     }
/// }
/// # let _ = Folder(PathBuf::new());
/// ```
#[async_trait]
pub trait BundleStore: Send + Sync + 'static {
    /// Returns the token bundle of an organisation, or `None` if it has none. A run without an organisation asks for
    /// `""`.
    ///
    /// # Errors
    /// When the store cannot be asked.
    async fn read(&self, org: &str) -> Result<Option<Bundle>, StoreError>;

    /// Replaces the token bundle of an organisation, after it was refreshed.
    ///
    /// # Errors
    /// When the bundle cannot be stored.
    async fn write(&self, org: &str, bundle: &Bundle) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: BundleStore + ?Sized> BundleStore for Arc<S> {
    async fn read(&self, org: &str) -> Result<Option<Bundle>, StoreError> {
        (**self).read(org).await
    }

    async fn write(&self, org: &str, bundle: &Bundle) -> Result<(), StoreError> {
        (**self).write(org, bundle).await
    }
}

/// Token bundles in memory, which are lost with the process.
///
/// ```
/// use agents_http::{Bundle, MemoryBundles};
///
/// let bundles = MemoryBundles::new().with("acme", Bundle::new("at-1", "https://auth.example.com/token"));
/// assert_eq!(bundles.get("acme").unwrap().access_token(), "at-1");
/// assert!(bundles.get("globex").is_none());
/// ```
#[derive(Debug, Default)]
pub struct MemoryBundles(Mutex<HashMap<String, Bundle>>);

impl MemoryBundles {
    /// Creates a store in memory that has no tokens yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the tokens of an organisation, which is named by its id.
    #[must_use]
    pub fn with(self, org: impl Into<String>, bundle: Bundle) -> Self {
        self.all().insert(org.into(), bundle);
        self
    }

    /// Returns the token bundle of an organisation; `None` if it has none.
    pub fn get(&self, org: &str) -> Option<Bundle> {
        self.all().get(org).cloned()
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Bundle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl BundleStore for MemoryBundles {
    async fn read(&self, org: &str) -> Result<Option<Bundle>, StoreError> {
        Ok(self.get(org))
    }

    async fn write(&self, org: &str, bundle: &Bundle) -> Result<(), StoreError> {
        self.all().insert(org.to_owned(), bundle.clone());
        Ok(())
    }
}

/// Access tokens of organisations, each refreshed shortly before it expires. Clones share them.
///
/// Among the clones of one value, an organisation has one refresh at a time, whoever asks. A refresh ends even if
/// whoever waits for it is cancelled: the old refresh token may be worthless by then. The new bundle is written back.
///
/// ```
/// use agents_http::{Bundle, MemoryBundles, OAuth};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bundle = Bundle::new("at-1", "https://auth.example.com/token");
/// let oauth = OAuth::new(MemoryBundles::new().with("acme", bundle));
/// assert_eq!(oauth.token("acme").await?, "at-1");
/// // Another organisation has nothing of it.
/// assert!(oauth.token("globex").await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OAuth {
    shared: Arc<Shared>,
}

struct Shared {
    store: Box<dyn BundleStore>,
    limits: Limits,
    orgs: Mutex<HashMap<String, Slot>>,
}

/// Bundle of one organisation that could not be written to the store; mostly `None`. The lock admits one refresh at a
/// time.
type Slot = Arc<tokio::sync::Mutex<Option<Bundle>>>;

impl OAuth {
    /// Creates a source of access tokens from the bundles in this store.
    pub fn new(store: impl BundleStore) -> Self {
        let limits = Limits {
            idle: Duration::from_secs(30),
            total: Some(Duration::from_secs(60)),
            ..Limits::default()
        };
        OAuth {
            shared: Arc::new(Shared {
                store: Box::new(store),
                limits,
                orgs: Mutex::default(),
            }),
        }
    }

    /// Returns the access token of an organisation, refreshed if it has expired or expires within a minute. A refreshed
    /// token that cannot be stored is returned all the same, and an error is logged.
    ///
    /// # Errors
    /// When the organisation has no token, when the store cannot be asked, or when the token cannot be refreshed.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn token(&self, org: &str) -> Result<String, ModelError> {
        let (shared, org) = (self.shared.clone(), org.to_owned());
        let work = tokio::spawn(async move { shared.token(&org).await });
        work.await.unwrap_or_else(|failed| {
            let why = wording::not_looked_up(&failed);
            Err(ModelError::new(Kind::Setup, why))
        })
    }
}

impl Shared {
    async fn token(&self, org: &str) -> Result<String, ModelError> {
        let slot = self.slot(org);
        let mut unsaved = slot.lock().await;
        let bundle = match unsaved.take() {
            Some(bundle) => {
                self.save(org, &bundle, &mut unsaved).await;
                bundle
            }
            None => self.read(org).await?,
        };
        if !bundle.expires_within(EARLY) {
            return Ok(bundle.access_token().to_owned());
        }
        let renewed = bundle.refresh(&self.limits).await?;
        self.save(org, &renewed, &mut unsaved).await;
        Ok(renewed.access_token().to_owned())
    }

    /// Writes a refreshed bundle to the store. If that fails, this process keeps it, and tries again at the next
    /// request.
    async fn save(&self, org: &str, bundle: &Bundle, unsaved: &mut Option<Bundle>) {
        if let Err(error) = self.store.write(org, bundle).await {
            tracing::error!(org, %error, "a refreshed token is not stored; it is lost if the process ends");
            *unsaved = Some(bundle.clone());
        }
    }

    async fn read(&self, org: &str) -> Result<Bundle, ModelError> {
        let setup = |why: String| ModelError::new(Kind::Setup, why);
        let found = self
            .store
            .read(org)
            .await
            .map_err(|error| setup(wording::store_fails(&error)))?;
        found.ok_or_else(|| setup(wording::no_credential(org)))
    }

    fn slot(&self, org: &str) -> Slot {
        let mut orgs = self.orgs.lock().unwrap_or_else(PoisonError::into_inner);
        orgs.entry(org.to_owned()).or_default().clone()
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OAuth")
    }
}
