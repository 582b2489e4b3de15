#[cfg(feature = "auth")]
use super::oauth::InMemory;
use super::{
    ListedPrompt, ListedResource, ListedTool, McpError, Server,
    lent::Used,
    link::{Admitted, Link},
    tool,
};
use agents_core::{
    Error, ErrorKind, async_trait,
    model::{Content, Message},
    run::RunContext,
    tool::{IntoTool, Pattern, RemoteTool, Scope, SharedTool, ToolSource},
};
use rmcp::model::JsonObject;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Number of scopes for which an [`Mcp`] keeps connections. With more, the connections that were not used for the
/// longest time are closed.
const MOST_LINKS: usize = 64;

/// Number of scopes for which an [`Mcp`] knows which tools were admitted. With more, it forgets those of the scope whose
/// connection was made the longest time ago, and a tool of that scope is then admitted as the server lists it.
const MOST_ADMITTED: usize = 1024;

/// Tools of an MCP server, for agents: `tools = [Search, ..GITHUB]`.
///
/// The server is connected when an agent with its tools begins its work, once for each scope that runs work for,
/// because a connection has one identity. The connection serves all runs of the scope, and is made again when it is
/// lost. It ends with the runtime in which it was made.
///
/// The names of the tools begin with that of the [server](Server::named). Policies, receipts, recovery and approvals work
/// as with any other tool. By default, every call needs approval; see [`Server::reads`] and [`Server::trust_hints`].
///
/// ```
/// use agents::prelude::*;
/// use agents_mcp::{self as mcp, Mcp};
///
/// static GITHUB: Mcp = mcp::lazy(|_scope| mcp::stdio("github-mcp-server", ["stdio"]).reads("github_get_*"));
///
/// /// You sort issues.
/// #[agent(tools = [..GITHUB])]
/// async fn triage(request: String) -> String;
/// # fn main() { let _ = Triage; }
/// ```
pub struct Mcp {
    server: Describe,
    shared: OnceLock<Arc<Shared>>,
}

#[derive(Clone)]
enum Describe {
    Function(fn(&Scope) -> Server),
    Closure(Arc<dyn Fn(&Scope) -> Server + Send + Sync>),
}

impl Describe {
    fn server(&self, scope: &Scope) -> Server {
        match self {
            Describe::Function(describe) => describe(scope),
            Describe::Closure(describe) => describe(scope),
        }
    }
}

/// State of an [`Mcp`] that its clones share: the description, and the links to the server.
struct Shared {
    describe: Describe,
    /// Description of the server for the empty scope; the name of the server is taken from it.
    server: Server,
    name: String,
    links: Mutex<Links>,
    /// Tokens of this server, where its description names no store for them.
    #[cfg(feature = "auth")]
    tokens: Arc<InMemory>,
}

#[derive(Default)]
struct Links {
    of: HashMap<Scope, (Arc<Link>, u64)>,
    /// Tools that were admitted for each scope, with the number of the use at which their link was made. They are kept
    /// when the link is closed, so that no server changes a tool unnoticed.
    admitted: HashMap<Scope, (Admitted, u64)>,
    /// Number of uses of all links so far; each link notes it, to find the one that was used least recently.
    uses: u64,
    /// Number of tokens that the server has used of a lent model, for each scope. It is kept when the link of the scope
    /// is closed.
    used: HashMap<Scope, Used>,
}

/// Returns the tools of a server that is described for each scope, for a static.
///
/// The function is called for each scope before the server is connected, and once for the empty scope to learn the name
/// of the server, which has to be the same for all scopes. The function does not connect.
///
/// ```
/// use agents_mcp::{self as mcp, Mcp};
///
/// static CALENDAR: Mcp = mcp::lazy(|scope| {
///     let tenant = scope.tenant_id();
///     mcp::stdio("calendar-server", ["--tenant", tenant]).named("calendar")
/// });
/// # let _ = &CALENDAR;
/// ```
pub const fn lazy(server: fn(&Scope) -> Server) -> Mcp {
    Mcp {
        server: Describe::Function(server),
        shared: OnceLock::new(),
    }
}

