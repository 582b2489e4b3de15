//! Builder methods for the settings of a client.

use crate::{
    Gemini,
    config::{Config, KEY_HEADER},
};
use agents_core::model::Capabilities;
use agents_http::{Credential, Dialect, RawHook, RawReply};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// Fields of a request that the client sets itself, each with whatever sets it. A name with a dot is that of a field
/// within an object; a program can set the other fields of the object.
const OWN: [(&str, &str); 11] = [
    ("contents", "the conversation"),
    ("systemInstruction", "the prompt of the agent"),
    (
        "generationConfig.responseMimeType",
        "the type of the answer",
    ),
    (
        "generationConfig.responseJsonSchema",
        "the type of the answer",
    ),
    ("generationConfig.temperature", "`.temperature(..)`"),
    ("generationConfig.maxOutputTokens", "`.max_tokens(..)`"),
    ("generationConfig.seed", "`.seed(..)`"),
    ("generationConfig.stopSequences", "`.stop(..)`"),
    (
        "generationConfig.thinkingConfig.thinkingLevel",
        "`.thinking_level(..)`",
    ),
    (
        "generationConfig.thinkingConfig.thinkingBudget",
        "`.thinking_budget(..)`",
    ),
    (
        "generationConfig.thinkingConfig.includeThoughts",
        "`.show_thoughts()`",
    ),
];

/// Creates a client for a model, by the name that its server knows.
///
/// The key is in `GEMINI_API_KEY` or `GOOGLE_API_KEY`, which are read here. Nothing is sent before the first request.
///
/// ```
/// # mod agents { pub use agents_gemini::gemini; }
/// use agents::gemini;
///
/// let model = gemini("gemini-3-flash").temperature(0.0).max_tokens(2_000);
/// ```
#[must_use]
pub fn gemini(name: impl Into<String>) -> Gemini {
    Gemini {
        config: Arc::new(Config::new(name.into())),
    }
}

impl Gemini {
    fn set(mut self, change: impl FnOnce(&mut Config)) -> Self {
        // `make_mut` would keep the request template of the old settings.
        let mut config = Config::clone(&self.config);
        change(&mut config);
        self.config = Arc::new(config);
        self
    }

    fn generation(self, name: &str, value: impl Into<Value>) -> Self {
        self.set(|config| {
            config.generation.insert(name.into(), value.into());
        })
    }

    /// Sets the server's address, without `/models` and all that follows.
    ///
    /// An invalid address is reported by the first request. The key from the environment is not sent to this server:
    /// see [`api_key`](Self::api_key).
    ///
    /// ```
    /// # mod agents { pub use agents_gemini::gemini; }
    /// use agents::gemini;
    ///
    /// // Vertex AI, with a token of Google Cloud.
    /// let model = gemini("gemini-3-flash")
    ///     .base_url("https://aiplatform.googleapis.com/v1/projects/mine/locations/global/publishers/google")
    ///     .header("authorization", "Bearer ya29.hunter2");
    /// assert!(model.address().ends_with("/publishers/google"));
    /// ```
    #[doc(alias = "url", alias = "host")]
    #[must_use]
    pub fn base_url(self, url: impl AsRef<str>) -> Self {
        self.set(|config| config.set_base(url.as_ref()))
    }

