//! Descriptions of servers: how a server is reached, and how far its hints are trusted.

use super::{
    lent::Lent,
    names,
    question::{Asks, Question},
};
use crate::Answer;
use agents_core::{model::Model, tool::Pattern};
use std::{collections::BTreeMap, fmt, future::Future, path::PathBuf, time::Duration};

/// Description of an MCP server: how it is reached, and whether its hints about its tools are trusted. A description
/// does not connect.
///
/// ```
/// use agents_mcp as mcp;
/// use std::time::Duration;
///
/// let tracker = mcp::stdio("github-mcp-server", ["stdio"])
///     .inherit_env("GITHUB_TOKEN")
///     .reads("github_get_*")
///     .timeout(Duration::from_secs(20));
/// ```
#[derive(Clone)]
#[must_use = "a server is used by an `Mcp`: `mcp::lazy(|scope| server)`"]
pub struct Server {
    pub(super) reached: Reached,
    name: Option<String>,
    pub(super) trusts_hints: bool,
    pub(super) reads: Vec<Pattern>,
    pub(super) pins: BTreeMap<String, String>,
    pub(super) knowledge: Vec<Pattern>,
    pub(super) asks: Option<Asks>,
    pub(super) lent: Option<Lent>,
    pub(super) timeout: Option<Duration>,
    pub(super) connect_timeout: Duration,
    pub(super) max_message_bytes: usize,
    pub(super) max_tools: usize,
}

/// Means by which a server is reached: a child process or a URL.
#[derive(Clone)]
pub(super) enum Reached {
    Child(Child),
    #[cfg(feature = "http")]
    Url(Url),
}

/// Server that is started as a child process.
#[derive(Clone)]
pub(super) struct Child {
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) inherited: Vec<String>,
    pub(super) folder: Option<PathBuf>,
}

/// Server that is reached by HTTP at a URL.
#[cfg(feature = "http")]
#[derive(Clone)]
pub(super) struct Url {
    pub(super) url: String,
    pub(super) headers: BTreeMap<String, String>,
    #[cfg(feature = "auth")]
    pub(super) oauth: Option<super::OAuth>,
}

/// Describes a server that is a child process, which speaks on its standard input and output.
///
/// The process is started when its tools are needed. It ends with the runtime in which it was started, or when the
/// connection is closed. It inherits no environment but what a program needs to run, such as `PATH` and `HOME`; see
/// [`Server::env`] and [`Server::inherit_env`]. What it writes to its standard error goes to `tracing`.
pub fn stdio<A: Into<String>>(
    program: impl Into<String>,
    args: impl IntoIterator<Item = A>,
) -> Server {
    Server::new(Reached::Child(Child {
        program: program.into(),
        args: args.into_iter().map(Into::into).collect(),
        env: BTreeMap::new(),
        inherited: Vec::new(),
        folder: None,
    }))
}

/// Describes a server that is reached by streamable HTTP at this URL. HTTPS needs the feature `tls`.
///
/// ```
/// use agents_mcp::{self as mcp, Mcp};
///
/// static TRACKER: Mcp = mcp::lazy(|scope| {
///     mcp::http("http://localhost:8000/mcp")
///         .named("tracker")
///         .header("x-tenant", scope.tenant_id())
/// });
/// # let _ = &TRACKER;
/// ```
#[cfg(feature = "http")]
pub fn http(url: impl Into<String>) -> Server {
    Server::new(Reached::Url(Url {
        url: url.into(),
        headers: BTreeMap::new(),
        #[cfg(feature = "auth")]
        oauth: None,
    }))
}

impl Server {
    fn new(reached: Reached) -> Self {
        Server {
            reached,
            name: None,
            trusts_hints: false,
            reads: Vec::new(),
            pins: BTreeMap::new(),
            knowledge: Vec::new(),
            asks: None,
            lent: None,
            timeout: None,
            connect_timeout: Duration::from_secs(30),
            max_message_bytes: 4 << 20,
            max_tools: 256,
        }
    }