impl Mcp {
    /// Creates the tools of a server that is described for each scope by a closure; [`lazy`] is the form for statics.
    ///
    /// ```
    /// use agents_mcp::{self as mcp, Mcp};
    ///
    /// let program = std::env::args().nth(1).unwrap_or("calendar-server".into());
    /// let calendar = Mcp::new(move |_scope| mcp::stdio(&program, [""; 0]).named("calendar"));
    /// # let _ = calendar;
    /// ```
    pub fn new(server: impl Fn(&Scope) -> Server + Send + Sync + 'static) -> Self {
        Mcp {
            server: Describe::Closure(Arc::new(server)),
            shared: OnceLock::new(),
        }
    }

    /// Lists the tools of the server for this scope, whether they are offered to agents or not.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not list its tools.
    pub async fn tools(&self, scope: &Scope) -> Result<Vec<ListedTool>, McpError> {
        let listing = self.shared().link(scope).listing().await?;
        Ok(listing.values().cloned().collect())
    }

    /// Lists the tools that the server has changed since they were admitted. They are neither offered nor called.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not list its tools.
    pub async fn changed(&self, scope: &Scope) -> Result<Vec<ListedTool>, McpError> {
        self.shared().link(scope).changed().await
    }

    /// Admits a tool as the server lists it now; `tool` is the name that models know. Runs that begin from now on are
    /// offered the tool.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not list the tool.
    pub async fn admit(&self, scope: &Scope, tool: &str) -> Result<(), McpError> {
        self.shared().link(scope).admit(tool).await
    }

    /// Lists the resources of the server for this scope.
    ///
    /// # Errors
    /// When the server cannot be reached, or has no resources to list.
    pub async fn resources(&self, scope: &Scope) -> Result<Vec<ListedResource>, McpError> {
        let link = self.shared().link(scope);
        link.asks(|connection| async move { connection.resources().await })
            .await
    }

    /// Reads the resource at this URI: its text, and its images and files beside it.
    ///
    /// ```
    /// use agents::{Error, prelude::*, tool::Scope};
    /// use agents_mcp::Mcp;
    ///
    /// async fn summary(wiki: &Mcp, writer: &impl Agent<In = String, Out = String>) -> Result<String, Box<dyn std::error::Error>> {
    ///     let page = wiki.read(&Scope::default(), "wiki://handbook/travel").await?;
    ///     Ok(writer.run(page.text).await?)
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// When the server cannot be reached, or does not have the resource.
    pub async fn read(&self, scope: &Scope, uri: &str) -> Result<Content, McpError> {
        let link = self.shared().link(scope);
        link.asks(|connection| async move { connection.read(uri).await })
            .await
    }

    /// Lists the prompts of the server for this scope.
    ///
    /// # Errors
    /// When the server cannot be reached, or has no prompts to list.
    pub async fn prompts(&self, scope: &Scope) -> Result<Vec<ListedPrompt>, McpError> {
        let link = self.shared().link(scope);
        link.asks(|connection| async move { connection.prompts().await })
            .await
    }

