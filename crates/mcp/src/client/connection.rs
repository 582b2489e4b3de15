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
    stdio::{self, Process},
    wording,
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
use std::sync::Arc;
use tokio::sync::Mutex;

/// Connection of a client to an MCP server, from its handshake to its end.
pub(super) struct Connection {
    name: String,
    server: Server,
    service: RunningService<RoleClient, Handler>,
    listing: Mutex<Option<Arc<Listing>>>,
    process: Option<Process>,
}

impl Connection {
    /// Connects to the server, with the handshake of the protocol. The caller sets the time limit.
    pub(super) async fn open(
        server: &Server,
        name: &str,
        #[cfg(feature = "auth")] authorization: Option<&Authorization>,
    ) -> Result<Self, McpError> {
        let handler = Handler::new(server, name);
        match &server.reached {
            Reached::Child(child) => {
                let started = stdio::start(name, child, server.max_message_bytes);
                let (transport, process) =
                    started.map_err(|error| wording::not_started(name, &child.program, &error))?;
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
                let config = super::http::config(name, url, server.max_message_bytes)?;
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

    /// Returns `true` if the server has closed the connection or ended.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Returns the tools of the server. They are read again only if the server has said that its tools or its resources
    /// have changed.
    pub(super) async fn listing(&self) -> Result<Arc<Listing>, McpError> {
        let mut known = self.listing.lock().await;
        if self.service.service().takes_change() {
            *known = None;
        }
        if let Some(listing) = &*known {
            return Ok(listing.clone());
        }
        let failed = |error: &ServiceError| self.failed(error);
        let read = listing::read(self.service.peer(), &self.server, &self.name, failed);
        let listing = tokio::time::timeout(self.server.connect_timeout, read).await;
        let mut listing = listing.unwrap_or_else(|_| {
            let limit = self.server.connect_timeout;
            Err(wording::no_list(&self.name, limit))
        })?;
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

    /// Reads the resource at this URI from the server.
    pub(super) async fn read(&self, uri: &str) -> Result<Content, McpError> {
        let request = ReadResourceRequestParams::new(uri);
        let read = self.within(self.service.read_resource(request)).await?;
        offers::content(&read).map_err(|why| wording::unreadable(&self.name, &why))
    }

    /// Lists the resources that the server has, page by page.
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

    /// Lists the prompts that the server has, page by page.
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

    /// Returns the messages of a prompt, which the server writes from these arguments.
    pub(super) async fn prompt(
        &self,
        prompt: &str,
        args: JsonObject,
    ) -> Result<Vec<Message>, McpError> {
        let request = GetPromptRequestParams::new(prompt).with_arguments(args);
        let written = self.within(self.service.get_prompt(request)).await?;
        offers::messages(&written).map_err(|why| wording::unreadable(&self.name, &why))
    }

    /// Waits for the server's answer, for as long as a call of a tool may take; without a timeout for calls, for as
    /// long as the server may take to start.
    async fn within<T>(
        &self,
        asked: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpError> {
        let limit = self.server.timeout.unwrap_or(self.server.connect_timeout);
        match tokio::time::timeout(limit, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.failed(&error)),
            Err(_) => Err(wording::no_answer(&self.name, limit)),
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
                let output = output::of(&self.name, result, has_schema);
                return output.map_err(|error| match error.kind() {
                    // The server says that it has carried out the call.
                    McpErrorKind::Protocol => Failure::Unusable(error),
                    _ => Failure::Answered(error),
                });
            }
            Err(error) => error,
        };
        Err(match self.answered(&error) {
            Some(error) => Failure::Answered(error),
            None => Failure::Unusable(self.lost(&error)),
        })
    }

    /// Returns the error of a request that the server has refused, or to which it has given no usable answer.
    fn failed(&self, error: &ServiceError) -> McpError {
        self.answered(error).unwrap_or_else(|| self.lost(error))
    }

    /// Returns the error with which the server itself has answered a request. The result is `None` if the server has
    /// given no such answer: then nobody knows whether the request took effect.
    fn answered(&self, error: &ServiceError) -> Option<McpError> {
        match error {
            ServiceError::McpError(said) => {
                let kind = match said.code {
                    ErrorCode::INVALID_PARAMS => McpErrorKind::InvalidArguments,
                    ErrorCode::METHOD_NOT_FOUND => McpErrorKind::Changed,
                    _ => McpErrorKind::Failed,
                };
                Some(wording::answers_with_error(&self.name, kind, &said.message))
            }
            error => {
                let challenge = challenge_of_request(error);
                if challenge.is_none() && !error.is_authorization_required() {
                    return None;
                }
                Some(wording::unauthorized(&self.name).challenged(challenge))
            }
        }
    }

    fn lost(&self, error: &ServiceError) -> McpError {
        if matches!(error, ServiceError::UnexpectedResponse) {
            return wording::other_answer(&self.name);
        }
        let process = self.process.as_ref();
        let said = process.map_or_else(String::new, Process::said);
        wording::lost(&self.name, error, &said)
    }
}

/// Reason why a call of a server's tool has no result.
pub(super) enum Failure {
    /// The server, or a proxy in front of it, has answered with this error. The effect of the call is not taken to be
    /// in doubt.
    Answered(McpError),
    /// The call has no usable answer: the connection to the server was lost, the server answered something else than it
    /// was asked for, or its result cannot be read. Nobody knows what effect the call had.
    Unusable(McpError),
}

impl Failure {
    /// Returns the failure as the cause with which the call ends. After [`Unusable`](Failure::Unusable), the effect of
    /// a call of a tool that writes is in doubt.
    pub(super) fn cause(self, writes: bool) -> Cause {
        match self {
            Failure::Unusable(error) if writes => Cause::interrupted(error.to_string()),
            Failure::Answered(error) | Failure::Unusable(error) => cause(error),
        }
    }
}

/// Returns the cause with which a call ends that failed with this error.
pub(super) fn cause(error: McpError) -> Cause {
    let (code, after) = (error.code(), error.retry_after());
    Cause::returned(error, code, after)
}

fn refused(name: &str, error: &ClientInitializeError, said: &str) -> McpError {
    let challenge = challenge_of_handshake(error);
    if challenge.is_some() || error.is_authorization_required() {
        return wording::unauthorized(name).challenged(challenge);
    }
    wording::no_handshake(name, error, said)
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
