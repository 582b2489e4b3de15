//! The client: sends requests, and lists models.

use crate::{
    ChatReply, ResponsesReply, chat,
    config::{Api, Config, KEY},
    responses,
};
use agents_core::model::{
    Capabilities, History, Model, ModelError, ModelErrorKind as Kind, Reply, Request,
};
use agents_http::{KeyHeader, Words, ask, get_json};
use async_trait::async_trait;
use serde::Deserialize;
use std::{fmt, sync::Arc};

/// A model on a server that speaks Chat Completions or Responses, made by [`openai`](crate::openai).
///
/// Cloning is cheap. All clients of a tokio runtime share their connections.
///
/// ```
/// # mod agents { pub use agents_core::*; pub use agents_openai::openai; }
/// use agents::{AgentBuilder, model::Model, openai};
///
/// let base = openai("gpt-6-mini").max_tokens(2_000);
/// // A clone with one thing changed is another client of the same server.
/// let careful = base.clone().reasoning_effort("high");
/// let planner = AgentBuilder::<String, String>::new("planner").model(careful.retry(3)).build();
/// let poet = AgentBuilder::<String, String>::new("poet").model(base).build();
/// ```
#[derive(Clone)]
pub struct OpenAi {
    pub(crate) config: Arc<Config>,
}

#[async_trait]
impl Model for OpenAi {
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
        let (limits, words) = (self.config.limits.within(request.patience()), self.words());
        let (stream, sink) = (request.sink().is_some() && able.streaming, request.sink());
        let is_responses = self.config.api == Api::Responses;
        if is_responses && !able.tools && request.has_tools() {
            let message =
                "tools are offered by prompt only in Chat Completions: leave out `.responses()`";
            return Err(ModelError::new(Kind::Setup, message));
        }
        let body = match is_responses {
            true => responses::body(template, &self.config, &request, stream),
            false => chat::body(template, &self.config, &request, stream),
        };
        let call = template.server.post(&template.endpoint, body);
        let call = call.with_hook(self.config.hook.as_ref());
        let call = call
            .authorized(credential, &request, KeyHeader::BEARER)
            .await?;
        if is_responses {
            return ask(call, &limits, ResponsesReply::default(), sink, &words).await;
        }
        let reply = ask(call, &limits, ChatReply::default(), sink, &words).await?;
        Ok(Reply {
            prompted: !able.tools && request.has_tools(),
            ..reply
        })
    }
}

impl OpenAi {
    fn words(&self) -> Words<'_> {
        Words {
            model: &self.config.name,
            url: "`.base_url(..)`",
            key: KEY,
        }
    }

    /// Returns the server's address, without credentials and query; if what was given is no address, a text that says
    /// so.
    pub fn address(&self) -> String {
        self.config
            .base
            .as_ref()
            .map_or_else(Clone::clone, ToString::to_string)
    }

    /// Lists the names of the server's models. No run makes this request: of [credentials](Self::credential), it has the
    /// token of the organisation `""`.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses the key, or lists no models. When the client's credential is a secret,
    /// which only a run has, or there is no token of the organisation `""`: list the models with a client that has an
    /// [`api_key`](Self::api_key).
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        #[derive(Deserialize)]
        struct List {
            data: Vec<Listed>,
        }
        #[derive(Deserialize)]
        struct Listed {
            id: String,
        }
        let template = self.config.template()?;
        let models = template.server.endpoint("models");
        let models = models.map_err(|error| ModelError::new(Kind::Setup, error.to_string()))?;
        let history = History::new();
        let (credential, request) = (self.config.credential.as_ref(), Request::new(&history));
        let call = template.server.get(&models);
        let call = call
            .authorized(credential, &request, KeyHeader::BEARER)
            .await?;
        let list: List = get_json(call, &self.config.limits, &self.words()).await?;
        Ok(list.data.into_iter().map(|model| model.id).collect())
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config {
            id,
            base,
            headers,
            fields,
            max_tokens,
            effort,
            limits,
            ..
        } = &*self.config;
        let mut out = f.debug_struct("OpenAi");
        out.field("model", id);
        match base {
            Ok(address) => out.field("base_url", &address.to_string()),
            Err(why) => out.field("base_url", why),
        };
        if let Some(tokens) = max_tokens {
            out.field("max_tokens", tokens);
        }
        if let Some(effort) = effort {
            out.field("reasoning_effort", effort);
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
