//! Our side of a connection: notifications of the server, and its requests to us.

// Servers of the revision 2025-11-25 log and ask for models by way of the protocol; later revisions call that deprecated.
#![expect(deprecated)]

use super::{
    Server, lent,
    question::{self, Asks},
    wording,
};
use rmcp::{
    ClientHandler, ErrorData,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequestParams, ElicitResult, ElicitationCapability, FormElicitationCapability,
        Implementation, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
        ProtocolVersion,
    },
    service::{NotificationContext, RequestContext, RoleClient},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

/// Handler of the notifications and requests that a server sends to this client. The handler offers no folders
/// ("roots"). The server may use a model or ask a person only if the description of the server permits that.
#[derive(Clone)]
pub(super) struct Handler {
    server: Arc<str>,
    asks: Option<Asks>,
    lent: Option<lent::Lent>,
    /// Is `true` if the server has said that its list of tools or of resources has changed since it was read.
    is_stale: Arc<AtomicBool>,
}

impl Handler {
    pub(super) fn new(server: &Server, name: &str) -> Self {
        Handler {
            server: name.into(),
            asks: server.asks.clone(),
            lent: server.lent.clone(),
            is_stale: Arc::default(),
        }
    }

    /// Returns `true` if the list of tools or of resources has changed since it was read, and resets that: the caller
    /// reads the list again.
    pub(super) fn takes_change(&self) -> bool {
        self.is_stale.swap(false, SeqCst)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("agents", env!("CARGO_PKG_VERSION"));
        let mut able = ClientCapabilities::default();
        able.sampling = self.lent.as_ref().map(|_| Default::default());
        able.elicitation = self
            .asks
            .as_ref()
            .map(|_| ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        ClientConfig::new(able, own).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match &self.asks {
            Some(asks) => asks.answer(&self.server, asked).await,
            None => Ok(question::declined(&self.server, wording::NOBODY_IS_ASKED)),
        }
    }

    async fn create_message(
        &self,
        asked: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        match &self.lent {
            Some(lent) => lent.answer(&self.server, asked).await,
            None => Err(wording::no_model(&self.server)),
        }
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        tracing::debug!(server = %self.server, "the server has changed its resources");
        self.is_stale.store(true, SeqCst);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        tracing::debug!(server = %self.server, "the server has changed its tools");
        self.is_stale.store(true, SeqCst);
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let ProgressNotificationParam {
            progress,
            total,
            message,
            ..
        } = progress;
        let message = message.unwrap_or_default();
        tracing::debug!(server = %self.server, progress, total, message, "a call makes progress");
    }

    async fn on_logging_message(
        &self,
        said: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let LoggingMessageNotificationParam { level, data, .. } = said;
        match level {
            LoggingLevel::Debug => tracing::trace!(server = %self.server, %data, "the server says"),
            LoggingLevel::Info | LoggingLevel::Notice => {
                tracing::debug!(server = %self.server, %data, "the server says");
            }
            _ => tracing::warn!(server = %self.server, %data, "the server says"),
        }
    }
}
