//! The client: chooses the tool mode, sends chat requests, and lists models.

use crate::{
    answer::{Answer, AnswerError},
    body::{Mode, body},
    config::{Config, RequestTemplate},
    error::{ErrorContext, Refusal, refuses_tools},
    receive::{complete, streamed, unwrap_constrained, with_call},
    salvage,
    settings::ToolMode,
    tool_support,
};
use agents_core::model::{
    Capabilities, ContextOverflow, History, Message, Model, ModelError, ModelErrorKind, Reply,
    Request, prompted,
};
use agents_http::{
    Body, Hidden, KeyHeader, Limits, TransportError,
    http::{Response, StatusCode},
    request_id,
};
use async_trait::async_trait;
use serde::Deserialize;
use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

/// Time after which [`Ollama::is_up`] takes a server that does not answer for down. The question for the window of a
/// loaded model is given up after it, too.
const PROBE_TIMEOUT: Duration = Duration::from_millis(500);

/// Window that any server gives to a model by itself, in tokens; the newer ones give more.
const SMALLEST_WINDOW: u64 = 2_048;

/// A model on an Ollama server, made by [`ollama`](crate::ollama).
///
/// Cloning is cheap. A server's report that a model has no tools is remembered for the process. Clones know of it, and
/// so do clients made later. All clients of a tokio runtime share their connections.
///
/// ```
/// # mod agents { pub use agents_core::*; pub use agents_ollama::ollama; }
/// use agents::{AgentBuilder, model::Model, ollama};
/// use std::time::Duration;
///
/// let base = ollama("qwen3:4b").temperature(0.0).window(16_384).timeout(Duration::from_secs(120));
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

    /// Returns the abilities of a model that reads images: only an error of Ollama shows that a model cannot. The
    /// window is that of [`window`](Ollama::window).
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            images: true,
            window: self.config.window(),
            ..Capabilities::default()
        }
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let template = self.config.template()?;
        check_images(&request)?;
        let mode = self.mode(template, &request);
        match self.ask(template, &request, mode).await {
            Err(ChatError::NoTools) => {
                tracing::info!(
                    model = self.config.name,
                    "the model has no tools; offering them by prompt from now on"
                );
                template.no_tools.store(true, Ordering::Relaxed);
                tool_support::record_no_tools(template.server.name(), &self.config.name);
                self.ask(template, &request, Mode::Prompted).await
            }
            answered => answered,
        }
        .map_err(|asked| match asked {
            ChatError::Failed(error) => error,
            ChatError::NoTools => ModelError::new(
                ModelErrorKind::Refused,
                "a prompt cannot be refused for its tools",
            ),
        })
    }
}

/// Checks that all images of a request are given as bytes: Ollama fetches none from an address.
fn check_images(request: &Request<'_>) -> Result<(), ModelError> {
    let is_given = |message: &Message| message.media().iter().all(|one| one.base64().is_some());
    if request.history().has_images() && !request.messages().iter().all(is_given) {
        return Err(ModelError::new(
            ModelErrorKind::Setup,
            "Ollama fetches no images: give their bytes with `Media::bytes(..)`, not a URL",
        ));
    }
    Ok(())
}

/// Reason why a chat request has no reply.
enum ChatError {
    /// The server refused the tools, and [`ToolMode::Auto`] permits a second request that describes them in the prompt.
    NoTools,
    Failed(ModelError),
}

impl From<ModelError> for ChatError {
    fn from(error: ModelError) -> Self {
        ChatError::Failed(error)
    }
}

impl Ollama {
    fn mode(&self, template: &RequestTemplate, request: &Request<'_>) -> Mode {
        match self.config.tools {
            ToolMode::Auto if template.no_tools.load(Ordering::Relaxed) => Mode::Prompted,
            ToolMode::Auto | ToolMode::Native => Mode::Native,
            ToolMode::Prompted => Mode::Prompted,
            // Without a tool that does work, the model can only answer or give up: no grammar is needed.
            ToolMode::Constrained if !prompted::any_work(request.tools()) => Mode::Prompted,
            ToolMode::Constrained => Mode::Constrained,
        }
    }

