//! A connection to a server.

#[cfg(feature = "auth")]
use super::oauth::Authorization;
use super::{
    McpError, McpErrorKind, Server,
    description::Reached,
    handler::Handler,
    listing::{self, Listing, Pages},
    offers::{self, ListedPrompt, ListedResource},
    output::{self, Output},
};
use agents_core::{
    ToolFailure,
    error::Cause,
    model::{Content, Message},
};
#[cfg(feature = "http")]
use rmcp::transport::streamable_http_client::StreamableHttpClientTransport;
use rmcp::{
    RoleClient,
    model::{
        CallToolRequestParams, ErrorCode, GetPromptRequestParams, JsonObject,
        ReadResourceRequestParams,
    },
    service::{ClientInitializeError, RunningService, ServiceError, serve_client},
};
use std::{fmt::Display, sync::Arc};
use tokio::sync::Mutex;

/// Error of a server that has to be told who we are.
const WHO_ASKS: &str = "wants to know who asks, or allows us too little; give it a token (`.bearer(..)`), or be authorized (`.oauth(..)` and `Mcp::authorization_url`)";

/// Connection to a server, from its handshake to its end.
pub(super) struct Connection {
    name: String,
    server: Server,
    service: RunningService<RoleClient, Handler>,
    listing: Mutex<Option<Arc<Listing>>>,
    process: Option<super::stdio::Process>,
}

impl Connection {
    /// Connects, and introduces us. The caller bounds the time.
    pub(super) async fn open(
        server: &Server,
        name: &str,
        #[cfg(feature = "auth")] authorization: Option<&Authorization>,
    ) -> Result<Self, McpError> {
        let handler = Handler::new(server, name);
        match &server.reached {
            Reached::Child(child) => {
                let started = super::stdio::start(name, child, server.max_message_bytes);
                let (transport, process) = started.map_err(|error| {
                    let program = &child.program;
                    let why = format!("`{program}` cannot be started: {error}");
                    unreachable(name, why)
                })?;
                match serve_client(handler, transport).await {
                    Ok(service) => Ok(Connection {
                        process: Some(process),
                        ..Self::of(server, name, service)
                    }),
                    Err(error) => {
                        // What the process wrote at its end is read a moment later.
                        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                        Err(refused(name, &error, &process.said()))
                    }
                }
            }
            #[cfg(feature = "http")]
            Reached::Url(url) => {
                let config = super::http::config(url, server.max_message_bytes);
                let config = config.map_err(|why| unreachable(name, why))?;
                #[cfg(feature = "auth")]
                if let Some(authorization) = authorization {
                    let client = authorization.client().await?;
                    let transport = StreamableHttpClientTransport::with_client(client, config);
                    let service = serve_client(handler, transport).await;
                    let service = service.map_err(|error| refused(name, &error, ""))?;
                    return Ok(Self::of(server, name, service));
                }
                let transport = StreamableHttpClientTransport::from_config(config);
                let service = serve_client(handler, transport).await;
                let service = service.map_err(|error| refused(name, &error, ""))?;
                Ok(Self::of(server, name, service))
            }
        }
    }

    fn of(server: &Server, name: &str, service: RunningService<RoleClient, Handler>) -> Self {
        Connection {
            name: name.to_owned(),
            server: server.clone(),
            service,
            listing: Mutex::default(),
            process: None,
        }
    }

    /// Returns `true` if the server is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Returns the tools of the server. They are read again only if the server has changed them.
    pub(super) async fn listing(&self) -> Result<Arc<Listing>, McpError> {
        let mut known = self.listing.lock().await;
        if self.service.service().takes_change() {
            *known = None;
        }
        if let Some(listing) = &*known {
            return Ok(listing.clone());
        }
        let failed = |error: &ServiceError| {
            self.answered(error).unwrap_or_else(|| {
                let why = format!("does not list its tools: {error}");
                self.wrong(McpErrorKind::Protocol, why)
            })
        };
        let read = listing::read(self.service.peer(), &self.server, &self.name, failed);
        let listing = tokio::time::timeout(self.server.connect_timeout, read).await;
        let listing = listing.unwrap_or_else(|_| {
            let limit = self.server.connect_timeout;
            let why = format!("does not list its tools within {limit:?}");
            Err(self.wrong(McpErrorKind::Unreachable, why))
        });
        let mut listing = listing?;
        let offers = self.service.peer().peer_info();
        let has_resources = offers.is_some_and(|info| info.capabilities.resources.is_some());
        if has_resources && !self.server.knowledge.is_empty() {
            let resources = self.resources().await?;
            listing::add_knowledge(&mut listing, resources, &self.server, &self.name);
        }
        let listing = Arc::new(listing);
        *known = Some(listing.clone());
        Ok(listing)
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str) -> Result<Content, McpError> {
        let request = ReadResourceRequestParams::new(uri);
        let read = self.within(self.service.read_resource(request)).await?;
        offers::content(&read).map_err(|why| self.wrong(McpErrorKind::Protocol, why))
    }

    /// Lists the resources.
    pub(super) async fn resources(&self) -> Result<Vec<ListedResource>, McpError> {
        let peer = self.service.peer();
        let mut listed = Vec::new();
        let mut pages = Pages::new(&self.server, &self.name, "resources");
        while let Some(request) = pages.next() {
            let page = self.within(peer.list_resources(Some(request))).await?;
            pages.read(page.resources.len(), page.next_cursor)?;
            listed.extend(page.resources.into_iter().map(ListedResource::from));
        }
        Ok(listed)
    }

