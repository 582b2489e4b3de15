//! Builder methods for the settings of a client.

use crate::{
    OpenAi,
    config::{Api, Config},
};
use agents_core::model::Capabilities;
use agents_http::{Credential, Dialect, RawHook, RawReply};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// Fields of a request that the client sets itself, each with whatever sets it. A name with a dot is that of a field
/// within an object; a program can set the other fields of the object.
const OWN: [(&str, &str); 14] = [
    ("model", "`openai(..)`"),
    ("messages", "the conversation"),
    ("input", "the conversation"),
    ("stream", "whoever asks the model"),
    ("response_format", "the type of the answer"),
    ("text.format", "the type of the answer"),
    ("temperature", "`.temperature(..)`"),
    ("seed", "`.seed(..)`"),
    ("stop", "`.stop(..)`"),
    ("max_tokens", "`.max_tokens(..)`"),
    ("max_completion_tokens", "`.max_tokens(..)`"),
    ("max_output_tokens", "`.max_tokens(..)`"),
    ("reasoning_effort", "`.reasoning_effort(..)`"),
    ("reasoning.effort", "`.reasoning_effort(..)`"),
];

/// Creates a client for a model, by the name that its server knows.
///
/// The server is OpenAI, or the one that `OPENAI_BASE_URL` names, with the key in `OPENAI_API_KEY`. Both are read here.
/// `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID` are read as well. Nothing is sent before the first request.
///
/// ```
/// # mod agents { pub use agents_openai::openai; }
/// use agents::openai;
///
/// let model = openai("gpt-6-mini").temperature(0.0).max_tokens(2_000);
/// ```
#[must_use]
pub fn openai(name: impl Into<String>) -> OpenAi {
    OpenAi {
        config: Arc::new(Config::new(name.into())),
    }
}

impl OpenAi {
    fn set(mut self, change: impl FnOnce(&mut Config)) -> Self {
        // `make_mut` would keep the request template of the old settings.
        let mut config = Config::clone(&self.config);
        change(&mut config);
        self.config = Arc::new(config);
        self
    }

    /// Sets the server's address, without `/chat/completions` or `/responses` at the end. Most addresses end in `/v1`.
    ///
    /// An invalid address is reported by the first request. The key in `OPENAI_API_KEY` is not sent to this server (see
    /// [`api_key`](Self::api_key)), nor are the organization and the project from the environment.
    ///
    /// ```
    /// # mod agents { pub use agents_openai::openai; }
    /// use agents::openai;
    ///
    /// // vLLM, llama.cpp, LM Studio and others on this machine need no key.
    /// let model = openai("qwen3-8b").base_url("http://localhost:8000/v1");
    /// assert_eq!(model.address(), "http://localhost:8000/v1");
    /// ```
    #[doc(alias = "url", alias = "host")]
    #[must_use]
    pub fn base_url(self, url: impl AsRef<str>) -> Self {
        self.set(|config| config.set_base(url.as_ref()))
    }

