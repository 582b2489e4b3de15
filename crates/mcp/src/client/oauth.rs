//! Authorization at servers that are reached by HTTP: OAuth 2.1 with PKCE.
//!
//! ```text
//! 401, 403 ── challenge ──► Authorization ── discovery, registration ──► URL ── a person ──► callback ── code ──► tokens
//! ```

use super::{McpError, wording};
use agents_core::{async_trait, tool::Scope};
use reqwest::Client;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationCallback, AuthorizationManager, CredentialStore,
    OAuthClientConfig, StoredCredentials, WWWAuthenticateParams,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    error::Error,
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex as SyncMutex, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};
use tokio::sync::Mutex;

type Visit =
    dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync;

/// Error of a [`TokenStore`]: any error of the application's storage.
pub type TokenError = Box<dyn Error + Send + Sync>;

/// Store for the tokens that authorization servers have given this client.
///
/// ```
/// use agents::{async_trait, tool::Scope};
/// use agents_mcp::{TokenError, TokenStore};
/// use std::{collections::HashMap, sync::Mutex};
///
/// /// A store in memory. Tokens are as secret as passwords: a store that keeps them longer encrypts them.
/// #[derive(Default)]
/// struct Memory(Mutex<HashMap<(String, Scope), String>>);
///
/// #[async_trait]
/// impl TokenStore for Memory {
///     async fn load(&self, server: &str, scope: &Scope) -> Result<Option<String>, TokenError> {
///         let key = (server.to_owned(), scope.clone());
///         Ok(self.0.lock().unwrap().get(&key).cloned())
///     }
///
///     async fn save(&self, server: &str, scope: &Scope, tokens: Option<String>) -> Result<(), TokenError> {
///         let key = (server.to_owned(), scope.clone());
///         let mut stored = self.0.lock().unwrap();
///         match tokens {
///             Some(tokens) => _ = stored.insert(key, tokens),
///             None => _ = stored.remove(&key),
///         }
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    /// Returns the text that was saved last for this server and this scope; `None` if none is saved. `server` is a URL.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn load(&self, server: &str, scope: &Scope) -> Result<Option<String>, TokenError>;

    /// Saves tokens as a text that only this crate reads; `None` removes them.
    ///
    /// # Errors
    /// When the store cannot be written.
    async fn save(
        &self,
        server: &str,
        scope: &Scope,
        tokens: Option<String>,
    ) -> Result<(), TokenError>;
}

/// Settings for the authorization of this client at a server by OAuth: who the client is, where people are led back to,
/// and where tokens are kept.
///
/// The rest is discovered: the server names its authorization server, which names its addresses. If no client is
/// [given](OAuth::client), this client presents [its URL](OAuth::client_metadata_url) where the authorization server
/// reads such documents. Otherwise it registers. Tokens are refreshed when they expire.
///
/// ```
/// use agents_mcp::{self as mcp, Mcp, OAuth};
///
/// static LINEAR: Mcp = mcp::lazy(|_scope| {
///     mcp::http("https://mcp.linear.app/mcp").oauth(OAuth::new("https://app.example.com/linear/callback"))
/// });
///
/// # use agents::tool::Scope;
/// // A web application: the person is sent to the first address, and comes back to the second one.
/// async fn connect(scope: &Scope) -> Result<String, mcp::McpError> {
///     LINEAR.authorization_url(scope).await
/// }
///
/// async fn callback(scope: &Scope, url: &str) -> Result<(), mcp::McpError> {
///     LINEAR.authorize(scope, url).await
/// }
/// # let _ = (connect, callback);
/// ```
#[derive(Clone)]
#[must_use = "it authorizes at a server: `mcp::http(..).oauth(..)`"]
pub struct OAuth {
    redirect_uri: String,
    name: String,
    client: Option<(String, Option<String>)>,
    metadata_url: Option<String>,
    scopes: Vec<String>,
    /// Store of the application; `None` keeps the tokens in memory.
    store: Option<Arc<dyn TokenStore>>,
    visit: Option<Arc<Visit>>,
}