    fn error_context<'a>(
        &'a self,
        template: &'a RequestTemplate,
        path: &'static str,
        hidden: Hidden<'a>,
    ) -> ErrorContext<'a> {
        ErrorContext {
            hidden,
            model: &self.config.name,
            server: template.server.name(),
            path,
            window: self.config.window(),
            request_id: None,
        }
    }

    async fn ask(
        &self,
        template: &RequestTemplate,
        request: &Request<'_>,
        mode: Mode,
    ) -> Result<Reply, ChatError> {
        let grammar = mode == Mode::Constrained && request.has_tools();
        let stream = self.config.streaming && request.sink().is_some();
        // A constrained reply is JSON around the answer, so its text is not streamed.
        let sink = if grammar { None } else { request.sink() };

        let (body, sent) = body(template, &self.config.dialect, request, mode, stream);
        let post = template.server.post(&template.chat, body);
        let post = post.with_hook(self.config.hook.as_ref());
        let credential = self.config.credential.as_ref();
        let post = post
            .authorized(credential, request, KeyHeader::BEARER)
            .await?;
        let mut context = self.error_context(template, "api/chat", post.hidden());
        let response = post
            .send(&template.limits.within(request.patience()))
            .await
            .map_err(|failure| context.transport(&failure))?;
        context.request_id = request_id(response.headers()).map(str::to_owned);

        let status = response.status();
        if status != StatusCode::OK {
            return self.refused(&context, response, request, mode).await;
        }
        let body = response.into_body();
        let reply = if stream {
            streamed(&context, body, request, sink).await?
        } else {
            complete(&context, body, request, sink).await?
        };
        self.check_read(template, &context, sent, &reply).await?;
        Ok(if grammar {
            unwrap_constrained(reply, request.sink())
        } else {
            Reply {
                prompted: mode == Mode::Prompted && request.has_tools(),
                ..reply
            }
        })
    }

    /// Checks that the model has read all of a request, of which `sent` is a low estimate in tokens.
    ///
    /// A server that knows `truncate` has refused a request that is too long. An older one cuts it off without a word, and
    /// counts what is left. A smaller count alone proves nothing, since some versions leave out what was cached.
    /// Together with an estimate that exceeds the window, it proves that the request was cut off.
    async fn check_read(
        &self,
        template: &RequestTemplate,
        context: &ErrorContext<'_>,
        sent: u64,
        reply: &Reply,
    ) -> Result<(), ModelError> {
        let read = reply.usage.input_tokens;
        if read == 0 || read >= sent {
            return Ok(());
        }
        let window = match self.config.window() {
            Some(window) => Some(window.into()),
            None if sent <= SMALLEST_WINDOW => None,
            None => self.loaded_window(template).await,
        };
        match window {
            Some(window) if sent > window => Err(context.too_long(ContextOverflow {
                sent: Some(sent),
                read: Some(read),
                window: Some(window),
            })),
            _ => Ok(()),
        }
    }

    /// Returns the window with which the server has loaded the model, if it tells.
    async fn loaded_window(&self, template: &RequestTemplate) -> Option<u64> {
        #[derive(Deserialize)]
        struct Loaded {
            models: Vec<LoadedModel>,
        }
        #[derive(Deserialize)]
        struct LoadedModel {
            name: String,
            context_length: Option<u64>,
        }
        let limits = Limits {
            idle: PROBE_TIMEOUT,
            ..Limits::default()
        };
        let response = self.get(template, "api/ps", &limits).await.ok()?;
        let read = |bytes: &[u8], _| serde_json::from_slice::<Loaded>(bytes).ok();
        let loaded = response.into_body().read_all(read).await?;
        let name = &self.config.name;
        let is_it = |model: &LoadedModel| {
            model.name == *name || model.name.strip_suffix(":latest") == Some(name)
        };
        loaded.models.into_iter().find(is_it)?.context_length
    }

    /// Turns a response with another status than 200 into an error, or into the call that it reports.
    async fn refused(
        &self,
        context: &ErrorContext<'_>,
        response: Response<Body>,
        request: &Request<'_>,
        mode: Mode,
    ) -> Result<Reply, ChatError> {
        let refusal = Refusal::of(&response);
        let read = |bytes: &[u8], _| {
            let said = Refusal::said(bytes);
            if refusal.status == StatusCode::BAD_REQUEST
                && mode == Mode::Native
                && self.config.tools == ToolMode::Auto
                && request.has_tools()
                && said.as_deref().is_some_and(refuses_tools)
            {
                return Err(ChatError::NoTools);
            }
            if let Some(call) = said
                .as_deref()
                .and_then(|text| salvage::call(text, request))
            {
                return Ok(with_call(Answer::default(), call));
            }
            Err(context.refused(&refusal, bytes).into())
        };
        response.into_body().read_all(read).await
    }

    /// Returns the server's address, without credentials and query; if what was given is no address, a text that says so.
    pub fn address(&self) -> String {
        self.config
            .base
            .as_ref()
            .map_or_else(Clone::clone, ToString::to_string)
    }

    /// Lists the models on the server, as `ollama list` does. No run makes this request: of
    /// [credentials](Self::credential), it has the token of the organisation `""`.
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
    /// When the server cannot be reached, or does not answer as Ollama does. When the client's credential is a secret, which
    /// only a run has, or there is no token of the organisation `""`.
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
        let template = self.config.template()?;
        let context = self.error_context(template, "api/tags", template.server.hidden());
        let tags = template.server.endpoint("api/tags");
        let tags = tags.map_err(|failure| context.transport(&failure))?;
        let history = History::new();
        let (credential, request) = (self.config.credential.as_ref(), Request::new(&history));
        let get = template.server.get(&tags);
        let get = get
            .authorized(credential, &request, KeyHeader::BEARER)
            .await?;
        let mut context = self.error_context(template, "api/tags", get.hidden());
        let response = get
            .send(&template.limits)
            .await
            .map_err(|failure| context.transport(&failure))?;
        context.request_id = request_id(response.headers()).map(str::to_owned);
        let refusal = Refusal::of(&response);
        let read = |bytes: &[u8], failure: Option<TransportError>| match serde_json::from_slice::<
            Tags,
        >(bytes)
        {
            _ if refusal.status != StatusCode::OK => Err(context.refused(&refusal, bytes)),
            Ok(tags) => Ok(tags
                .models
                .into_iter()
                .flatten()
                .map(|tag| tag.name)
                .collect()),
            Err(error) => Err(match failure {
                Some(failure) => context.transport(&failure),
                None => context.invalid_answer(AnswerError::NotJson(error), bytes),
            }),
        };
        response.into_body().read_all(read).await
    }

    /// Returns `true` if an Ollama server answers within half a second.
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
        let Ok(template) = self.config.template() else {
            return false;
        };
        let limits = Limits {
            idle: PROBE_TIMEOUT,
            ..Limits::default()
        };
        let answered = self.get(template, "api/version", &limits).await;
        answered.is_ok_and(|response| response.status() == StatusCode::OK)
    }

    async fn get(
        &self,
        template: &RequestTemplate,
        path: &str,
        limits: &Limits,
    ) -> Result<Response<Body>, TransportError> {
        let endpoint = template.server.endpoint(path)?;
        template.server.get(&endpoint).send(limits).await
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