    /// Sets the key, which is sent as `Authorization: Bearer` and never shown.
    ///
    /// ```
    /// # mod agents { pub use agents_openai::openai; }
    /// use agents::openai;
    ///
    /// let model = openai("gpt-6-mini").api_key("hunter2");
    /// assert!(!format!("{model:?}").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn api_key(self, key: impl AsRef<str>) -> Self {
        self.header("authorization", format!("Bearer {}", key.as_ref()))
    }

    /// Sets a credential that is looked up for each request, on behalf of the run that makes it: a secret by its name, or
    /// a token of OAuth. Neither the key of [`api_key`](Self::api_key) nor the key, the organization and the project
    /// from the environment are sent beside it.
    ///
    /// ```
    /// # mod agents { pub use agents_openai as openai; }
    /// use agents::openai::{Credential, openai};
    ///
    /// // Each organisation has its own key, which may change at any time: `.run(..).scope("acme").secrets(store)`.
    /// let model = openai("m").credential(Credential::secret("openai"));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn credential(self, credential: impl Into<Credential>) -> Self {
        self.set(|config| config.look_up(credential.into()))
    }

    /// Sends a header with every request; its value never shows in a log.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(|config| config.headers.set(name, value))
    }

    /// Sets the organization that is billed: the header `OpenAI-Organization`.
    #[must_use]
    pub fn organization(self, id: impl Into<String>) -> Self {
        self.header("openai-organization", id)
    }

    /// Speaks OpenAI's newer protocol, Responses, in place of Chat Completions.
    ///
    /// Reasoning models keep their reasoning between calls: it comes encrypted, and goes back unchanged. The server stores
    /// nothing (`store` is `false`). `seed` and `stop` do not exist there.
    ///
    /// ```
    /// # mod agents { pub use agents_openai::openai; }
    /// use agents::openai;
    ///
    /// let model = openai("gpt-6").responses().reasoning_effort("high");
    /// ```
    #[must_use]
    pub fn responses(self) -> Self {
        self.set(|config| config.api = Api::Responses)
    }

    /// Sets the provider's name: the first part of the model's id in logs, prices and journals. It is `openai` by
    /// default.
    ///
    /// ```
    /// # mod agents { pub use agents_core::Model; pub use agents_openai::openai; }
    /// use agents::{Model, openai};
    ///
    /// let model = openai("llama-3.3-70b").base_url("https://api.groq.com/openai/v1").provider("groq");
    /// assert_eq!(model.id(), "groq/llama-3.3-70b");
    /// ```
    #[must_use]
    pub fn provider(self, name: impl AsRef<str>) -> Self {
        self.set(|config| config.id = format!("{}/{}", name.as_ref(), config.name))
    }

    /// Sets the sampling temperature; 0 makes the model (nearly) deterministic. Reasoning models take none.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.set(|config| config.fields.set("temperature", temperature.into()))
    }

    /// Sets how many tokens a reply may have, reasoning included.
    ///
    /// OpenAI is told by `max_completion_tokens`, other servers by `max_tokens`, and with
    /// [`responses`](Self::responses) every server by `max_output_tokens`.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.set(|config| config.max_tokens = Some(tokens))
    }

    /// Sets how much a reasoning model thinks: `"minimal"`, `"low"`, `"medium"`, `"high"`, or what the model knows.
    #[must_use]
    pub fn reasoning_effort(self, effort: impl Into<String>) -> Self {
        self.set(|config| config.effort = Some(effort.into()))
    }

    /// Sets the random seed: the same seed mostly gives the same reply to the same request.
    #[must_use]
    pub fn seed(self, seed: i64) -> Self {
        self.set(|config| config.fields.set("seed", seed.into()))
    }

    /// Sets the texts at which the server ends a reply.
    #[must_use]
    pub fn stop<S: Into<String>>(self, texts: impl IntoIterator<Item = S>) -> Self {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        self.set(|config| config.fields.set("stop", texts.into()))
    }

    /// Sets any other field of the request; the last value for a name applies. A field that the client sets itself is refused
    /// by the first request, which names what sets it. For one run, give the run a clone of the client:
    /// `.model(model.clone().body(..))`.
    ///
    /// The fields of an object into which the client writes as well join the client's: `text` and `reasoning` of Responses,
    /// and `stream_options`. `null` leaves out a field that the client would send, such as `stream_options`.
    ///
    /// ```
    /// # mod agents { pub use agents_openai::openai; }
    /// use agents::openai;
    /// use serde_json::{Value, json};
    ///
    /// let model = openai("qwen3-8b")
    ///     .base_url("http://localhost:8000/v1")
    ///     .body("chat_template_kwargs", json!({ "enable_thinking": false }))
    ///     .body("stream_options", Value::Null);
    /// let terse = openai("gpt-6").responses().body("text", json!({ "verbosity": "low" }));
    /// ```
    #[doc(alias = "extra")]
    #[must_use]
    pub fn body(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        self.set(|config| config.fields.set_by_name(name, value.into(), &OWN))
    }

    /// Gives each reply of the server to this code, as it has arrived: its status, the provider's id of the request,
    /// and the body with `***` in the place of keys. The code is called once for each reply, before the reply is used,
    /// and also for a refusal and for a reply that broke off; not if no reply came at all, nor for the list of
    /// [`models`](Self::models).
    ///
    /// ```
    /// # mod agents { pub use agents_openai::openai; }
    /// use agents::openai;
    ///
    /// let model = openai("gpt-6-mini")
    ///     .on_raw_reply(|reply| eprintln!("{:?} {}", reply.request_id, reply.body));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn on_raw_reply(self, hook: impl Fn(&RawReply) + Send + Sync + 'static) -> Self {
        self.set(|config| config.hook = Some(RawHook::new(hook)))
    }

    /// Sets the size of the model's window in tokens: what it can read and write in one request. The client knows that of
    /// some families of models, by their names.
    ///
    /// Agents with `context = ..` shorten the conversation before it passes a share of the window.
    ///
    /// ```
    /// # mod agents { pub use agents_core::*; pub use agents_openai::openai; }
    /// use agents::{openai, model::Model};
    ///
    /// let model = openai("my-model").window(32_768);
    /// assert_eq!(model.capabilities().window, Some(32_768));
    /// ```
    #[must_use]
    pub fn window(self, tokens: u32) -> Self {
        self.set(|config| config.capabilities.window = Some(tokens))
    }

    /// Sets what the model can do, and the size of its window with it; by default, the model can do everything.
    ///
    /// Without `tools`, tools are described in the prompt, and calls are read from the text; with
    /// [`responses`](Self::responses), a request with tools then fails. Without `structured_output`, no schema is sent.
    /// Without `streaming`, replies come in one document.
    ///
    /// ```
    /// # mod agents { pub use agents_core::*; pub use agents_openai::openai; }
    /// use agents::{model::{Capabilities, Model}, openai};
    ///
    /// let small = openai("smollm2").base_url("http://localhost:8080/v1");
    /// let able = Capabilities { tools: false, images: false, ..small.capabilities() };
    /// let small = small.capable_of(able);
    /// assert!(!small.capabilities().tools);
    /// ```
    #[must_use]
    pub fn capable_of(self, capabilities: Capabilities) -> Self {
        self.set(|config| config.capabilities = capabilities)
    }

    /// Sets what the schemas of tools and answers may contain, for a server that takes less of JSON Schema than OpenAI.
    ///
    /// By default, a tool's schema goes as it is, and an answer's in [`Dialect::OPENAI`] and as `strict`, which takes
    /// an object whose fields are all required. A schema that the dialect cannot say is sent as it is, and is not
    /// `strict`. The schema of an answer that is no object is not sent.
    ///
    /// ```
    /// # mod agents { pub use agents_openai as openai; }
    /// use agents::openai::{Dialect, Keywords, References, openai};
    ///
    /// // A server that follows no references, and refuses `format`.
    /// let dialect = Dialect {
    ///     keywords: Keywords::Without(&["format"]),
    ///     references: References::Inlined,
    ///     ..Dialect::ANY
    /// };
    /// let model = openai("kimi-k3").base_url("http://localhost:8000/v1").schemas(dialect);
    /// # let _ = model;
    /// ```
    #[doc(alias = "strict", alias = "json_schema")]
    #[must_use]
    pub fn schemas(self, dialect: Dialect) -> Self {
        self.set(|config| {
            config.tool_dialect = dialect;
            config.answer_dialect = dialect;
        })
    }

    /// Sets how long to wait for the next byte; five minutes by default.
    #[must_use]
    pub fn timeout(self, wait: Duration) -> Self {
        self.set(|config| config.limits.idle = wait)
    }

    /// Sets how long to wait until a reply begins; no limit by default. A stream begins with the first event of
    /// its content, and a reply in one document with its first byte.
    #[must_use]
    pub fn first_token_timeout(self, wait: Duration) -> Self {
        self.set(|config| config.limits.first = Some(wait))
    }

    /// Sets how long a request and its reply may take in all; no limit by default.
    #[must_use]
    pub fn total_timeout(self, wait: Duration) -> Self {
        self.set(|config| config.limits.total = Some(wait))
    }
}
