//! The client: what it is set to, and one question at a time.

use crate::{
    answer::{Answer, Fault},
    body::{Mode, body},
    config::{Config, Ready},
    error::{Place, Refusal, refuses_tools},
    learned,
    receive::{salvaged, streamed, unwrapped, whole},
    salvage,
    settings::ToolMode,
    transport::{self, Body, Broken, Post},
};
use agents_core::model::{Model, ModelError, ModelErrorKind, Reply, Request, prompted};
use async_trait::async_trait;
use http::{Method, Response, StatusCode};
use serde::Deserialize;
use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

/// Whether the server is there is a question for this long.
const GLANCE: Duration = Duration::from_millis(500);

/// A model on an Ollama server, made by [`ollama`](crate::ollama).
///
/// Cloning is cheap. What a server says about a model is known to all clients of the process that
/// are made after it, and to clones. Connections are shared by all clients of a tokio runtime.
///
/// ```
/// # mod agents { pub use agents_core::*; pub use agents_ollama::ollama; }
/// use agents::{AgentBuilder, model::Model, ollama};
/// use std::time::Duration;
///
/// let base = ollama("qwen3:4b").temperature(0.0).num_ctx(16_384).timeout(Duration::from_secs(120));
/// // A clone with one thing changed is another client of the same server.
/// let creative = base.clone().temperature(0.9);
/// let planner = AgentBuilder::<String, String>::new("planner").model(base.retry(3)).build();
/// let poet = AgentBuilder::<String, String>::new("poet").model(creative).build();
/// ```
#[derive(Clone)]
pub struct Ollama {
    pub(crate) config: Arc<Config>,
}

#[async_trait]
impl Model for Ollama {
    fn id(&self) -> &str {
        &self.config.id
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let ready = self.config.ready()?;
        let mode = self.mode(ready, &request);
        match self.ask(ready, &request, mode).await {
            Err(Asked::NoTools) => {
                tracing::info!(
                    model = self.config.name,
                    "the model has no tools; offering them by prompt from now on"
                );
                ready.no_tools.store(true, Ordering::Relaxed);
                learned::without(&ready.server, &self.config.name);
                self.ask(ready, &request, Mode::Prompted).await
            }
            answered => answered,
        }
        .map_err(|asked| match asked {
            Asked::Failed(error) => error,
            Asked::NoTools => ModelError::new(
                ModelErrorKind::Refused,
                "a prompt cannot be refused for its tools",
            ),
        })
    }
}

/// Why there is no reply.
enum Asked {
    /// Tools were offered on the understanding that this might happen.
    NoTools,
    Failed(ModelError),
}

impl From<ModelError> for Asked {
    fn from(error: ModelError) -> Self {
        Asked::Failed(error)
    }
}

impl Ollama {
    fn mode(&self, ready: &Ready, request: &Request<'_>) -> Mode {
        match self.config.tools {
            ToolMode::Auto if ready.no_tools.load(Ordering::Relaxed) => Mode::Prompted,
            ToolMode::Auto | ToolMode::Native => Mode::Native,
            ToolMode::Prompted => Mode::Prompted,
            // Where there is nothing to do but to answer, or to give up, no form is needed.
            ToolMode::Constrained if !prompted::any_work(request.tools()) => Mode::Prompted,
            ToolMode::Constrained => Mode::Constrained,
        }
    }