impl OAuth {
    /// Creates the settings, with the address of the application to which people are led back.
    pub fn new(redirect_uri: impl Into<String>) -> Self {
        OAuth {
            redirect_uri: redirect_uri.into(),
            name: "agents".to_owned(),
            client: None,
            metadata_url: None,
            scopes: Vec::new(),
            store: None,
            visit: None,
        }
    }

    /// Sets the name of this client, which people see when they are asked to authorize it; `agents` by default.
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the id of this client, and the secret if there is one, with which it is already registered at the
    /// authorization server.
    pub fn client(mut self, id: impl Into<String>, secret: Option<String>) -> Self {
        self.client = Some((id.into(), secret));
        self
    }

    /// Sets the HTTPS address of the document that describes this client. Some authorization servers read it instead of
    /// a registration.
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets the OAuth scopes that are asked for. By default, they are those that the server says it needs.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the store of the tokens. By default they are in memory, and end with the [`Mcp`](super::Mcp): those of a static
    /// end with the process.
    pub fn store(mut self, store: impl TokenStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets how a person is brought to an address while an agent waits, for a program at a terminal: it prints the
    /// address and listens. The function gets the address, and returns the address to which the person was led back,
    /// with its query.
    ///
    /// Without this function, an agent that needs the server fails, and the application brings the person to the
    /// authorization server: see [`Mcp::authorization_url`](super::Mcp::authorization_url).
    pub fn visits<F, Fut, E>(mut self, visit: F) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, E>> + Send + 'static,
        E: fmt::Display,
    {
        self.visit = Some(Arc::new(move |url| {
            let visited = visit(url);
            Box::pin(async { visited.await.map_err(|error| error.to_string()) })
        }));
        self
    }
}

/// Shows the settings without the client's secret.
impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

/// Tokens that are kept in memory, by the URL of the server and the scope.
#[derive(Default)]
pub(super) struct InMemory(SyncMutex<HashMap<(String, Scope), String>>);

#[async_trait]
impl TokenStore for InMemory {
    async fn load(&self, server: &str, scope: &Scope) -> Result<Option<String>, TokenError> {
        let key = (server.to_owned(), scope.clone());
        let stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(stored.get(&key).cloned())
    }

    async fn save(
        &self,
        server: &str,
        scope: &Scope,
        tokens: Option<String>,
    ) -> Result<(), TokenError> {
        let key = (server.to_owned(), scope.clone());
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match tokens {
            Some(tokens) => _ = stored.insert(key, tokens),
            None => _ = stored.remove(&key),
        }
        Ok(())
    }
}

/// Authorization of this client at one server, for one scope.
pub(super) struct Authorization {
    server: String,
    url: String,
    oauth: OAuth,
    kept: Kept,
    state: Mutex<State>,
    /// Lock that is held while a person is at the authorization server, so that only one is brought there at a time.
    visits: Mutex<()>,
    /// Number of times that a person has authorized this client, by which waiting requests notice that it happened.
    allowed: AtomicU64,
}

#[derive(Default)]
struct State {
    /// HTTP client with its tokens; `None` until the store was asked for them.
    client: Option<AuthClient<Client>>,
    /// Header `WWW-Authenticate` of the server's last refusal, which says what authorization it demands.
    challenge: Option<String>,
    /// Authorization that was begun and waits for a person to come back.
    pending: Option<AuthorizationManager>,
}

impl Authorization {
    /// Creates the authorization of this client at the server of this name and URL. If `oauth` names no store, the
    /// tokens are kept in `tokens`.
    pub(super) fn new(
        server: &str,
        url: &str,
        oauth: &OAuth,
        scope: &Scope,
        tokens: &Arc<InMemory>,
    ) -> Self {
        let store = oauth.store.clone();
        Authorization {
            server: server.to_owned(),
            url: url.to_owned(),
            kept: Kept {
                store: store.unwrap_or_else(|| tokens.clone()),
                server: url.to_owned(),
                scope: scope.clone(),
                client: Arc::default(),
            },
            oauth: oauth.clone(),
            state: Mutex::default(),
            visits: Mutex::default(),
            allowed: AtomicU64::new(0),
        }
    }

