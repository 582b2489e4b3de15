//! Tool that makes HTTP requests to the hosts you allow, and to no other hosts.
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
//! A call ends with an [`HttpAnswer`] or an error. The answer has the status, a few headers, and the body as JSON, as
//! text, or as a short description if the body is neither. A long body is cut, and the answer says so.
//!
//! | what happened | how the call ends |
//! |-|-|
//! | any other status below 500 | with an answer, also for a 404, or a redirect that is not followed |
//! | 401, 403; a secret that is missing or unfit for a header | `AUTH_REQUIRED` |
//! | 429 | `RATE_LIMIT`, with the time after which the server may be asked again |
//! | 500 and above; too many redirects, or one to an invalid URL; a source of secrets that fails | `PROVIDER_ERROR` |
//! | no connection, or one that broke | `NETWORK_ERROR` |
//! | no complete answer in time | `TIMEOUT` |
//! | a host, an address or a method that is not allowed; a redirect to a URL that is not HTTP or has a password | `POLICY_DENIED` |
//! | a URL that is not absolute, not HTTP, or has a password; a header that cannot be sent | `VALIDATION_ERROR` |
//!
//! # What is not allowed
//!
//! - Hosts: all except those that you allow, for the first request and for every redirect.
//! - Plain HTTP: except for hosts allowed with `http://` before them, or as private hosts.
//! - Addresses: no connection is made to this machine or its network, whatever name resolves to it. Addresses are
//!   checked when the connection is made, so a name cannot resolve differently in between. Exceptions are made
//!   [host by host](HttpTool::allow_private_host), and even then no name may resolve to the metadata services
//!   of cloud providers (169.254.169.254 and similar addresses).
//! - Methods: all except `GET` and `HEAD`, unless you [allow](HttpTool::allow_method) them. A method that you allow
//!   makes the tool one that [writes](agents_core::Effects::Writes), and calls with that method need approval.
//! - Redirects: only those of `GET` and `HEAD` are followed. A request with another method, or one that a person has
//!   approved, is sent once. If the server redirects it, the redirect is the answer, with its status and its
//!   `location`. A request to that location is a call of its own and needs its own approval.
//! - Secrets: each is sent only to its own host. Once a redirect has led to another origin (scheme, host or port),
//!   the rest of the call is made without secrets. The new host gets none of its own, and if a redirect leads
//!   back, the first host gets none either.
//! - Proxies from the environment, cookies and compressed responses are not used.

mod address;
mod answer;
mod error;
mod hosts;
mod method;
mod send;
mod wording;

pub use answer::HttpAnswer;
pub use error::HttpError;
pub use method::Method;

use agents_core::{
    Code, Effects, Json, Tool, ToolContext, ToolFailure,
    tool::{Category, NeedsApproval, ToolSpec},
};
use hosts::Pattern;
use reqwest::{
    Client,
    header::{AUTHORIZATION, HeaderName},
};
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, OnceLock},
    time::Duration,
};

/// Tool that makes HTTP requests to an allow-list of hosts; see [`http`](crate).
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
    sent: Vec<Sent>,
    timeout: Duration,
    redirects: usize,
    max_bytes: usize,
    preview: usize,
    spec: OnceLock<ToolSpec>,
    /// HTTP clients, with the id of the runtime that drives their connections; `None` before the first request.
    clients: Mutex<Option<(tokio::runtime::Id, Clients)>>,
}

/// HTTP clients: one for public hosts, and one for private hosts.
#[derive(Clone)]
struct Clients {
    public: Client,
    private: Client,
}

/// Secret that the tool sends with requests to some hosts.
struct Sent {
    to: Pattern,
    form: Form,
    /// Name of the secret that is sent with requests.
    secret: String,
}

