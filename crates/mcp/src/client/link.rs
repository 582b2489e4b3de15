//! The link to a server for one scope: a connection that is made when it is needed, and made again when it is lost.

use super::{
    McpError, Server,
    connection::Connection,
    listing::{ListedTool, Listing},
    wording,
};
#[cfg(feature = "auth")]
use super::{
    McpErrorKind,
    description::Reached,
    oauth::{Authorization, InMemory},
};
use agents_core::tool::{RemoteTool, Scope};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::{self, Handle},
    sync::Mutex,
    time::Instant,
};

/// Unit of the waits before a further try to connect. There is no wait after the first failed connection, twice this
/// time after the second in a row, and twice as long after each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// Longest wait before a further try to connect.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Time for which a connection has to last to count as a success, which resets the wait.
const STEADY: Duration = Duration::from_secs(10);

/// Digest of each tool when it was admitted, by the tool's name. Outlives the links of its scope.
pub(super) type Admitted = Arc<SyncMutex<BTreeMap<String, String>>>;

/// Link from an [`Mcp`](super::Mcp) to its server for one scope: it has the connection, and knows which tools are
/// admitted.
pub(super) struct Link {
    name: String,
    pub(super) server: Server,
    state: Mutex<State>,
    #[cfg(feature = "auth")]
    authorization: Option<Authorization>,
    admitted: Admitted,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// Time at which the connection was made, and the runtime in which it was made; `None` without a connection.
    since: Option<(Instant, runtime::Id)>,
    failures: u32,
    /// Time before which no connection is tried, and the error of the last try; `None` if the next try may come at
    /// once.
    rest: Option<(Instant, McpError)>,
}

