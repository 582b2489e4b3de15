//! The server: our tools, agents and teams for any MCP host.
//!
//! A call from a host is a run of its own. An agent without a task of its own stands for the host: its model makes that
//! one call. So the call is read, checked, gated, bounded and recorded like any other.

mod caller;
mod content;
mod handler;
mod host;
mod prompt;
mod resource;
mod session;
mod wording;

use agents_core::{
    Agent, AgentBuilder, Budget,
    agent::ModelAgent,
    model::Model,
    run::{Approval, ApprovalRequest, Approver},
    team::{Member, Team},
    tool::{IntoTool, Scope, ToolSet, ToolSource},
};
use rmcp::{ServiceExt, transport::async_rw::AsyncRwTransport};
use std::{fmt, io, sync::Arc};

pub use handler::Handler;
pub use host::{Host, HostError};
#[cfg(feature = "http")]
pub use http::HttpService;
pub use prompt::{Arguments, Messages, Prompt};
pub use resource::{Resource, Variables};
pub use session::Changes;

/// Agent that stands for the host in a run: it makes the host's call.
type Caller = ModelAgent<'static, String, String>;

/// Function that adds an agent as a delegate of the one that stands for the host.
type Place = Box<dyn FnOnce(Member<Caller>) -> Member<Caller> + Send>;

/// Tools and agents that are offered to MCP hosts; [`serve`] creates it.
///
/// ```
/// use agents::prelude::*;
/// use agents_mcp as mcp;
///
/// /// Pays a bill.
/// #[agents::tool(writes, approval = always)]
/// async fn pay(
///     /// Amount in cents.
///     cents: u32,
/// ) -> String {
///     format!("{cents} cents are paid")
/// }
///
/// /// You answer questions about bills.
/// #[agent]
/// async fn clerk(question: String) -> String;
///
/// # fn main() {
/// let server = mcp::serve()
///     .named("office")
///     .instructions("Ask the clerk first.")
///     .tool(Pay)
///     .agent(Clerk)
///     .scope("acme")
///     .budget(Budget::new().max_turns(20))
///     .approval_at("https://agents.example.com/approvals");
/// # let _ = server;
/// # }
/// ```
#[must_use = "nothing is served until `.stdio().await` or `.http()`"]
pub struct Serve {
    tools: ToolSet,
    agents: Vec<Place>,
    offer: handler::Offer,
    asks_host: bool,
    settings: Settings,
}

/// Settings of the runs in which the calls of hosts are made.
#[derive(Clone)]
struct Settings {
    name: String,
    instructions: Option<String>,
    scope: Scope,
    model: Option<Arc<dyn Model>>,
    budget: Budget,
    approver: Arc<dyn Approver>,
}

/// Begins a server for MCP hosts.
///
/// ```no_run
/// use agents::prelude::*;
/// use agents_mcp as mcp;
///
/// /// Adds two numbers.
/// #[agents::tool(none)]
/// async fn add(
///     /// The first.
///     a: i64,
///     /// The second.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// #[tokio::main]
/// async fn main() -> std::io::Result<()> {
///     mcp::serve().tool(Add).stdio().await
/// }
/// ```
///
/// By default, a call that needs approval is not run. It is answered with a sentence that says so: see
/// [`approval_at`](Serve::approval_at), [`approver`](Serve::approver) and [`host_approves`](Serve::host_approves).
pub fn serve() -> Serve {
    Serve {
        tools: ToolSet::new(),
        agents: Vec::new(),
        offer: handler::Offer {
            resources: Vec::new(),
            prompts: Vec::new(),
            changes: None,
        },
        asks_host: false,
        settings: Settings {
            name: "agents".to_owned(),
            instructions: None,
            scope: Scope::default(),
            model: None,
            budget: Budget::new(),
            approver: Arc::new(denies(None)),
        },
    }
}

/// Returns the approver that denies all calls that need approval, and says at which place they can be approved, if
/// there is one.
fn denies(place: Option<String>) -> impl Approver {
    move |request: ApprovalRequest| {
        let effect = request.effect_description.as_deref();
        let reason = wording::needs_approval(effect, place.as_deref());
        async move { Approval::Deny { reason } }
    }
}

impl Serve {
    /// Adds a tool that hosts can call.
    pub fn tool(mut self, tool: impl IntoTool) -> Self {
        self.tools = self.tools.with(tool);
        self
    }

    /// Adds the tools of another server, or of any other source, so that hosts can call them.
    pub fn source(mut self, source: &(impl ToolSource + Clone)) -> Self {
        self.tools = self.tools.with_all(source);
        self
    }

    /// Adds an agent or a team as a tool that has the agent's name: the arguments of a call are the agent's input, and
    /// its answer is the result.
    pub fn agent<A>(mut self, agent: A) -> Self
    where
        A: Agent + Send + 'static,
        A::In: schemars::JsonSchema,
    {
        let place = move |host: Member<Caller>| host.delegate(Member::new(agent));
        self.agents.push(Box::new(place));
        self
    }

    /// Adds a resource: a text or a file that hosts can read.
    pub fn resource(mut self, resource: Resource) -> Self {
        self.offer.resources.push(resource);
        self
    }

