//! A connection to a server.

use super::{
    McpError, McpErrorKind, Server,
    description::Reached,
    handler::Handler,
    listing::{self, Listing},
    output,
};
use agents_core::ToolFailure;
use agents_core::error::Cause;
use rmcp::{
    RoleClient,
    model::{CallToolRequestParams, ErrorCode, JsonObject},
    service::{ClientInitializeError, RunningService, ServiceError, serve_client},
};
use serde_json::Value;
use std::{fmt::Display, sync::Arc};
use tokio::sync::Mutex;

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
    pub(super) async fn open(server: &Server, name: &str) -> Result<Self, McpError> {
        let handler = Handler::new(name);
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
                let transport = super::http::transport(url, server.max_message_bytes);
                let transport = transport.map_err(|why| unreachable(name, why))?;
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
        let read = listing::read(self.service.peer(), &self.server, &self.name);
        let listing = tokio::time::timeout(self.server.connect_timeout, read).await;
        let listing = listing.unwrap_or_else(|_| {
            let limit = self.server.connect_timeout;
            let why = format!("does not list its tools within {limit:?}");
            Err(self.wrong(McpErrorKind::Unreachable, why))
        })?;
        let listing = Arc::new(listing);
        *known = Some(listing.clone());
        Ok(listing)
    }

    /// Calls a tool. If the call is dropped, the server is told that it is cancelled.
    pub(super) async fn call(
        &self,
        tool: &str,
        args: JsonObject,
        writes: bool,
    ) -> Result<Value, Cause> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let error = match self.service.call_tool(request).await {
            Ok(result) => {
                let output = output::of(result);
                return output.map_err(|why| cause(McpError::new(McpErrorKind::Failed, why)));
            }
            Err(error) => error,
        };
        if let Some(error) = self.answered(&error) {
            return Err(cause(error));
        }
        let why = format!(
            "the MCP server `{}` was lost during the call: {error}{}",
            self.name,
            self.said()
        );
        Err(match writes {
            true => Cause::interrupted(why),
            false => cause(McpError::new(McpErrorKind::Unreachable, why)),
        })
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
            error if is_unauthorized(error) => {
                let why = "wants to know who asks; give it a token: `.bearer(..)` or `.header(..)`";
                Some(self.wrong(McpErrorKind::Unauthorized, why))
            }
            _ => None,
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
    if error.is_authorization_required() {
        let why = format!(
            "the MCP server `{name}` wants to know who asks; give it a token: `.bearer(..)` or `.header(..)`"
        );
        return McpError::new(McpErrorKind::Unauthorized, why);
    }
    unreachable(name, format!("the handshake failed: {error}{said}"))
}

fn is_unauthorized(error: &ServiceError) -> bool {
    error.is_authorization_required()
}
