//! The client: sends requests.

use crate::{
    config::{Config, KEY, KEY_HEADER},
    content::{ContentReply, body},
};
use agents_core::model::{Capabilities, Model, ModelError, Reply, Request};
use agents_http::{Words, ask};
use async_trait::async_trait;
use std::{fmt, sync::Arc};

/// A Gemini model, made by [`gemini`](crate::gemini).
///
/// Cloning is cheap. All clients of a tokio runtime share their connections.
///
/// ```
/// # mod agents { pub use agents_core::*; pub use agents_gemini::gemini; }
/// use agents::{AgentBuilder, gemini, model::Model};
///
/// let base = gemini("gemini-3-flash").max_tokens(2_000);
/// // A clone with one thing changed is another client of the same server.
/// let careful = base.clone().thinking_level("high");
/// let planner = AgentBuilder::<String, String>::new("planner").model(careful.retry(3)).build();
/// let poet = AgentBuilder::<String, String>::new("poet").model(base).build();
/// ```
#[derive(Clone)]
pub struct Gemini {
    pub(crate) config: Arc<Config>,
}

#[async_trait]
impl Model for Gemini {
    fn id(&self) -> &str {
        &self.config.id
    }

    fn provider(&self) -> &str {
        "gcp.gemini"
    }

    fn capabilities(&self) -> Capabilities {
        self.config.capabilities
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let template = self.config.template()?;
        let able = self.config.capabilities;
        let credential = self.config.credential.as_ref();
        let endpoint = match request.sink().is_some() && able.streaming {
            true => &template.stream,
            false => &template.whole,
        };
        let body = body(template, &self.config, &request);
        let words = Words {
            model: &self.config.name,
            url: "`.base_url(..)`",
            key: KEY,
        };
        let call = template.server.post(endpoint, body);
        let call = call.with_hook(self.config.hook.as_ref());
        let call = call.authorized(credential, &request, KEY_HEADER).await?;
        let reply = ask(
            call,
            &self.config.limits.within(request.patience()),
            ContentReply::default(),
            request.sink(),
            &words,
        )
        .await?;
        Ok(Reply {
            prompted: !able.tools && request.has_tools(),
            ..reply
        })
    }
}

impl Gemini {
    /// Returns the server's address, without credentials and query; if what was given is no address, a text that says
    /// so.
    pub fn address(&self) -> String {
        self.config
            .base
            .as_ref()
            .map_or_else(Clone::clone, ToString::to_string)
    }
}

impl fmt::Debug for Gemini {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config {
            id,
            base,
            headers,
            generation,
            fields,
            limits,
            ..
        } = &*self.config;
        let mut out = f.debug_struct("Gemini");
        out.field("model", id);
        match base {
            Ok(address) => out.field("base_url", &address.to_string()),
            Err(why) => out.field("base_url", why),
        };
        for (name, value) in generation {
            out.field(name, &format_args!("{value}"));
        }
        for (name, value) in fields.iter() {
            out.field(name, &format_args!("{value}"));
        }
        out.field("timeout", &limits.idle);
        if !headers.is_empty() {
            out.field("headers", headers);
        }
        out.finish()
    }
}
