//! A tool that makes HTTP requests to the hosts you allow, and to no other.
//!
//! ```
//! use agents::{http::HttpTool, prelude::*};
//! use std::time::Duration;
//!
//! let http = HttpTool::new()
//!     .allow_host("api.example.com")
//!     .allow_host("*.wiki.example.org")
//!     .bearer("api.example.com", "crm") // the secret of that name, resolved when the tool runs
//!     .timeout(Duration::from_secs(20));
//!
//! let clerk = AgentBuilder::<String, String>::new("clerk").tool(http).build();
//! # let _ = clerk;
//! ```
//!
//! A model always gets an [`HttpAnswer`]: the status, a few headers, and the body as JSON, as text, or
//! described in a few words if it is neither. A long body is cut, and the answer says so.
//!
//! | what happened | how the call ends |
//! |-|-|
//! | any status below 500 that is not in this table | with an answer, also for a 404, or a redirect of what writes |
//! | 401, 403 | `AUTH_REQUIRED` |
//! | 429 | `RATE_LIMIT`, with the time after which the server may be asked again |
//! | 500 and above; too many redirects | `PROVIDER_ERROR` |
//! | no connection, or one that broke | `NETWORK_ERROR` |
//! | no complete answer in time | `TIMEOUT` |
//! | a host, an address or a method that is not allowed | `POLICY_DENIED` |
//!
//! # What is not allowed
//!
//! - Hosts: all except those that you allow, for the first request and for every redirect.
//! - Plain HTTP: only for hosts allowed with `http://` before them, or as private hosts.
//! - Addresses: a name that resolves to this machine or its network is refused. Addresses are checked when
//!   the connection is made, so a name cannot resolve differently in between. Exceptions are made
//!   [host by host](HttpTool::allow_private_host), and even then no name may resolve to the metadata services
//!   of cloud providers (169.254.169.254 and similar addresses).
//! - Methods: all except `GET` and `HEAD`. Other methods make it a tool that [writes](crate::Effects::Writes),
//!   and such calls need approval.
//! - Redirects: only those of `GET` and `HEAD` are followed. A request with another method is sent once, as it was
//!   approved. If the server redirects it, the redirect is the answer, with its status and its `location`; whatever
//!   the model then asks for is a call of its own and needs its own approval.
//! - Secrets: each is sent only to its own host. Once a redirect has led to another origin (scheme, host or port),
//!   the rest of the call is made without secrets: the new host gets none of its own, and if a redirect leads back,
//!   the first host gets none either.
//! - Proxies from the environment, cookies and compressed answers are not used.

mod address;
mod answer;
mod error;
mod hosts;
mod method;
mod send;

pub use answer::HttpAnswer;
pub use error::HttpError;
pub use method::Method;

use agents_core::{
    Code, Effects, Json, Tool, ToolContext, ToolFailure,
    tool::{Approval, Category, ToolSpec},
};
use hosts::Pattern;
use reqwest::{
    Client,
    header::{AUTHORIZATION, HeaderName},
};
use serde::Deserialize;
use serde_json::json;
use std::{
    fmt,
    sync::{Mutex, OnceLock},
    time::Duration,
};

/// Tool that makes HTTP requests to an allow-list of hosts; see [`http`](crate::http).
///
/// ```
/// use agents::http::{HttpTool, Method};
///
/// // Two tools of one agent: one that reads anywhere, one that writes to one server, with approval.
/// let read = HttpTool::new().name("fetch").allow_any_host().max_bytes(200_000);
/// let tickets = HttpTool::new().name("tickets")
///     .allow_host("tickets.example.com")
///     .allow_method(Method::Post)
///     .secret_header("tickets.example.com", "x-api-key", "tickets");
/// # use agents::{Effects, Tool};
/// assert_eq!((read.spec().effects, tickets.spec().effects), (Effects::Reads, Effects::Writes));
/// ```
pub struct HttpTool {
    name: String,
    hosts: Vec<Pattern>,
    methods: Vec<Method>,
    headers: Vec<Sent>,
    timeout: Duration,
    redirects: usize,
    max_bytes: usize,
    preview: usize,
    spec: OnceLock<ToolSpec>,
    /// The clients, and the runtime that drives their connections.
    clients: Mutex<Option<(tokio::runtime::Id, Clients)>>,
}