/// Form in which a secret is sent with a request.
enum Form {
    /// The secret is sent in a header of this name, behind this text.
    Header(HeaderName, &'static str),
    /// The secret is sent as `Authorization: Basic`; it is `user:password`.
    Basic,
    /// The secret is sent as a parameter of the query, with this name.
    Query(String),
}

/// Arguments of an [`HttpTool`], as a model sends them or as a tool of your own creates them.
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
    /// Absolute URL of the request.
    pub url: String,
    /// HTTP method of the request; `GET` by default.
    #[serde(default)]
    pub method: Method,
    /// Request body: JSON, or a string as plain text; `None` for no body.
    #[serde(default)]
    pub body: Option<Json>,
    /// Headers that a tool of your own adds; a model cannot set them. A `content-type` replaces that of the body. After
    /// a redirect to another origin (scheme, host or port), the headers are not sent any more.
    #[serde(skip)]
    pub headers: BTreeMap<String, String>,
}

impl HttpArgs {
    /// Creates the arguments of a `GET` request.
    pub fn get(url: impl Into<String>) -> Self {
        HttpArgs {
            url: url.into(),
            method: Method::Get,
            body: None,
            headers: BTreeMap::new(),
        }
    }
}

impl Default for HttpTool {
    fn default() -> Self {
        HttpTool::new()
    }
}

impl HttpTool {
    /// Creates a tool that may reach no host yet: its allow-list is empty.
    pub fn new() -> Self {
        HttpTool {
            name: "http_request".to_owned(),
            hosts: Vec::new(),
            methods: vec![Method::Get, Method::Head],
            sent: Vec::new(),
            timeout: Duration::from_secs(30),
            redirects: 5,
            max_bytes: 1_000_000,
            preview: 20_000,
            spec: OnceLock::new(),
            clients: Mutex::new(None),
        }
    }