    /// Lists the prompts.
    pub(super) async fn prompts(&self) -> Result<Vec<ListedPrompt>, McpError> {
        let peer = self.service.peer();
        let mut listed = Vec::new();
        let mut pages = Pages::new(&self.server, &self.name, "prompts");
        while let Some(request) = pages.next() {
            let page = self.within(peer.list_prompts(Some(request))).await?;
            pages.read(page.prompts.len(), page.next_cursor)?;
            listed.extend(page.prompts.into_iter().map(ListedPrompt::from));
        }
        Ok(listed)
    }

    /// Returns the messages of a prompt.
    pub(super) async fn prompt(
        &self,
        prompt: &str,
        args: JsonObject,
    ) -> Result<Vec<Message>, McpError> {
        let request = GetPromptRequestParams::new(prompt).with_arguments(args);
        let written = self.within(self.service.get_prompt(request)).await?;
        offers::messages(&written).map_err(|why| self.wrong(McpErrorKind::Protocol, why))
    }

    /// Waits for an answer for as long as a call may take.
    async fn within<T>(
        &self,
        asked: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpError> {
        let limit = self.server.timeout.unwrap_or(self.server.connect_timeout);
        match tokio::time::timeout(limit, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.answered(&error).unwrap_or_else(|| {
                let why = format!("was lost: {error}{}", self.said());
                self.wrong(McpErrorKind::Unreachable, why)
            })),
            Err(_) => {
                let why = format!("does not answer within {limit:?}");
                Err(self.wrong(McpErrorKind::Unreachable, why))
            }
        }
    }

    /// Calls a tool. If the call is dropped, the server is told that it is cancelled.
    pub(super) async fn call(
        &self,
        tool: &str,
        args: JsonObject,
        has_schema: bool,
    ) -> Result<Output, Failure> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let error = match self.service.call_tool(request).await {
            Ok(result) => {
                let output = output::of(result, has_schema);
                return output
                    .map_err(|why| Failure::Answered(McpError::new(McpErrorKind::Failed, why)));
            }
            Err(error) => error,
        };
        if let Some(error) = self.answered(&error) {
            return Err(Failure::Answered(error));
        }
        let why = format!(
            "the MCP server `{}` was lost during the call: {error}{}",
            self.name,
            self.said()
        );
        Err(Failure::Lost(why))
    }

    /// Returns the error by which the server itself has answered a call; `None` if it is not known what became of the
    /// call.
    fn answered(&self, error: &ServiceError) -> Option<McpError> {
        match error {
            ServiceError::McpError(said) => {
                let kind = match said.code {
                    ErrorCode::INVALID_PARAMS => McpErrorKind::InvalidArguments,
                    ErrorCode::METHOD_NOT_FOUND => McpErrorKind::Changed,
                    _ => McpErrorKind::Failed,
                };
                Some(self.wrong(kind, format!("says: {}", said.message)))
            }
            error => {
                let challenge = challenge_of_request(error);
                if challenge.is_none() && !error.is_authorization_required() {
                    return None;
                }
                let error = self.wrong(McpErrorKind::Unauthorized, WHO_ASKS);
                Some(error.challenged(challenge))
            }
        }
    }

    fn wrong(&self, kind: McpErrorKind, why: impl Display) -> McpError {
        McpError::new(kind, format!("the MCP server `{}` {why}", self.name))
    }

    fn said(&self) -> String {
        if let Some(process) = &self.process {
            return process.said();
        }
        String::new()
    }
}

/// Failure of a call.
pub(super) enum Failure {
    /// The server itself, or whoever stands before it, has answered: the call had no effect, or the server says which.
    Answered(McpError),
    /// The server was lost: it is not known what became of the call.
    Lost(String),
}

impl Failure {
    /// Returns the cause of the failed call of a tool that writes, or does not.
    pub(super) fn cause(self, writes: bool) -> Cause {
        match self {
            Failure::Answered(error) => cause(error),
            Failure::Lost(why) if writes => Cause::interrupted(why),
            Failure::Lost(why) => cause(McpError::new(McpErrorKind::Unreachable, why)),
        }
    }
}

/// Returns the cause of a call that failed with this error.
pub(super) fn cause(error: McpError) -> Cause {
    let (code, after) = (error.code(), error.retry_after());
    Cause::returned(error, code, after)
}

fn unreachable(name: &str, why: impl Display) -> McpError {
    McpError::new(
        McpErrorKind::Unreachable,
        format!("the MCP server `{name}`: {why}"),
    )
}

fn refused(name: &str, error: &ClientInitializeError, said: &str) -> McpError {
    let challenge = challenge_of_handshake(error);
    if challenge.is_some() || error.is_authorization_required() {
        let why = format!("the MCP server `{name}` {WHO_ASKS}");
        return McpError::new(McpErrorKind::Unauthorized, why).challenged(challenge);
    }
    unreachable(name, format!("the handshake failed: {error}{said}"))
}

#[cfg(feature = "http")]
fn challenge_of_request(error: &ServiceError) -> Option<&str> {
    error.auth_challenge()
}

#[cfg(not(feature = "http"))]
fn challenge_of_request(_: &ServiceError) -> Option<&str> {
    None
}

#[cfg(feature = "http")]
fn challenge_of_handshake(error: &ClientInitializeError) -> Option<&str> {
    error.auth_challenge()
}

#[cfg(not(feature = "http"))]
fn challenge_of_handshake(_: &ClientInitializeError) -> Option<&str> {
    None
}