    fn place<'a>(&'a self, ready: &'a Ready, path: &'static str) -> Place<'a> {
        Place {
            model: &self.config.name,
            server: &ready.server,
            path,
            wait: self.config.wait,
        }
    }

    async fn ask(&self, ready: &Ready, request: &Request<'_>, mode: Mode) -> Result<Reply, Asked> {
        let grammar = mode == Mode::Constrained && request.has_tools();
        let stream = self.config.streaming && request.sink().is_some();
        // The text of a constrained reply is JSON around what is meant: nothing to show.
        let sink = if grammar { None } else { request.sink() };

        let mut post = Post::new(body(ready, request, mode, stream).into());
        *post.method_mut() = Method::POST;
        *post.uri_mut() = ready.chat.clone();
        *post.headers_mut() = ready.headers.clone();
        let place = self.place(ready, "api/chat");
        let response = transport::send(post, &ready.route, self.config.wait)
            .await
            .map_err(|broken| place.broken(&broken))?;

        let status = response.status();
        if status != StatusCode::OK {
            return self.refused(&place, response, request, mode).await;
        }
        let body = response.into_body();
        let reply = if stream {
            streamed(&place, body, request, sink).await?
        } else {
            whole(&place, body, request, sink).await?
        };
        Ok(if grammar {
            unwrapped(reply, request.sink())
        } else {
            Reply {
                prompted: mode == Mode::Prompted && request.has_tools(),
                ..reply
            }
        })
    }

    /// The server answered with another status than 200.
    async fn refused(
        &self,
        place: &Place<'_>,
        response: Response<Body>,
        request: &Request<'_>,
        mode: Mode,
    ) -> Result<Reply, Asked> {
        let refusal = Refusal::of(&response);
        let read = |bytes: &[u8], _| {
            let said = Refusal::said(bytes);
            if refusal.status == StatusCode::BAD_REQUEST
                && mode == Mode::Native
                && self.config.tools == ToolMode::Auto
                && request.has_tools()
                && said.as_deref().is_some_and(refuses_tools)
            {
                return Err(Asked::NoTools);
            }
            if let Some(call) = said
                .as_deref()
                .and_then(|text| salvage::call(text, request))
            {
                return Ok(salvaged(Answer::default(), call));
            }
            Err(place.refused(&refusal, bytes).into())
        };
        response.into_body().whole(read).await
    }

    /// Returns the server's address, without credentials.
    pub fn address(&self) -> String {
        self.config
            .base
            .as_ref()
            .map_or_else(Clone::clone, ToString::to_string)
    }

    /// Lists the models on the server, as `ollama list` does.
    ///
    /// ```
    /// # mod agents { pub use agents_core::*; pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// # async fn check() -> Result<(), agents::model::ModelError> {
    /// // At the start of a program, before the first user waits for it.
    /// let model = ollama("qwen3:4b");
    /// if !model.models().await?.iter().any(|name| name == "qwen3:4b") {
    ///     eprintln!("run `ollama pull qwen3:4b`");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the server cannot be reached, or does not answer as Ollama does.
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        #[derive(Deserialize)]
        struct Tags {
            #[serde(default)]
            models: Option<Vec<Tag>>,
        }
        #[derive(Deserialize)]
        struct Tag {
            name: String,
        }
        let ready = self.config.ready()?;
        let place = self.place(ready, "api/tags");
        let response = self
            .get(ready, "api/tags", self.config.wait)
            .await
            .map_err(|broken| place.broken(&broken))?;
        let refusal = Refusal::of(&response);
        let read =
            |bytes: &[u8], broken: Option<Broken>| match serde_json::from_slice::<Tags>(bytes) {
                _ if refusal.status != StatusCode::OK => Err(place.refused(&refusal, bytes)),
                Ok(tags) => Ok(tags
                    .models
                    .into_iter()
                    .flatten()
                    .map(|tag| tag.name)
                    .collect()),
                Err(error) => Err(match broken {
                    Some(broken) => place.broken(&broken),
                    None => place.fault(Fault::NotJson(error), bytes),
                }),
            };
        response.into_body().whole(read).await
    }

    /// Returns whether an Ollama server answers, within half a second.
    ///
    /// ```
    /// # mod agents { pub use agents_core::*; pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let model = ollama("qwen3:4b").url("http://127.0.0.1:1"); // nobody is there
    /// if !model.is_up().await {
    ///     eprintln!("no Ollama at {}: start it with `ollama serve`", model.address());
    /// }
    /// # assert!(!model.is_up().await);
    /// # }
    /// ```
    pub async fn is_up(&self) -> bool {
        let Ok(ready) = self.config.ready() else {
            return false;
        };
        let answered = self.get(ready, "api/version", GLANCE).await;
        answered.is_ok_and(|response| response.status() == StatusCode::OK)
    }

    async fn get(
        &self,
        ready: &Ready,
        path: &str,
        wait: Duration,
    ) -> Result<Response<Body>, Broken> {
        let mut get = Post::default();
        *get.uri_mut() = ready.route.target(ready.base.endpoint(path));
        *get.headers_mut() = ready.headers.clone();
        transport::send(get, &ready.route, wait).await
    }
}

impl fmt::Debug for Ollama {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config {
            name,
            base,
            options,
            keep_alive,
            think,
            wait,
            streaming,
            tools,
            headers,
            ..
        } = &*self.config;
        let mut out = f.debug_struct("Ollama");
        out.field("model", name);
        match base {
            Ok(address) => out.field("url", &address.to_string()),
            Err(why) => out.field("url", why),
        };
        for (name, value) in options {
            out.field(name, &format_args!("{value}"));
        }
        if let Some(keep_alive) = keep_alive {
            out.field("keep_alive", &format_args!("{}", keep_alive.0));
        }
        if let Some(think) = think {
            out.field("think", &format_args!("{}", think.0));
        }
        out.field("timeout", wait)
            .field("streaming", streaming)
            .field("tools", tools);
        if !headers.is_empty() {
            out.field("headers", headers);
        }
        out.finish()
    }
}
