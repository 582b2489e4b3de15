//! Builder methods for the settings of a client.

use crate::{KeepAlive, Ollama, Think, ToolMode, config::Config, host};
use agents_http::{Credential, Dialect, RawHook, RawReply};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// Fields of a request that the client sets itself, each with whatever sets it.
const OWN: [(&str, &str); 10] = [
    ("model", "`ollama(..)`"),
    ("messages", "the conversation"),
    ("stream", "`.streaming(..)`"),
    ("tools", "the tools of the agent"),
    ("format", "the type of the answer"),
    ("options", "`.option(..)`"),
    ("keep_alive", "`.keep_alive(..)`"),
    ("think", "`.think(..)`"),
    ("truncate", "the client"),
    ("shift", "the client"),
];

/// Creates a client for a model, by the name that `ollama list` shows.
///
/// The server is the one that `OLLAMA_HOST` names, or the one on this machine. Ollama's own programs choose it the
/// same way. Nothing is sent before the first request.
///
/// ```
/// # mod agents { pub use agents_ollama::ollama; }
/// use agents::ollama;
///
/// let model = ollama("qwen3:4b").temperature(0.0).window(8192);
/// ```
#[must_use]
pub fn ollama(name: impl Into<String>) -> Ollama {
    Ollama {
        config: Arc::new(Config::new(name.into())),
    }
}

impl Ollama {
    fn set(mut self, change: impl FnOnce(&mut Config)) -> Self {
        // `make_mut` would keep the request template of the old settings.
        let mut config = Config::clone(&self.config);
        change(&mut config);
        self.config = Arc::new(config);
        self
    }

    /// Sets the server's address: `http://host:port`, or any form that `OLLAMA_HOST` may take.
    ///
    /// An invalid address is reported by the first request. A user name and a password in the address,
    /// `http://user:password@host`, are sent as `Authorization: Basic` and never shown. [`bearer`](Self::bearer) and
    /// [`header`](Self::header) take precedence over them.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// let model = ollama("qwen3:4b").url("https://me:hunter2@gpu.example.com");
    /// assert_eq!(model.address(), "https://gpu.example.com");
    /// ```
    #[doc(alias = "host", alias = "base_url")]
    #[must_use]
    pub fn url(self, url: impl AsRef<str>) -> Self {
        self.set(|config| config.base = host::parse(url.as_ref()))
    }

