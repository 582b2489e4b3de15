use super::{ListedTool, McpError, Server, link::Link, tool};
use agents_core::{
    Error, ErrorKind, async_trait,
    run::RunContext,
    tool::{IntoTool, Pattern, RemoteTool, Scope, SharedTool, ToolSource},
};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Number of scopes for which an [`Mcp`] keeps connections. With more, the ones that were not used for the longest time
/// are closed.
const MOST_LINKS: usize = 64;

/// Tools of an MCP server, for agents: `tools = [Search, ..GITHUB]`.
///
/// The server is connected when an agent with its tools begins its work, once for each scope that runs work for: a
/// connection has one identity. The connection serves all runs of the scope, and is made again when it is lost. It ends with
/// the runtime in which it was made.
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

/// Part of an [`Mcp`] that its clones share.
struct Shared {
    describe: Describe,
    /// Description for the empty scope, of which the name of the server is taken.
    server: Server,
    name: String,
    links: Mutex<Links>,
}

#[derive(Default)]
struct Links {
    of: HashMap<Scope, (Arc<Link>, u64)>,
    /// Number of uses so far.
    uses: u64,
}

/// Returns the tools of a server that is described for each scope, for a static.
///
/// The function is called once for each scope, and once for the empty scope to learn the name of the server, which has to be
/// the same for all scopes. It does not connect.
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

    /// Lists the tools of the server for this scope, whether they are offered or not.
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

    /// Admits a tool as the server lists it now, by the name that models know. Runs that begin from now on are offered it.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not list the tool.
    pub async fn admit(&self, scope: &Scope, tool: &str) -> Result<(), McpError> {
        self.shared().link(scope).admit(tool).await
    }

    /// Closes all connections. They are made again when they are needed.
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
            })
        })
    }
}

impl Shared {
    /// Returns the link for this scope.
    fn link(&self, scope: &Scope) -> Arc<Link> {
        let mut links = self.links();
        links.uses += 1;
        let now = links.uses;
        if let Some((link, used)) = links.of.get_mut(scope) {
            *used = now;
            return link.clone();
        }
        if links.of.len() >= MOST_LINKS {
            let oldest = links.of.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(scope, _)| scope.clone()) {
                links.of.remove(&oldest);
            }
        }
        let link = Arc::new(Link::new(self.name.clone(), self.describe.server(scope)));
        links.of.insert(scope.clone(), (link.clone(), now));
        link
    }

    fn links(&self) -> std::sync::MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Clones share their connections.
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