    /// Returns the HTTP client that sends the token with each request, if there is a token.
    pub(super) async fn client(&self) -> Result<AuthClient<Client>, McpError> {
        let mut state = self.state.lock().await;
        if let Some(client) = &state.client {
            return Ok(client.clone());
        }
        let mut manager = self.manager().await?;
        if manager
            .initialize_from_store()
            .await
            .map_err(|e| self.failed(&e))?
        {
            let stored = self.kept.client();
            let known = match (&self.oauth.client, stored) {
                (Some((id, secret)), _) => Some((id.clone(), secret.clone())),
                (None, Some(Registered { id, secret })) => Some((id, secret)),
                (None, None) => None,
            };
            if let Some((id, secret)) = known {
                let config = self.config(id, secret);
                manager
                    .configure_client(config)
                    .map_err(|e| self.failed(&e))?;
            }
        }
        let client = AuthClient::new(Client::new(), manager);
        state.client = Some(client.clone());
        Ok(client)
    }

    /// Keeps the header with which the server demanded authorization. Returns `true` if a person was brought to the
    /// authorization server and has authorized this client, so that the request can be made again. If several requests
    /// are refused at once, one of them brings the person there and then forgets the old connection; the others wait
    /// for that.
    pub(super) async fn answer(
        &self,
        challenge: Option<&str>,
        forget: impl Future<Output = ()>,
    ) -> Result<bool, McpError> {
        let before = self.allowed.load(SeqCst);
        if let Some(challenge) = challenge {
            self.state.lock().await.challenge = Some(challenge.to_owned());
        }
        let Some(visit) = &self.oauth.visit else {
            return Ok(false);
        };
        let _turn = self.visits.lock().await;
        if self.allowed.load(SeqCst) != before {
            return Ok(true);
        }
        let url = self.begin().await?;
        let back = visit(url).await;
        let back = back.map_err(|why| wording::not_led_back(&self.server, &why))?;
        self.finish(&back).await?;
        forget.await;
        Ok(true)
    }

    /// Begins an authorization: discovers the authorization server, registers this client unless its id is set or the
    /// authorization server reads its document, and returns the address for the person.
    pub(super) async fn begin(&self) -> Result<String, McpError> {
        let mut state = self.state.lock().await;
        let challenge = state.challenge.clone();
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref());
        let metadata = found.await.map_err(|e| self.failed(&e))?.metadata;
        let reads_urls = metadata
            .additional_fields
            .get("client_id_metadata_document_supported")
            .is_some_and(|supported| *supported == true);
        manager.set_metadata(metadata);
        let scopes = self.wanted(&manager, challenge.as_deref()).await;
        let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
        let OAuth {
            redirect_uri,
            name,
            client,
            metadata_url,
            ..
        } = &self.oauth;
        let config = match (client, metadata_url) {
            (Some((id, secret)), _) => self.config(id.clone(), secret.clone()),
            (None, Some(url)) if reads_urls => self.config(url.clone(), None),
            _ => {
                let registered = manager.register_client(name, redirect_uri, &scopes);
                registered.await.map_err(|e| self.failed(&e))?
            }
        };
        self.kept.set_client(Registered {
            id: config.client_id.clone(),
            secret: config.client_secret.clone(),
        });
        manager
            .configure_client(config)
            .map_err(|e| self.failed(&e))?;
        let url = manager.get_authorization_url(&scopes).await;
        let url = url.map_err(|e| self.failed(&e))?;
        state.pending = Some(manager);
        Ok(url)
    }