    /// Sets the name by which the model calls the tool; `http_request` by default.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Allows a host: `api.example.com`, or `*.example.com` for all its subdomains.
    ///
    /// Without a port only the default port of the scheme is allowed; `example.com:8443` allows that port alone.
    /// Requests go over `https`; `http://example.com` allows plain HTTP as well.
    ///
    /// # Panics
    /// When `host` is not a host, for example a whole URL.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        self.hosts.push(pattern(host));
        self
    }

    /// Allows every host of the public internet over `https`, on the default port.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.hosts.push(Pattern::any());
        self
    }

    /// Allows a host that may resolve to this machine or its network, over `http` and `https`:
    /// `localhost:8080`, `*.corp.example.com`, `10.0.0.7`.
    ///
    /// Other private hosts stay refused.
    ///
    /// Even then no name may resolve to an address from which machines in a cloud get their credentials, such as
    /// 169.254.169.254 and all link-local addresses. To allow such an address, pass the address itself.
    ///
    /// ```
    /// use agents::http::HttpTool;
    ///
    /// let http = HttpTool::new().allow_any_host().allow_private_host("localhost:8080");
    /// ```
    ///
    /// # Panics
    /// When `host` is not a host.
    #[must_use]
    pub fn allow_private_host(mut self, host: &str) -> Self {
        self.hosts.push(pattern(host).private());
        self
    }

    /// Allows a method besides `GET` and `HEAD`: `POST`, `PUT`, `PATCH` or `DELETE`. Calls with it need approval.
    #[must_use]
    pub fn allow_method(mut self, method: Method) -> Self {
        if !self.methods.contains(&method) {
            self.methods.push(method);
        }
        self
    }

    /// Sends the secret of this name to that host as `Authorization: Bearer`.
    ///
    /// The host is written as for [`allow_host`](Self::allow_host): without a port, it stands for the default port of
    /// the scheme alone. If no scope has the secret, a call to the host ends with `AUTH_REQUIRED`. The secret is sent
    /// over plain HTTP only to this machine, and not at all once a redirect has led to another origin.
    ///
    /// # Panics
    /// When `host` is not a host, or has `http://` before it.
    #[must_use]
    pub fn bearer(self, host: &str, secret: impl Into<String>) -> Self {
        self.send(host, Form::Header(AUTHORIZATION, "Bearer "), secret.into())
    }

    /// Sends the secret of this name to that host in the header `header`, such as `x-api-key`. See
    /// [`bearer`](Self::bearer) for when it is sent.
    ///
    /// # Panics
    /// When `host` is not a host, or has `http://` before it, or when `header` is not a header name.
    #[must_use]
    pub fn secret_header(self, host: &str, header: &str, secret: impl Into<String>) -> Self {
        match HeaderName::from_bytes(header.as_bytes()) {
            Ok(name) => self.send(host, Form::Header(name, ""), secret.into()),
            Err(_) => panic!("{}", wording::not_a_header(header)),
        }
    }

    /// Sends the secret of this name, which is `user:password`, to that host as `Authorization: Basic`. See
    /// [`bearer`](Self::bearer) for when it is sent.
    ///
    /// # Panics
    /// When `host` is not a host, or has `http://` before it.
    #[must_use]
    pub fn basic(self, host: &str, secret: impl Into<String>) -> Self {
        self.send(host, Form::Basic, secret.into())
    }

    /// Sends the secret of this name to that host as a parameter of the query, such as `api_key`. See
    /// [`bearer`](Self::bearer) for when it is sent. Servers write queries to their logs: use a header where the server
    /// takes one.
    ///
    /// # Panics
    /// When `host` is not a host, or has `http://` before it.
    #[must_use]
    pub fn secret_query(
        self,
        host: &str,
        parameter: impl Into<String>,
        secret: impl Into<String>,
    ) -> Self {
        self.send(host, Form::Query(parameter.into()), secret.into())
    }

    /// Returns the names of the secrets that the tool sends with requests.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        self.sent.iter().map(|sent| sent.secret.clone())
    }

    fn send(mut self, host: &str, form: Form, secret: String) -> Self {
        let to = pattern(host);
        assert!(!to.is_clear(), "{}", wording::secret_over_plain_http(host));
        self.sent.push(Sent { to, form, secret });
        self
    }

    /// Sets the timeout of a call, redirects included; 30 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many redirects of a `GET` or `HEAD` are followed; 5 by default. A redirect of another method, or of a
    /// call that a person has approved, is not followed.
    #[must_use]
    pub fn redirects(mut self, most: usize) -> Self {
        self.redirects = most;
        self
    }

    /// Sets how many bytes of a body are read at most; 1 MB (1,000,000 bytes) by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets how many bytes of a body the model is shown at most; 20 kB (20,000 bytes) by default.
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
        let mut schema = json!({
            "type": "object",
            "properties": {
                "url": { "type": "string", "description": wording::url(&hosts) },
                "method": { "type": "string", "enum": methods, "description": wording::METHOD },
            },
            "required": ["url"],
            "additionalProperties": false,
        });
        let effects = match self.writes() {
            true => {
                schema["properties"]["body"] = json!({ "description": wording::BODY });
                Effects::Writes
            }
            false => Effects::Reads,
        };
        let spec = ToolSpec::new(self.name.clone(), wording::DESCRIPTION, effects, schema)
            .external()
            .category(Category::Api)
            .timeout(self.timeout + Duration::from_secs(5));
        let spec = self.secrets().fold(spec, ToolSpec::secret);
        match self.writes() {
            true => spec.approval(NeedsApproval::When),
            false => spec,
        }
    }
}

/// Returns `true` if this is a single host that [`HttpTool::allow_host`] takes, with or without a port, and without a
/// scheme before it.
///
/// ```
/// use agents::http::is_host;
///
/// assert!(is_host("api.example.com:8443"));
/// assert!(!is_host("*.example.com"));
/// assert!(!is_host("https://api.example.com") && !is_host("http://api.example.com"));
/// ```
pub fn is_host(host: &str) -> bool {
    !host.contains(['*', '/']) && Pattern::parse(host).is_ok()
}

fn pattern(host: &str) -> Pattern {
    match Pattern::parse(host) {
        Ok(pattern) => pattern,
        Err(why) => panic!("{}", wording::not_a_host(host, why)),
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
        // A call with a method that is not allowed fails anyway, so no person is asked.
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
