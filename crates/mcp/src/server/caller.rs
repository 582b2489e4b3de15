//! Models that stand for a host: one makes the call that the host has asked for, the other looks at the tools.

use super::wording;
use agents_core::{
    async_trait,
    model::{Capabilities, Media, Message, Model, ModelError, Reply, Request, ToolCall},
    tool::ToolSpec,
};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::SeqCst},
};

/// Prompt of the agent that stands for the host. By it, a model recognises the requests of this agent among those of
/// others.
pub(super) const PROMPT: &str = "You stand for an MCP host, which has asked for one call.";

/// Model that makes the one call that a host has asked for, and then ends the run. Agents without a model of their own
/// are driven by `others`.
pub(super) struct OneCall {
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) others: Option<Arc<dyn Model>>,
    pub(super) is_made: AtomicBool,
    /// Images and files of the call's output, once the call has been made.
    pub(super) files: Arc<Mutex<Vec<Media>>>,
}

#[async_trait]
impl Model for OneCall {
    fn id(&self) -> &str {
        "mcp/host"
    }

    fn capabilities(&self) -> Capabilities {
        match &self.others {
            Some(model) => Capabilities {
                images: true,
                files: true,
                ..model.capabilities()
            },
            None => Capabilities {
                images: true,
                files: true,
                ..Capabilities::default()
            },
        }
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        if !is_of_the_host(&request) {
            return match &self.others {
                Some(model) => {
                    // A run has checked only what can be shown to the host.
                    request.check_media(&**model)?;
                    model.chat(request).await
                }
                None => Err(wording::no_model()),
            };
        }
        if self.is_made.swap(true, SeqCst) {
            if let Some(message) = request.messages().last() {
                let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
                *files = message.media().to_vec();
            }
            return Ok(done());
        }
        let call = ToolCall {
            id: "call".to_owned(),
            name: self.tool.clone(),
            arguments: self.arguments.clone(),
        };
        Ok(Reply {
            calls: vec![call],
            ..Reply::default()
        })
    }
}

/// Model that notes the tools that it is offered, so that they can be listed for a host.
#[derive(Clone, Default)]
pub(super) struct Looks(pub(super) Arc<Mutex<Vec<ToolSpec>>>);

#[async_trait]
impl Model for Looks {
    fn id(&self) -> &str {
        "mcp/host"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = request.tools().cloned().collect();
        Ok(done())
    }
}

/// Returns the answer with which the run of a host's call ends. Nobody reads it, but it must not be empty.
fn done() -> Reply {
    Reply {
        content: "done".to_owned(),
        ..Reply::default()
    }
}

fn is_of_the_host(request: &Request<'_>) -> bool {
    matches!(request.messages().first(), Some(Message::System { content }) if content == PROMPT)
}