    /// Sets the API key. It is sent in the header `x-goog-api-key`, and no output for people shows it.
    ///
    /// ```
    /// # mod agents { pub use agents_gemini::gemini; }
    /// use agents::gemini;
    ///
    /// let model = gemini("gemini-3-flash").api_key("hunter2");
    /// assert!(!format!("{model:?}").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn api_key(self, key: impl Into<String>) -> Self {
        self.header(KEY_HEADER.name, key)
    }

    /// Sets a credential that is looked up for each request, on behalf of the run that makes it: a secret by its name, or
    /// a token of OAuth. Neither the key of [`api_key`](Self::api_key) nor that from the environment is sent beside it.
    ///
    /// ```
    /// # mod agents { pub use agents_gemini as gemini; }
    /// use agents::gemini::{Credential, gemini};
    ///
    /// // Each organisation has its own key, which may change at any time: `.run(..).scope("acme").secrets(store)`.
    /// let model = gemini("m").credential(Credential::secret("gemini"));
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

    /// Sets the provider's name: the first part of the model's id in logs, prices and journals. It is `gemini` by
    /// default. [`Model::provider`](agents_core::Model::provider) returns `gcp.gemini` in any case.
    #[must_use]
    pub fn provider(self, name: impl AsRef<str>) -> Self {
        self.set(|config| config.id = format!("{}/{}", name.as_ref(), config.name))
    }

    /// Sets the sampling temperature, from 0 to 2. Google advises against it for Gemini 3.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.generation("temperature", temperature)
    }

    /// Sets how many tokens a reply may have, thoughts included.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.generation("maxOutputTokens", tokens)
    }

    /// Sets how much the model thinks: `"minimal"`, `"low"`, `"medium"` or `"high"`. Models before Gemini 3 take a
    /// [budget](Self::thinking_budget) instead.
    #[must_use]
    pub fn thinking_level(self, level: impl Into<String>) -> Self {
        let level = level.into();
        self.set(|config| config.set_thinking("thinkingLevel", level.into()))
    }

    /// Sets how many tokens the model may think: 0 for none, -1 for as many as it finds useful.
    #[must_use]
    pub fn thinking_budget(self, tokens: i32) -> Self {
        self.set(|config| config.set_thinking("thinkingBudget", tokens.into()))
    }

    /// Asks for summaries of the model's thoughts, which become the reasoning of its replies.
    #[must_use]
    pub fn show_thoughts(self) -> Self {
        self.set(|config| config.set_thinking("includeThoughts", true.into()))
    }

    /// Sets the random seed: the same seed mostly gives the same reply to the same request.
    #[must_use]
    pub fn seed(self, seed: i32) -> Self {
        self.generation("seed", seed)
    }

    /// Sets the texts at which the server ends a reply.
    #[must_use]
    pub fn stop<S: Into<String>>(self, texts: impl IntoIterator<Item = S>) -> Self {
        let texts = texts.into_iter().map(|text| Value::from(text.into()));
        self.generation("stopSequences", texts.collect::<Vec<_>>())
    }

    /// Sets any other field of the request; the last value for a name applies. A field that the client sets itself is refused
    /// by the first request, which names what sets it. For one run, give the run a clone of the client:
    /// `.model(model.clone().body(..))`.
    ///
    /// The fields of `generationConfig` join the client's, at every level. Tools of the server join the agent's own.
    ///
    /// ```
    /// # mod agents { pub use agents_gemini::gemini; }
    /// use agents::gemini;
    /// use serde_json::json;
    ///
    /// let model = gemini("gemini-3-flash")
    ///     .body("generationConfig", json!({ "topP": 0.9 }))
    ///     .body("tools", json!([{ "googleSearch": {} }]));
    /// ```
    #[doc(alias = "extra")]
    #[must_use]
    pub fn body(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        self.set(|config| config.fields.set_by_name(name, value.into(), &OWN))
    }

    /// Gives each reply of the server to this code, as it has arrived: its status, the provider's id of the request, and the
    /// body with `***` in the place of keys. The code is called once for each reply, before the reply is used, and also
    /// for a refusal and for a reply that broke off; not if no reply came at all.
    ///
    /// ```
    /// # mod agents { pub use agents_gemini::gemini; }
    /// use agents::gemini;
    ///
    /// let model = gemini("gemini-3-flash")
    ///     .on_raw_reply(|reply| eprintln!("{:?} {}", reply.request_id, reply.body));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn on_raw_reply(self, hook: impl Fn(&RawReply) + Send + Sync + 'static) -> Self {
        self.set(|config| config.hook = Some(RawHook::new(hook)))
    }

    /// Sets the size of the model's window in tokens: what it can read and write in one request. The client takes that
    /// of Gemini for 1,000,000, from version 1.5 on.
    ///
    /// Agents with `context = ..` shorten the conversation before it passes a share of the window.
    ///
    /// ```
    /// # mod agents { pub use agents_core::*; pub use agents_gemini::gemini; }
    /// use agents::{gemini, model::Model};
    ///
    /// let model = gemini("my-model").window(100_000);
    /// assert_eq!(model.capabilities().window, Some(100_000));
    /// ```
    #[must_use]
    pub fn window(self, tokens: u32) -> Self {
        self.set(|config| config.capabilities.window = Some(tokens))
    }

    /// Sets what the model can do, and the size of its window with it. By default the model can do everything, except
    /// that a Gemma model takes no tools, schemas and files.
    ///
    /// Without `tools`, tools are described in the prompt, and calls are read from the text. Without
    /// `structured_output`, no schema is sent. Without `streaming`, replies come in one document.
    #[must_use]
    pub fn capable_of(self, capabilities: Capabilities) -> Self {
        self.set(|config| config.capabilities = capabilities)
    }

    /// Sets what the schemas of tools and answers may contain. By default both go in [`Dialect::GEMINI`].
    /// A schema that the dialect cannot say is sent as it is.
    ///
    /// ```
    /// # mod agents { pub use agents_gemini as gemini; }
    /// use agents::gemini::{Dialect, References, gemini};
    ///
    /// let model = gemini("my-model").schemas(Dialect { references: References::Inlined, ..Dialect::GEMINI });
    /// # let _ = model;
    /// ```
    #[doc(alias = "strict", alias = "json_schema")]
    #[must_use]
    pub fn schemas(self, dialect: Dialect) -> Self {
        self.set(|config| config.dialect = dialect)
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
