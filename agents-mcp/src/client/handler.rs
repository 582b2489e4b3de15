//! Our side of a connection: notifications of the server, and its requests to us.

// Servers of the revision 2025-11-25 log by way of the protocol; later revisions call that deprecated.
#![expect(deprecated)]

use rmcp::{
    ClientHandler,
    model::{
        ClientCapabilities, ClientConfig, Implementation, LoggingLevel,
        LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    },
    service::{NotificationContext, RoleClient},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

/// Handler of what a server sends on its own. It offers no roots and no sampling, and declines to ask people.
#[derive(Clone)]
pub(super) struct Handler {
    server: Arc<str>,
    /// Is `true` if the list of tools has changed since it was read.
    is_stale: Arc<AtomicBool>,
}

impl Handler {
    pub(super) fn new(server: &str) -> Self {
        Handler {
            server: server.into(),
            is_stale: Arc::default(),
        }
    }

    /// Returns `true` if the list of tools has changed, and takes note that it is read again.
    pub(super) fn takes_change(&self) -> bool {
        self.is_stale.swap(false, SeqCst)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("agents", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
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