/// One for each of what names may lead to.
#[derive(Clone)]
struct Clients {
    public: Client,
    private: Client,
}

/// A header that is sent to some hosts.
struct Sent {
    to: Pattern,
    name: HeaderName,
    /// What stands before the secret.
    prefix: &'static str,
    /// The name of the secret.
    secret: String,
}

/// Arguments of an [`HttpTool`], as a model sends them, or a tool of your own that is built on it.
///
/// ```
/// use agents::{ToolContext, prelude::*, http::{HttpArgs, HttpError, HttpTool}};
///
/// async fn customer(http: &HttpTool, id: u32, cx: &ToolContext) -> Result<Option<String>, HttpError> {
///     let args = HttpArgs::get(format!("https://crm.example.com/customers/{id}"));
///     Ok(http.call(args, cx).await?.text)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpArgs {
    /// Absolute URL.
    pub url: String,
    /// HTTP method; `GET` by default.
    #[serde(default)]
    pub method: Method,
    /// Request body: JSON, or a string as plain text.
    #[serde(default)]
    pub body: Option<Json>,
}

impl HttpArgs {
    /// Creates the arguments of a `GET` request.
    pub fn get(url: impl Into<String>) -> Self {
        HttpArgs {
            url: url.into(),
            method: Method::Get,
            body: None,
        }
    }
}

impl Default for HttpTool {
    fn default() -> Self {
        HttpTool::new()
    }
}

impl HttpTool {
    /// Creates a tool with an empty allow-list.
    pub fn new() -> Self {
        HttpTool {
            name: "http_request".to_owned(),
            hosts: Vec::new(),
            methods: vec![Method::Get, Method::Head],
            headers: Vec::new(),
            timeout: Duration::from_secs(30),
            redirects: 5,
            max_bytes: 1_000_000,
            preview: 20_000,
            spec: OnceLock::new(),
            clients: Mutex::new(None),
        }
    }