    /// Completes the authorization that was begun last. `back` is the address to which the person was led back.
    pub(super) async fn finish(&self, back: &str) -> Result<(), McpError> {
        let mut state = self.state.lock().await;
        let manager = state.pending.take();
        let manager = manager.ok_or_else(|| wording::not_begun(&self.server))?;
        let callback = AuthorizationCallback::from_redirect_url(back);
        let callback = callback.map_err(|e| self.failed(&e))?;
        let issuer = callback.issuer.as_deref();
        manager
            .exchange_code_for_token_with_issuer(&callback.code, &callback.csrf_token, issuer)
            .await
            .map_err(|e| self.failed(&e))?;
        state.client = Some(AuthClient::new(Client::new(), manager));
        state.challenge = None;
        self.allowed.fetch_add(1, SeqCst);
        Ok(())
    }

    /// Returns the OAuth scopes to ask for: those of the settings, otherwise those that the server needs. If the
    /// granted scopes did not suffice, they are asked for as well.
    async fn wanted(&self, manager: &AuthorizationManager, challenge: Option<&str>) -> Vec<String> {
        if !self.oauth.scopes.is_empty() {
            return self.oauth.scopes.clone();
        }
        let mut wanted = manager.select_initial_scopes(&[]).await;
        let url = reqwest::Url::parse(&self.url).ok();
        let asked = challenge.zip(url.as_ref());
        let asked = asked.map(|(challenge, url)| WWWAuthenticateParams::parse(challenge, url));
        if asked.is_some_and(|asked| asked.is_insufficient_scope())
            && let Ok(Some(stored)) = self.kept.load().await
        {
            wanted.extend(stored.granted_scopes);
            wanted.sort_unstable();
            wanted.dedup();
        }
        wanted
    }

    async fn manager(&self) -> Result<AuthorizationManager, McpError> {
        let manager = AuthorizationManager::new(self.url.as_str()).await;
        let mut manager = manager.map_err(|e| self.failed(&e))?;
        manager.set_credential_store(self.kept.clone());
        Ok(manager)
    }

    fn config(&self, id: String, secret: Option<String>) -> OAuthClientConfig {
        let config = OAuthClientConfig::new(id, &self.oauth.redirect_uri);
        match secret {
            Some(secret) => config.with_client_secret(secret),
            None => config,
        }
    }

    fn failed(&self, error: &AuthError) -> McpError {
        wording::not_authorized(&self.server, error)
    }
}

/// Tokens of one server and scope as they are stored, with the client to which they were given.
#[derive(Clone)]
struct Kept {
    store: Arc<dyn TokenStore>,
    server: String,
    scope: Scope,
    client: Arc<SyncMutex<Option<Registered>>>,
}

/// Registration of this client at an authorization server, as it is stored.
#[derive(Clone, Serialize, Deserialize)]
struct Registered {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Form in which the tokens are stored: the text that a [`TokenStore`] saves.
#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<Registered>,
    credentials: StoredCredentials,
}

impl Kept {
    fn client(&self) -> Option<Registered> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        client.clone()
    }

    fn set_client(&self, registered: Registered) {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        *client = Some(registered);
    }

    async fn write(&self, tokens: Option<String>) -> Result<(), AuthError> {
        let saved = self.store.save(&self.server, &self.scope, tokens).await;
        saved.map_err(|error| AuthError::CredentialStoreError(error.to_string()))
    }
}

#[async_trait]
impl CredentialStore for Kept {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let failed = |error: TokenError| AuthError::CredentialStoreError(error.to_string());
        let text = self.store.load(&self.server, &self.scope).await;
        let Some(text) = text.map_err(failed)? else {
            return Ok(None);
        };
        let stored: Stored = serde_json::from_str(&text).map_err(|e| failed(e.into()))?;
        if let Some(client) = stored.client {
            self.set_client(client);
        }
        Ok(Some(stored.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let stored = Stored {
            client: self.client(),
            credentials,
        };
        let text = serde_json::to_string(&stored);
        let text = text.map_err(|e| AuthError::CredentialStoreError(e.to_string()))?;
        self.write(Some(text)).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.write(None).await
    }
}