    /// Adds a prompt, which the person at a host can choose.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.offer.prompts.push(prompt);
        self
    }

    /// Tells hosts of the changes that the program reports with `changes`, and lets hosts subscribe to resources.
    pub fn changes(mut self, changes: &Changes) -> Self {
        self.offer.changes = Some(changes.clone());
        self
    }

    /// Sets the name by which the server introduces itself; `agents` by default.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Sets the text by which hosts, and their models, are told about the server as a whole.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.instructions = Some(instructions.into());
        self
    }

    /// Sets the scope (tenant and user) that all calls work for.
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.settings.scope = scope.into();
        self
    }

    /// Sets the model that drives the agents that bring no model.
    pub fn model(mut self, model: impl Model) -> Self {
        self.settings.model = Some(Arc::new(model));
        self
    }

    /// Lets the host's model drive the agents that bring no model, as far as the host lends it (MCP calls that
    /// sampling). The host decides which model that is.
    pub fn host_model(mut self) -> Self {
        self.settings.model = Some(Arc::new(host::CurrentHostModel));
        self
    }

    /// Sets the budget of the run of each call.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = budget;
        self
    }

    /// Sets the place where calls that need approval can be approved, such as the address of a control room. The answer
    /// to such a call, which is not run, names the place. Of this setting and [`approver`](Serve::approver), the last
    /// one applies.
    pub fn approval_at(mut self, place: impl Into<String>) -> Self {
        self.settings.approver = Arc::new(denies(Some(place.into())));
        self
    }

    /// Sets an approver, which decides about calls that need approval while the host waits.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver = Arc::new(approver);
        self
    }

    /// Asks the person at the host about calls that need approval (MCP calls that elicitation). If the host does not
    /// ask people, or gives no answer, the [approver](Serve::approver) decides; without an approver, the call is not
    /// run.
    ///
    /// The person at the host then decides alone. Do not use this where the host itself is not trusted.
    pub fn host_approves(mut self) -> Self {
        self.asks_host = true;
        self
    }

    /// Serves a host on standard input and output, until the input ends. Nothing else may print to standard output.
    ///
    /// # Errors
    /// When the handshake with the host fails.
    pub async fn stdio(self) -> io::Result<()> {
        self.on(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Serves a host on these streams, until the input ends.
    ///
    /// ```
    /// use agents_mcp as mcp;
    /// use rmcp::{ServiceExt, model::CallToolRequestParams};
    ///
    /// /// Adds two numbers.
    /// #[agents::tool(none)]
    /// async fn add(
    ///     /// The first.
    ///     a: i64,
    ///     /// The second.
    ///     b: i64,
    /// ) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // Both ends of a pipe in this process, as in a test.
    /// let (ours, theirs) = tokio::io::duplex(1 << 16);
    /// let (input, output) = tokio::io::split(ours);
    /// tokio::spawn(mcp::serve().named("calculator").tool(Add).on(input, output));
    ///
    /// let host = ().serve(tokio::io::split(theirs)).await?;
    /// let numbers = serde_json::json!({"a": 17, "b": 25});
    /// let call = CallToolRequestParams::new("add").with_arguments(numbers.as_object().unwrap().clone());
    /// let result = host.call_tool(call).await?;
    /// assert_eq!(result.content[0].as_text().unwrap().text, "42");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the handshake with the host fails.
    pub async fn on(
        self,
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
    ) -> io::Result<()> {
        let transport = AsyncRwTransport::new(input, output);
        let service = self.into_handler().serve(transport).await;
        let service = service.map_err(io::Error::other)?;
        service.waiting().await.map_err(io::Error::other)?;
        Ok(())
    }

    fn into_handler(self) -> Handler {
        let Serve {
            tools,
            agents,
            offer,
            asks_host,
            mut settings,
        } = self;
        if asks_host {
            settings.approver = Arc::new(host::approver(settings.approver));
        }
        let caller = AgentBuilder::new("host")
            .prompt(caller::PROMPT)
            .tools(tools);
        let caller = Member::new(caller.build());
        let team: Team<Caller> = agents
            .into_iter()
            .fold(caller, |caller, place| place(caller))
            .build();
        Handler::new(team, offer, settings)
    }
}

impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("name", &self.settings.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "http")]
mod http {
    use super::{Handler, Serve};
    use rmcp::transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    };

    /// Service of `tower` that serves hosts by streamable HTTP.
    pub type HttpService = StreamableHttpService<Handler, LocalSessionManager>;

    impl Serve {
        /// Returns a service of `tower` that serves hosts by streamable HTTP, for a router: `nest_service("/mcp", service)`.
        ///
        /// The service answers requests to this machine only (`localhost`, `127.0.0.1`, `::1`). It answers web pages
        /// only if they come from this machine themselves. It does not check who sends a request. To open it to others,
        /// put a layer before it that does, and change the `config` of the service.
        ///
        /// ```
        /// use agents_mcp as mcp;
        /// # /// Adds two numbers.
        /// # #[agents::tool(none)]
        /// # async fn add(
        /// #     /// The first.
        /// #     a: i64,
        /// #     /// The second.
        /// #     b: i64,
        /// # ) -> i64 {
        /// #     a + b
        /// # }
        ///
        /// # fn main() {
        /// let app: axum::Router = axum::Router::new().nest_service("/mcp", mcp::serve().tool(Add).http());
        /// # }
        /// ```
        pub fn http(self) -> HttpService {
            let handler = self.into_handler();
            let mut config = StreamableHttpServerConfig::default().enforce_origin_validation();
            for scheme in ["http", "https"] {
                let local = ["localhost", "127.0.0.1", "[::1]"];
                let origins = local.map(|host| format!("{scheme}://{host}:*"));
                config.allowed_origins.extend(origins);
            }
            let handler = move || Ok(handler.for_another_host());
            StreamableHttpService::new(handler, Default::default(), config)
        }
    }
}