    /// Sets the name by which the model calls it; `http_request` by default.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Allows a host: `api.example.com`, or `*.example.com` for all its subdomains.
    ///
    /// Without a port it is the usual one; `example.com:8443` allows that one alone. It is asked
    /// over `https`; `http://example.com` allows it in the clear as well.
    ///
    /// # Panics
    /// When that is no host, such as a whole URL.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        self.hosts.push(pattern(host));
        self
    }

    /// Allows every host of the public internet over `https`, on the usual port.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.hosts.push(Pattern::any());
        self
    }

    /// Allows a host that may resolve to this machine or its network, over `http` and `https`:
    /// `localhost:8080`, `*.corp.example.com`, `10.0.0.7`.
    ///
    /// Others stay closed.
    ///
    /// Even then a name does not lead to where machines in a cloud get their credentials, such as
    /// 169.254.169.254 and all that is link-local; who wants that names the address itself.
    ///
    /// ```
    /// use agents::http::HttpTool;
    ///
    /// let http = HttpTool::new().allow_any_host().allow_private_host("localhost:8080");
    /// ```
    ///
    /// # Panics
    /// When that is no host.
    #[must_use]
    pub fn allow_private_host(mut self, host: &str) -> Self {
        self.hosts.push(pattern(host).private());
        self
    }

    /// Allows a method besides `GET` and `HEAD`: `POST`, `PUT`, `PATCH` or `DELETE`; calls that use
    /// it need approval.
    #[must_use]
    pub fn allow_method(mut self, method: Method) -> Self {
        if !self.methods.contains(&method) {
            self.methods.push(method);
        }
        self
    }

    /// Sends the secret of this name to that host as `Authorization: Bearer`.
    ///
    /// Where nobody has it, the call ends with `AUTH_REQUIRED`. It is never sent in the clear, but
    /// to this machine, and never after a redirect from another origin.
    ///
    /// # Panics
    /// When that is no host, or has `http://` before it.
    #[must_use]
    pub fn bearer(self, host: &str, secret: impl Into<String>) -> Self {
        self.send(host, AUTHORIZATION, "Bearer ", secret.into())
    }

    /// Sends the secret of this name to that host in another header, such as `x-api-key`.
    ///
    /// # Panics
    /// When that is no host, or has `http://` before it, or when it is no header.
    #[must_use]
    pub fn secret_header(self, host: &str, header: &str, secret: impl Into<String>) -> Self {
        match HeaderName::from_bytes(header.as_bytes()) {
            Ok(name) => self.send(host, name, "", secret.into()),
            Err(_) => panic!("`{header}` is no header"),
        }
    }

    fn send(mut self, host: &str, name: HeaderName, prefix: &'static str, secret: String) -> Self {
        let to = pattern(host);
        assert!(
            !to.is_clear(),
            "a secret goes nowhere in the clear: leave out the `http://` of `{host}`"
        );
        self.headers.push(Sent {
            to,
            name,
            prefix,
            secret,
        });
        self
    }

    /// Sets the timeout of a call, redirects included; 30 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many redirects of a `GET` or `HEAD` are followed; 5 by default. Others never are.
    #[must_use]
    pub fn redirects(mut self, most: usize) -> Self {
        self.redirects = most;
        self
    }

    /// Sets how many bytes of a body are read; 1 MB by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets how much of a body the model is shown; 20 kB by default.
    #[must_use]
    pub fn preview(mut self, bytes: usize) -> Self {
        self.preview = bytes;
        self
    }

    fn writes(&self) -> bool {
        !self.methods.iter().all(|method| method.reads())
    }

    fn describe(&self) -> ToolSpec {
        let methods: Vec<_> = self.methods.iter().map(|method| method.as_str()).collect();
        let hosts: Vec<_> = self.hosts.iter().map(ToString::to_string).collect();
        let hosts = match hosts.is_empty() {
            true => "none".to_owned(),
            false => hosts.join(", "),
        };
        let mut schema = json!({
            "type": "object",
            "properties": {
                "url": { "type": "string", "description": format!("The whole URL. Allowed hosts: {hosts}.") },
                "method": { "type": "string", "enum": methods, "description": "GET where nothing is said." },
            },
            "required": ["url"],
            "additionalProperties": false,
        });
        let effects = match self.writes() {
            true => {
                schema["properties"]["body"] =
                    json!({ "description": "What to send: JSON, or a string as plain text." });
                Effects::Writes
            }
            false => Effects::Reads,
        };
        let description = "Ask a server over HTTP. The answer has the status, some headers, and the body as JSON or text; long bodies are cut.";
        let spec = ToolSpec::new(self.name.clone(), description, effects, schema)
            .external()
            .category(Category::Api)
            .timeout(self.timeout + Duration::from_secs(5));
        match self.writes() {
            true => spec.approval(Approval::When),
            false => spec,
        }
    }
}

fn pattern(host: &str) -> Pattern {
    match Pattern::parse(host) {
        Ok(pattern) => pattern,
        Err(why) => panic!("`{host}` is no host: {why}"),
    }
}

impl Tool for HttpTool {
    type Args = HttpArgs;
    type Ok = HttpAnswer;
    type Err = HttpError;

    fn spec(&self) -> &ToolSpec {
        self.spec.get_or_init(|| self.describe())
    }

    async fn call(&self, args: HttpArgs, cx: &ToolContext) -> Result<HttpAnswer, HttpError> {
        let asked = self.ask(args, cx);
        match tokio::time::timeout(self.timeout, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(HttpError::timed_out(self.timeout)),
        }
    }

    fn failure(error: &HttpError) -> (Code, Option<Duration>) {
        (error.code(), error.retry_after())
    }

    fn needs_approval(&self, args: &HttpArgs, _: &ToolContext) -> bool {
        // What is not allowed at all need not be asked about.
        self.methods.contains(&args.method) && !args.method.reads()
    }
}

impl fmt::Debug for HttpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTool")
            .field("name", &self.name)
            .field("hosts", &self.hosts)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}