    /// Sets the sampling temperature; 0 makes the model (nearly) deterministic.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.option("temperature", temperature)
    }

    /// Sets the random seed: the same seed gives the same answer to the same request.
    #[must_use]
    pub fn seed(self, seed: i64) -> Self {
        self.option("seed", seed)
    }

    /// Sets the size of the model's window in tokens: what it can read and write in one request. It is the option
    /// `num_ctx`; without it, the server decides, and often for as little as 4096.
    ///
    /// A request that does not fit into the window is an error, whose sizes [`ModelError::overflow`] returns. Agents
    /// with `context = ..` shorten the conversation before it passes a share of the window.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// // Room for the prompt, ten tools and a few long results.
    /// let model = ollama("qwen3:4b").window(16_384);
    /// ```
    ///
    /// [`ModelError::overflow`]: agents_core::model::ModelError::overflow
    #[doc(alias = "num_ctx")]
    #[must_use]
    pub fn window(self, tokens: u32) -> Self {
        self.option("num_ctx", tokens)
    }

    /// Sets how many tokens an answer may have; -1 for no limit.
    #[must_use]
    pub fn num_predict(self, tokens: i64) -> Self {
        self.option("num_predict", tokens)
    }

    /// Sets the texts at which the server ends an answer.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// let model = ollama("smollm2:135m").stop(["\n\n", "User:"]).num_predict(200);
    /// ```
    #[must_use]
    pub fn stop<S: Into<String>>(self, texts: impl IntoIterator<Item = S>) -> Self {
        let texts: Vec<Value> = texts
            .into_iter()
            .map(|text| Value::from(text.into()))
            .collect();
        self.option("stop", texts)
    }

    /// Sets any other entry of Ollama's `options`; the last value for a name applies.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// let model = ollama("qwen3:4b").option("num_gpu", 0).option("mirostat_tau", 4.5);
    /// ```
    #[must_use]
    pub fn option(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set(|config| config.set_option(name.into(), value.into()))
    }

    /// Sets any other field of the request; the last value for a name applies. A field that the client sets itself is refused
    /// by the first request, which names what sets it. For one run, give the run a clone of the client:
    /// `.model(model.clone().body(..))`.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// let model = ollama("qwen3:4b").body("logprobs", true);
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn body(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        self.set(|config| config.fields.set_by_name(name, value.into(), &OWN))
    }

    /// Sets how long the server keeps the model in memory after an answer; left to the server by
    /// default.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    /// use std::time::Duration;
    ///
    /// let busy = ollama("qwen3:4b").keep_alive(Duration::from_secs(3_600));
    /// let nightly = ollama("llama3:70b").keep_alive(0); // makes room at once
    /// ```
    #[must_use]
    pub fn keep_alive(self, time: impl Into<KeepAlive>) -> Self {
        self.set(|config| config.keep_alive = Some(time.into()))
    }

    /// Sets whether the model thinks first: `true`, `false`, or `"low"`, `"medium"`, `"high"`; left
    /// to the server by default.
    #[must_use]
    pub fn think(self, think: impl Into<Think>) -> Self {
        self.set(|config| config.think = Some(think.into()))
    }

    /// Gives each reply of the server to this code, as it has arrived: its status, the provider's id of the request,
    /// and the body with `***` in the place of keys. The code is called once for each reply, before the reply is used,
    /// and also for a refusal and for a reply that broke off; not if no reply came at all, nor for the list of
    /// [`models`](Self::models).
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// let model = ollama("qwen3:4b")
    ///     .on_raw_reply(|reply| eprintln!("{:?} {}", reply.request_id, reply.body));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn on_raw_reply(self, hook: impl Fn(&RawReply) + Send + Sync + 'static) -> Self {
        self.set(|config| config.hook = Some(RawHook::new(hook)))
    }

    /// Sets what the schemas of tools and answers may contain. By default both go as they are.
    /// A schema that the dialect cannot say is sent as it is.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama as ollama; }
    /// use agents::ollama::{Dialect, References, ollama};
    ///
    /// let model = ollama("my-model").schemas(Dialect { references: References::Inlined, ..Dialect::ANY });
    /// # let _ = model;
    /// ```
    #[doc(alias = "strict", alias = "json_schema")]
    #[must_use]
    pub fn schemas(self, dialect: Dialect) -> Self {
        self.set(|config| config.dialect = dialect)
    }

    /// Sets how long to wait for the next byte; five minutes by default.
    ///
    /// A model that has to be loaded sends nothing for a while. Without streaming, neither does a model that is
    /// thinking.
    #[must_use]
    pub fn timeout(self, wait: Duration) -> Self {
        self.set(|config| config.wait = wait)
    }

    /// Turns streaming on or off; on by default. Without streaming, the server sends each answer in one document even
    /// if the request has a sink.
    #[must_use]
    pub fn streaming(self, streaming: bool) -> Self {
        self.set(|config| config.streaming = streaming)
    }

    /// Sets how tools are offered to the model.
    ///
    /// ```
    /// # mod agents { pub mod ollama { pub use agents_ollama::*; } }
    /// use agents::ollama::{ToolMode, ollama};
    ///
    /// // The template of this model is known to be wrong: worked examples in the prompt instead.
    /// let model = ollama("my-finetune").tools(ToolMode::Prompted);
    /// ```
    #[must_use]
    pub fn tools(self, mode: ToolMode) -> Self {
        self.set(|config| config.tools = mode)
    }

    /// Sets a credential that is looked up for each request, on behalf of the run that makes it: a secret by its name, or
    /// a token of OAuth. It is sent in place of the key of [`bearer`](Self::bearer).
    ///
    /// ```
    /// # mod agents { pub use agents_ollama as ollama; }
    /// use agents::ollama::{Credential, ollama};
    ///
    /// // For a server behind a gateway that asks for a key.
    /// let model = ollama("qwen3:4b").url("https://gpu.example.com").credential(Credential::secret("gateway"));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn credential(self, credential: impl Into<Credential>) -> Self {
        self.set(|config| config.credential = Some(credential.into()))
    }

    /// Sends a header with every request; its value never shows in a log.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(|config| config.headers.set(name, value))
    }

    /// Sends `Authorization: Bearer` with this key, for a server behind a gateway; it never shows
    /// in a log.
    ///
    /// ```
    /// # mod agents { pub use agents_ollama::ollama; }
    /// use agents::ollama;
    ///
    /// let model = ollama("qwen3:4b").url("https://gpu.example.com").bearer("hunter2");
    /// assert!(!format!("{model:?}").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn bearer(self, key: impl AsRef<str>) -> Self {
        self.header("authorization", format!("Bearer {}", key.as_ref()))
    }
}