impl Link {
    #[cfg_attr(
        not(feature = "auth"),
        expect(unused_variables, reason = "tokens belong to a scope")
    )]
    pub(super) fn new(
        name: String,
        server: Server,
        admitted: Admitted,
        scope: &Scope,
        #[cfg(feature = "auth")] tokens: &Arc<InMemory>,
    ) -> Self {
        let link = Link {
            #[cfg(feature = "auth")]
            authorization: match &server.reached {
                Reached::Url(url) => {
                    let oauth = url.oauth.as_ref();
                    oauth.map(|oauth| Authorization::new(&name, &url.url, oauth, scope, tokens))
                }
                Reached::Child(_) => None,
            },
            name,
            admitted,
            server,
            state: Mutex::default(),
        };
        // What a person has admitted since holds in place of the pin.
        for (tool, digest) in &link.server.pins {
            let mut admitted = link.admitted();
            admitted.entry(tool.clone()).or_insert(digest.clone());
        }
        link
    }

    /// Returns the connection to the server, which is made if there is none. If the server demands authorization, and
    /// the description says how a person is brought to the authorization server, that is done first.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        match self.connect().await {
            Err(error) if self.authorize(&error).await? => self.connect().await,
            connected => connected,
        }
    }

    /// Sends a request to the server, and sends it once more if a person has authorized this client in between.
    pub(super) async fn asks<T, Fut>(
        &self,
        ask: impl Fn(Arc<Connection>) -> Fut,
    ) -> Result<T, McpError>
    where
        Fut: Future<Output = Result<T, McpError>>,
    {
        match ask(self.connection().await?).await {
            Err(error) if self.authorize(&error).await? => ask(self.connection().await?).await,
            answered => answered,
        }
    }

    /// Returns `true` if the server has demanded authorization with this error, and a person has now given it.
    #[cfg(feature = "auth")]
    pub(super) async fn authorize(&self, error: &McpError) -> Result<bool, McpError> {
        let Some(authorization) = &self.authorization else {
            return Ok(false);
        };
        if error.kind() != McpErrorKind::Unauthorized {
            return Ok(false);
        }
        let forget = self.forget();
        authorization.answer(error.challenge(), forget).await
    }

    #[cfg(not(feature = "auth"))]
    pub(super) async fn authorize(&self, _: &McpError) -> Result<bool, McpError> {
        Ok(false)
    }

    /// Returns the settings and tokens by which this client is authorized at the server; an error if the description
    /// has none.
    #[cfg(feature = "auth")]
    pub(super) fn authorization(&self) -> Result<&Authorization, McpError> {
        let authorization = self.authorization.as_ref();
        authorization.ok_or_else(|| wording::no_oauth(&self.name))
    }

    /// Closes the connection, so that the next connection uses the tokens that are valid by then.
    #[cfg(feature = "auth")]
    pub(super) async fn forget(&self) {
        let mut state = self.state.lock().await;
        *state = State::default();
    }

    async fn connect(&self) -> Result<Arc<Connection>, McpError> {
        let mut state = self.state.lock().await;
        if let Some(connection) = &state.connection {
            if !connection.is_closed() {
                return Ok(connection.clone());
            }
            state.connection = None;
            // A connection ends with its runtime, which is no failure of the server.
            let is_failure = state.since.take().is_some_and(|(since, runtime)| {
                since.elapsed() <= STEADY && runtime == Handle::current().id()
            });
            match is_failure {
                false => state.failures = 0,
                true => self.failed(&mut state, wording::lost_soon(&self.name)),
            }
        }
        if let Some((until, error)) = &state.rest {
            let wait = until.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                return Err(wording::rests(error, wait));
            }
        }
        let opening = Connection::open(
            &self.server,
            &self.name,
            #[cfg(feature = "auth")]
            self.authorization.as_ref(),
        );
        let limit = self.server.connect_timeout;
        let opened = tokio::time::timeout(limit, opening).await;
        let opened = opened.unwrap_or_else(|_| Err(wording::not_ready(&self.name, limit)));
        match opened {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(connection.clone());
                state.since = Some((Instant::now(), Handle::current().id()));
                state.rest = None;
                Ok(connection)
            }
            Err(error) => {
                self.failed(&mut state, error.clone());
                Err(error)
            }
        }
    }

    fn failed(&self, state: &mut State, error: McpError) {
        let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(state.failures));
        let wait = wait.min(LONGEST_WAIT);
        state.failures = state.failures.saturating_add(1);
        // The first loss may be chance.
        if state.failures > 1 {
            state.rest = Some((Instant::now() + wait, error));
        }
    }

    /// Returns all tools that the server lists, changed ones included.
    pub(super) async fn listing(&self) -> Result<Arc<Listing>, McpError> {
        self.asks(|connection| async move { connection.listing().await })
            .await
    }

    /// Returns the tools that agents may be offered: those that have not changed since they were admitted. A tool that is
    /// seen for the first time in its scope is admitted.
    pub(super) async fn offered(&self) -> Result<Vec<RemoteTool>, McpError> {
        let listing = self.listing().await?;
        let mut admitted = self.admitted();
        let offered = listing.iter().filter(|(name, listed)| {
            let digest = admitted
                .entry((*name).clone())
                .or_insert_with(|| listed.digest.clone());
            let is_same = *digest == listed.digest;
            if !is_same {
                tracing::warn!(
                    server = self.name, tool = name, digest = listed.digest,
                    "the server has changed the description or the schema of a tool, which is not offered until it is admitted"
                );
            }
            is_same
        });
        Ok(offered.map(|(_, listed)| listed.tool.clone()).collect())
    }

    /// Returns the tools that the server has changed since they were admitted.
    pub(super) async fn changed(&self) -> Result<Vec<ListedTool>, McpError> {
        let listing = self.listing().await?;
        let admitted = self.admitted();
        let changed = listing.iter().filter(|(name, listed)| {
            let digest = admitted.get(*name);
            digest.is_some_and(|digest| *digest != listed.digest)
        });
        Ok(changed.map(|(_, listed)| listed.clone()).collect())
    }

    /// Admits the tool of this name as the server lists it now, after a person has looked at the change.
    pub(super) async fn admit(&self, tool: &str) -> Result<(), McpError> {
        let listing = self.listing().await?;
        let listed = listing.get(tool).ok_or_else(|| self.unknown(tool))?;
        self.admitted()
            .insert(tool.to_owned(), listed.digest.clone());
        Ok(())
    }

    /// Returns a connection and the tool in the server's list, if the tool has not changed since it was listed and
    /// admitted.
    pub(super) async fn find(
        &self,
        tool: &str,
        digest: &str,
    ) -> Result<(Arc<Connection>, ListedTool), McpError> {
        let listing = self.listing().await?;
        let connection = self.connection().await?;
        let listed = listing.get(tool).ok_or_else(|| self.unknown(tool))?;
        let mut admitted = self.admitted();
        let admitted = admitted
            .entry(tool.to_owned())
            .or_insert_with(|| listed.digest.clone());
        if listed.digest != digest || *admitted != digest {
            return Err(wording::tool_changed(&self.name, tool));
        }
        Ok((connection, listed.clone()))
    }

    fn unknown(&self, tool: &str) -> McpError {
        wording::no_tool(&self.name, tool)
    }

    fn admitted(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
