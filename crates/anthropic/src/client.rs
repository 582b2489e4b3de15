//! The client: sends requests.

use crate::{
    config::{Config, KEY, KEY_HEADER},
    messages::{MessagesReply, body, joined},
};
use agents_core::model::{Capabilities, FinishReason, Model, ModelError, Reply, Request};
use agents_http::{Words, ask};
use async_trait::async_trait;
use std::{fmt, sync::Arc};

/// Maximum number of pauses in one reply: a server that pauses is asked to go on.
const MAX_PAUSES: usize = 8;

/// A model on a server that speaks the Messages API, made by [`anthropic`](crate::anthropic).
///
/// Cloning is cheap. All clients of a tokio runtime share their connections.
///
/// ```
/// # mod agents { pub use agents_core::*; pub use agents_anthropic::anthropic; }
/// use agents::{AgentBuilder, anthropic, model::Model};
///
/// let base = anthropic("claude-sonnet-5");
/// // A clone with one thing changed is another client of the same server.
/// let careful = base.clone().effort("high");
/// let planner = AgentBuilder::<String, String>::new("planner").model(careful.retry(3)).build();
/// let poet = AgentBuilder::<String, String>::new("poet").model(base).build();
/// ```
#[derive(Clone)]
pub struct Anthropic {
    pub(crate) config: Arc<Config>,
}

#[async_trait]
impl Model for Anthropic {
    fn id(&self) -> &str {
        &self.config.id
    }

    fn capabilities(&self) -> Capabilities {
        self.config.capabilities
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let template = self.config.template()?;
        let able = self.config.capabilities;
        let credential = self.config.credential.as_ref();
        let stream = request.sink().is_some() && able.streaming;
        let words = Words {
            model: &self.config.name,
            url: "`.base_url(..)`",
            key: KEY,
        };
        let limits = self.config.limits.within(request.patience());
        let mut paused = None;
        for _ in 0..=MAX_PAUSES {
            let body = body(template, &self.config, &request, stream, paused.as_ref());
            let call = template.server.post(&template.messages, body);
            let call = call.with_hook(self.config.hook.as_ref());
            let call = call.authorized(credential, &request, KEY_HEADER).await?;
            let reply = ask(
                call,
                &limits,
                MessagesReply::default(),
                request.sink(),
                &words,
            )
            .await?;
            let reply = match paused.take() {
                Some(paused) => joined(paused, reply),
                None => reply,
            };
            // The server pauses when its own tools have worked for long, and goes on if it gets the reply back.
            let is_paused = reply.finish == FinishReason::Other("pause_turn".into());
            paused = Some(reply);
            if !is_paused {
                break;
            }
        }
        let reply = paused.unwrap_or_default();
        Ok(Reply {
            prompted: !able.tools && request.has_tools(),
            ..reply
        })
    }
}

impl Anthropic {
    /// Returns the server's address, without credentials and query; if what was given is no address, a text that says
    /// so.
    pub fn address(&self) -> String {
        self.config
            .base
            .as_ref()
            .map_or_else(Clone::clone, ToString::to_string)
    }
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config {
            id,
            base,
            headers,
            fields,
            cache,
            limits,
            ..
        } = &*self.config;
        let mut out = f.debug_struct("Anthropic");
        out.field("model", id);
        match base {
            Ok(address) => out.field("base_url", &address.to_string()),
            Err(why) => out.field("base_url", why),
        };
        out.field("max_tokens", &self.config.max_tokens());
        for (name, value) in fields.iter() {
            out.field(name, &format_args!("{value}"));
        }
        out.field("prompt_cache", cache);
        out.field("timeout", &limits.idle);
        if !headers.is_empty() {
            out.field("headers", headers);
        }
        out.finish()
    }
}