    /// Returns the messages of the prompt with this name, which the server writes from the arguments.
    ///
    /// They are messages for a [chat](agents_core::agent::Chat::with_messages); the text of a single message is an
    /// input, or the prompt of an agent. The words come from the server, so trust them only as far as the server.
    ///
    /// ```
    /// use agents::{model::Message, prelude::*, tool::Scope};
    /// use agents_mcp::Mcp;
    ///
    /// async fn review(tracker: &Mcp, diff: &str) -> Result<String, Box<dyn std::error::Error>> {
    ///     let messages = tracker.prompt(&Scope::default(), "review", [("diff", diff)]).await?;
    ///     let task = messages.first().map_or("", Message::text);
    ///     let reviewer = AgentBuilder::<String, String>::new("reviewer").prompt("You review changes.").build();
    ///     Ok(reviewer.run(task).await?)
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// When the server cannot be reached, does not have the prompt, or refuses the arguments.
    pub async fn prompt<N, V>(
        &self,
        scope: &Scope,
        name: &str,
        args: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Vec<Message>, McpError>
    where
        N: Into<String>,
        V: Into<String>,
    {
        let args = args.into_iter();
        let args = args.map(|(name, value)| (name.into(), value.into().into()));
        let args: JsonObject = args.collect();
        let link = self.shared().link(scope);
        link.asks(|connection| {
            let args = args.clone();
            async move { connection.prompt(name, args).await }
        })
        .await
    }

    /// Returns the address at which a person authorizes this client to use the server for this scope;
    /// [`Mcp::authorize`] completes the authorization. The address is valid in this process only, and until the next
    /// address is asked for.
    ///
    /// # Errors
    /// When the server has no [`oauth`](Server::oauth), or its authorization server cannot be found or refuses this
    /// client.
    #[cfg(feature = "auth")]
    pub async fn authorization_url(&self, scope: &Scope) -> Result<String, McpError> {
        let link = self.shared().link(scope);
        link.authorization()?.begin().await
    }

    /// Completes the authorization for this scope. `back` is the whole address to which the authorization server led
    /// the person back, with its query. From now on, runs have the server's tools.
    ///
    /// # Errors
    /// When no authorization was begun, when the person refused, or when the address does not belong to the
    /// authorization that was begun.
    #[cfg(feature = "auth")]
    pub async fn authorize(&self, scope: &Scope, back: &str) -> Result<(), McpError> {
        let link = self.shared().link(scope);
        link.authorization()?.finish(back).await?;
        link.forget().await;
        Ok(())
    }

    /// Closes all connections, each once the requests under way have ended. New connections are made when they are
    /// needed. Tools stay [admitted](Mcp::admit) as they are: one that the server has changed by then is neither offered
    /// nor called.
    pub fn close(&self) {
        self.shared().links().of.clear();
    }

    fn shared(&self) -> &Arc<Shared> {
        self.shared.get_or_init(|| {
            let server = self.server.server(&Scope::default());
            Arc::new(Shared {
                describe: self.server.clone(),
                name: server.name(),
                server,
                links: Mutex::default(),
                #[cfg(feature = "auth")]
                tokens: Arc::default(),
            })
        })
    }
}

impl Shared {
    /// Returns the link to the server for this scope; if there is none, makes it.
    fn link(&self, scope: &Scope) -> Arc<Link> {
        let mut links = self.links();
        links.uses += 1;
        let now = links.uses;
        if let Some((link, used)) = links.of.get_mut(scope) {
            *used = now;
            return link.clone();
        }
        make_room(&mut links.of, MOST_LINKS);
        if !links.admitted.contains_key(scope) {
            make_room(&mut links.admitted, MOST_ADMITTED);
        }
        let admitted = links.admitted.entry(scope.clone()).or_default();
        admitted.1 = now;
        let admitted = admitted.0.clone();
        let mut server = self.describe.server(scope);
        if let Some(lent) = &mut server.lent {
            let used = links.used.entry(scope.clone());
            lent.used = used.or_insert_with(|| lent.used.clone()).clone();
        }
        let link = Arc::new(Link::new(
            self.name.clone(),
            server,
            admitted,
            scope,
            #[cfg(feature = "auth")]
            &self.tokens,
        ));
        links.of.insert(scope.clone(), (link.clone(), now));
        link
    }

    fn links(&self) -> std::sync::MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the entry that was used the longest time ago if there are as many as this.
fn make_room<T>(entries: &mut HashMap<Scope, (T, u64)>, most: usize) {
    if entries.len() < most {
        return;
    }
    let oldest = entries.iter().min_by_key(|(_, (_, used))| *used);
    if let Some(oldest) = oldest.map(|(scope, _)| scope.clone()) {
        entries.remove(&oldest);
    }
}

#[async_trait]
impl ToolSource for Mcp {
    fn names(&self) -> Pattern {
        Pattern::new(format!("{}_*", self.shared().name))
    }

    async fn list(&self, cx: &RunContext) -> Result<Vec<RemoteTool>, Error> {
        let link = self.shared().link(cx.scope());
        let offered = link.offered().await;
        offered.map_err(|error| Error::new(ErrorKind::Failed, error.to_string()))
    }

    fn tool(&self, listed: RemoteTool) -> SharedTool {
        let shared = self.shared().clone();
        let server = shared.server.clone();
        tool::of(&listed, &server, move |scope| shared.link(scope)).into_tool()
    }
}

/// Clones share their connections to the server.
impl Clone for Mcp {
    fn clone(&self) -> Self {
        Mcp {
            server: self.server.clone(),
            shared: OnceLock::from(self.shared().clone()),
        }
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mcp").field(&self.shared().server).finish()
    }
}
