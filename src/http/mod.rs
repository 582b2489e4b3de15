//! A tool that speaks HTTP, to the hosts you name and to no other.
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
//! What a model gets is always of one shape, an [`HttpAnswer`]: the status, a few headers, and the body as
//! JSON, as text, or in a few words where it is neither. What is long is cut, and the answer says so.
//!
//! | what happened | what the call ends with |
//! |-|-|
//! | any status below 500 but those below | an answer: a 404 is one as well |
//! | 401, 403 | `AUTH_REQUIRED` |
//! | 429 | `RATE_LIMIT`, with the time after which the server wants to be asked again |
//! | 500 and above; more redirects than are followed | `PROVIDER_ERROR` |
//! | no connection, or one that broke | `NETWORK_ERROR` |
//! | no whole answer in time | `TIMEOUT` |
//! | a host, an address, a method that is not allowed | `POLICY_DENIED` |
//!
//! # What is closed
//!
//! - Hosts: all but those that were allowed, for the first request and for every redirect.
//! - Addresses: a name that leads into the machine or its network is not followed, whatever it is called and
//!   whenever that changes: addresses are looked at where the connection is made. See
//!   [`allow_private`](HttpTool::allow_private).
//! - Methods: all but `GET` and `HEAD`. Others make it a tool that [writes](crate::Effects::Writes); such a
//!   call needs somebody's approval.
//! - Proxies of the environment, cookies and compressed answers are not used.

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

/// A tool that asks servers; see [`http`](crate::http).
pub struct HttpTool {
    name: String,
    hosts: Vec<Pattern>,
    methods: Vec<Method>,
    private: bool,
    headers: Vec<Sent>,
    timeout: Duration,
    redirects: usize,
    max_bytes: usize,
    preview: usize,
    spec: OnceLock<ToolSpec>,
    /// The client, and the runtime that drives its connections.
    client: Mutex<Option<(tokio::runtime::Id, Client)>>,
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

/// What a model says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpArgs {
    url: String,
    #[serde(default)]
    method: Method,
    #[serde(default)]
    body: Option<Json>,
}

impl Default for HttpTool {
    fn default() -> Self {
        HttpTool::new()
    }
}

impl HttpTool {
    /// A tool that may ask nobody yet.
    pub fn new() -> Self {
        HttpTool {
            name: "http_request".to_owned(),
            hosts: Vec::new(),
            methods: vec![Method::Get, Method::Head],
            private: false,
            headers: Vec::new(),
            timeout: Duration::from_secs(30),
            redirects: 5,
            max_bytes: 1_000_000,
            preview: 20_000,
            spec: OnceLock::new(),
            client: Mutex::new(None),
        }
    }

    /// What the model calls it; `http_request` where nothing is said.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Allows a host: `api.example.com`, or with `*.example.com` all those below it. Without a port it is
    /// the usual one of `http` and `https`; `example.com:8443` allows that one alone.
    ///
    /// # Panics
    /// When that is no host, such as a whole URL.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        self.hosts.push(pattern(host));
        self
    }

    /// Allows every host of the public internet, on the usual ports.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.hosts.push(Pattern::any());
        self
    }

    /// Allows hosts that are allowed to lead to this machine and its network, too.
    #[must_use]
    pub fn allow_private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Allows a method beside `GET` and `HEAD`: `POST`, `PUT`, `PATCH` or `DELETE`. A call that uses it
    /// needs approval.
    #[must_use]
    pub fn allow_method(mut self, method: Method) -> Self {
        if !self.methods.contains(&method) {
            self.methods.push(method);
        }
        self
    }

    /// Sends `Authorization: Bearer` and the secret of this name to that host. Where nobody has it, the call
    /// ends with `AUTH_REQUIRED`. It is never sent in the clear, but to this machine.
    ///
    /// # Panics
    /// When that is no host.
    #[must_use]
    pub fn bearer(self, host: &str, secret: impl Into<String>) -> Self {
        self.send(host, AUTHORIZATION, "Bearer ", secret.into())
    }

    /// Sends the secret of this name to that host in a header of its own, such as `x-api-key`.
    ///
    /// # Panics
    /// When that is no host, or no header.
    #[must_use]
    pub fn secret_header(self, host: &str, header: &str, secret: impl Into<String>) -> Self {
        match HeaderName::from_bytes(header.as_bytes()) {
            Ok(name) => self.send(host, name, "", secret.into()),
            Err(_) => panic!("`{header}` is no header"),
        }
    }

    fn send(mut self, host: &str, name: HeaderName, prefix: &'static str, secret: String) -> Self {
        self.headers.push(Sent {
            to: pattern(host),
            name,
            prefix,
            secret,
        });
        self
    }

    /// How long a call may take, redirects included; 30 seconds where nothing is said.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many redirects are followed; 5 where nothing is said.
    #[must_use]
    pub fn redirects(mut self, most: usize) -> Self {
        self.redirects = most;
        self
    }

    /// How much of a body is read at all; 1 MB where nothing is said.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How much of a body the model is shown; 20 kB where nothing is said.
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