    /// Sets the name of the server, with which the names of its tools begin: `github` makes `github_search`.
    ///
    /// By default, the name is made of the program's name or of the URL's host: `github-mcp-server` is `github`. A server
    /// that is started by another program, such as `npx`, needs a name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets a variable of the environment of a child process.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        match &mut self.reached {
            Reached::Child(child) => _ = child.env.insert(name.into(), value.into()),
            #[cfg(feature = "http")]
            Reached::Url(_) => {}
        }
        self
    }

    /// Lets a child process inherit this environment variable of the current process.
    pub fn inherit_env(mut self, name: impl Into<String>) -> Self {
        match &mut self.reached {
            Reached::Child(child) => child.inherited.push(name.into()),
            #[cfg(feature = "http")]
            Reached::Url(_) => {}
        }
        self
    }

    /// Sets the folder in which a child process starts.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        match &mut self.reached {
            Reached::Child(child) => child.folder = Some(folder.into()),
            #[cfg(feature = "http")]
            Reached::Url(_) => {}
        }
        self
    }

    /// Sets a header of every request to a server that is reached by HTTP.
    #[cfg(feature = "http")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        match &mut self.reached {
            Reached::Url(url) => _ = url.headers.insert(name.into(), value.into()),
            Reached::Child(_) => {}
        }
        self
    }

    /// Sets the token that authorizes requests to a server that is reached by HTTP, as `Authorization: Bearer ..`.
    #[cfg(feature = "http")]
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Sets how this client is authorized by OAuth, at a server that is reached by HTTP. Without it, a server that
    /// demands authorization has to be given a token: see [`Server::bearer`].
    #[cfg(feature = "auth")]
    pub fn oauth(mut self, oauth: super::OAuth) -> Self {
        match &mut self.reached {
            Reached::Url(url) => url.oauth = Some(oauth),
            Reached::Child(_) => {}
        }
        self
    }

    /// Trusts the server's hints about its tools: that a tool only reads, may be repeated, or stays within the
    /// organisation.
    ///
    /// By default, every tool of a server counts as one that writes outside of the organisation, unless it is declared
    /// with [`reads`](Server::reads). So its calls need approval, and a hint can only make that stricter.
    pub fn trust_hints(mut self) -> Self {
        self.trusts_hints = true;
        self
    }

    /// Declares that the tools whose names match the pattern only read, so that their calls need no approval. The names
    /// are those that the model knows, such as `github_get_issue`.
    pub fn reads(mut self, pattern: impl Into<Pattern>) -> Self {
        self.reads.push(pattern.into());
        self
    }

    /// Admits the tool of this name, as models know it, only with this digest of its description and its schema.
    /// [`ListedTool::digest`] is what to write here.
    ///
    /// A tool without a pin is admitted as it is first listed for a scope. In either case, a tool that the server
    /// changes afterwards is not offered and not called until it is [admitted](super::Mcp::admit).
    ///
    /// [`ListedTool::digest`]: super::ListedTool::digest
    ///
    /// ```
    /// use agents_mcp as mcp;
    ///
    /// // Printed once, by `Mcp::tools`, after somebody has read the description of the tool:
    /// let digest = "5c1d7c1e0a5b4f0e9d0b8c6a2f3e4d5c5c1d7c1e0a5b4f0e9d0b8c6a2f3e4d5c";
    /// let tracker = mcp::stdio("github-mcp-server", ["stdio"]).pin("github_create_issue", digest);
    /// # let _ = tracker;
    /// ```
    pub fn pin(mut self, tool: impl Into<String>, digest: impl Into<String>) -> Self {
        self.pins.insert(tool.into(), digest.into());
        self
    }

    /// Offers the resources whose URIs match the pattern as knowledge: each resource becomes a tool without arguments,
    /// which reads the resource. The names of these tools begin with that of the server and `read`, such as
    /// `github_read_guide`.
    ///
    /// By default no resource is offered. Only resources in the server's list are offered, and no templates.
    ///
    /// ```
    /// use agents_mcp as mcp;
    ///
    /// let wiki = mcp::stdio("wiki-mcp", [""; 0]).knowledge("wiki://handbook/*");
    /// # let _ = wiki;
    /// ```
    pub fn knowledge(mut self, pattern: impl Into<Pattern>) -> Self {
        self.knowledge.push(pattern.into());
        self
    }

    /// Sets who answers when the server asks a person something during a call (MCP calls that elicitation).
    ///
    /// By default every question is declined, and a question that asks for a visit to a page always is. Values that the
    /// answer leaves out get the server's defaults. An answer that does not follow the schema is not sent.
    ///
    /// ```
    /// use agents_mcp::{self as mcp, Answer, Question};
    ///
    /// async fn desk(question: Question) -> Answer {
    ///     println!("{} asks: {}", question.server, question.message);
    ///     Answer::Declined
    /// }
    ///
    /// let travel = mcp::stdio("travel-mcp", [""; 0]).answers(desk);
    /// # let _ = travel;
    /// ```
    pub fn answers<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(Question) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        self.asks = Some(Asks::new(ask));
        self
    }

    /// Lends the server a model, up to a number of tokens that its requests read and write in all (MCP calls that sampling).
    ///
    /// By default a server that asks for a model is refused. The messages of the server's request are sent as they are:
    /// what they say goes to the provider of the model. A request that begins within the bound is answered whole. The
    /// tokens belong to no run: they are in no outcome. They are counted for each scope, as long as the `Mcp` exists.
    /// Scopes whose descriptions are clones of one description share a count.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_mcp as mcp;
    ///
    /// let summaries = mcp::stdio("summary-mcp", [""; 0]).lends(ollama("qwen3:4b"), 50_000);
    /// # let _ = summaries;
    /// ```
    pub fn lends(mut self, model: impl Model, tokens: u64) -> Self {
        self.lent = Some(Lent::new(model, tokens));
        self
    }

    /// Sets the timeout of one call. By default, the run's timeout of tools applies.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the time that the server may take to start, and the time that it may then take to list its tools; each is
    /// 30 seconds by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the size of the largest message that is read from the server; 4 MiB by default. A larger message is not
    /// taken: the request that it answers fails, or waits for its timeout.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = bytes;
        self
    }

    /// Sets the largest number of tools that the server may list, and of resources and of prompts; each is 256 by
    /// default. A list with more is an error.
    pub fn max_tools(mut self, count: usize) -> Self {
        self.max_tools = count;
        self
    }

    /// Returns the name of the server, with which the names of its tools begin.
    pub(super) fn name(&self) -> String {
        if let Some(name) = &self.name {
            return names::written(name);
        }
        match &self.reached {
            Reached::Child(child) => names::of_program(&child.program),
            #[cfg(feature = "http")]
            Reached::Url(url) => names::of_url(&url.url),
        }
    }
}

/// Shows neither the values of environment variables nor those of headers, since they may be secrets.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Server");
        shown.field("name", &self.name());
        match &self.reached {
            Reached::Child(child) => shown.field("program", &child.program),
            #[cfg(feature = "http")]
            Reached::Url(url) => shown.field("url", &names::without_query(&url.url)),
        };
        shown
            .field("trusts_hints", &self.trusts_hints)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_shows_no_secrets() {
        let child = stdio("tracker-mcp", [""; 0]).env("TOKEN", "sesame");
        let shown = format!("{child:?}");
        assert!(
            shown.contains("tracker") && !shown.contains("sesame"),
            "{shown}"
        );
        #[cfg(feature = "http")]
        {
            let url = http("https://ada:sesame@mcp.example.org/x?key=sesame").bearer("sesame");
            let shown = format!("{url:?}");
            assert!(
                shown.contains("mcp.example.org/x") && !shown.contains("sesame"),
                "{shown}"
            );
        }
    }
}
