//! Builder methods for the settings of a client.

use crate::{Anthropic, PromptCache, config::Config};
use agents_core::model::Capabilities;
use agents_http::{Credential, Dialect, RawHook, RawReply};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// Fields of a request that the client sets itself, each with whatever sets it. A name with a dot is that of a field
/// within an object; a program can set the other fields of the object.
const OWN: [(&str, &str); 9] = [
    ("model", "`anthropic(..)`"),
    ("messages", "the conversation"),
    ("system", "the prompt of the agent"),
    ("stream", "whoever asks the model"),
    ("max_tokens", "`.max_tokens(..)`"),
    ("temperature", "`.temperature(..)`"),
    ("stop_sequences", "`.stop(..)`"),
    ("output_config.format", "the type of the answer"),
    ("output_config.effort", "`.effort(..)`"),
];

/// Creates a client for a model, by the name that its server knows.
///
/// The server is Anthropic, or the one that `ANTHROPIC_BASE_URL` names, with the key in `ANTHROPIC_API_KEY` or the
/// token in `ANTHROPIC_AUTH_TOKEN`. They are read here. Nothing is sent before the first request.
///
/// ```
/// # mod agents { pub use agents_anthropic::anthropic; }
/// use agents::anthropic;
///
/// let model = anthropic("claude-sonnet-5").max_tokens(2_000);
/// ```
#[must_use]
pub fn anthropic(name: impl Into<String>) -> Anthropic {
    Anthropic {
        config: Arc::new(Config::new(name.into())),
    }
}

impl Anthropic {
    fn set(mut self, change: impl FnOnce(&mut Config)) -> Self {
        // `make_mut` would keep the request template of the old settings.
        let mut config = Config::clone(&self.config);
        change(&mut config);
        self.config = Arc::new(config);
        self
    }

    /// Sets the server's address, without the `/v1/messages` at the end.
    ///
    /// An invalid address is reported by the first request. The key from the environment is not sent to this server:
    /// see [`api_key`](Self::api_key).
    ///
    /// ```
    /// # mod agents { pub use agents_anthropic::anthropic; }
    /// use agents::anthropic;
    ///
    /// let model = anthropic("kimi-k2").base_url("https://gateway.example.com/anthropic").api_key("sk-..");
    /// assert_eq!(model.address(), "https://gateway.example.com/anthropic");
    /// ```
    #[doc(alias = "url", alias = "host")]
    #[must_use]
    pub fn base_url(self, url: impl AsRef<str>) -> Self {
        self.set(|config| config.set_base(url.as_ref()))
    }

    /// Sets the key, which is sent as `x-api-key` and never shown, in place of a key or token from the environment.
    ///
    /// ```
    /// # mod agents { pub use agents_anthropic::anthropic; }
    /// use agents::anthropic;
    ///
    /// let model = anthropic("claude-sonnet-5").api_key("hunter2");
    /// assert!(!format!("{model:?}").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn api_key(self, key: impl Into<String>) -> Self {
        self.set(|config| config.set_key(key.into()))
    }

    /// Sets a token, which is sent as `Authorization: Bearer` and never shown, in place of a key or token from the
    /// environment. A key of [`api_key`](Self::api_key) is sent beside it.
    #[must_use]
    pub fn auth_token(self, token: impl AsRef<str>) -> Self {
        self.set(|config| config.set_token(token.as_ref()))
    }

    /// Sets a credential that is looked up for each request, on behalf of the run that makes it: a secret by its name, or
    /// a token of OAuth. Neither the key of [`api_key`](Self::api_key), nor the token of
    /// [`auth_token`](Self::auth_token), nor one from the environment is sent beside it.
    ///
    /// ```
    /// # mod agents { pub use agents_anthropic as anthropic; }
    /// use agents::anthropic::{Credential, anthropic};
    ///
    /// // Each organisation has its own key, which may change at any time: `.run(..).scope("acme").secrets(store)`.
    /// let model = anthropic("m").credential(Credential::secret("anthropic"));
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

    /// Sets the version of the API, the header `anthropic-version`; `2023-06-01` by default.
    #[must_use]
    pub fn version(self, date: impl Into<String>) -> Self {
        self.header("anthropic-version", date)
    }

    /// Adds a feature that is not released yet to the header `anthropic-beta`.
    ///
    /// ```
    /// # mod agents { pub use agents_anthropic::anthropic; }
    /// use agents::anthropic;
    /// use serde_json::json;
    ///
    /// let model = anthropic("claude-sonnet-5")
    ///     .beta("context-management-2025-06-27")
    ///     .body("context_management", json!({ "edits": [{ "type": "clear_tool_uses_20250919" }] }));
    /// ```
    #[must_use]
    pub fn beta(self, feature: impl Into<String>) -> Self {
        self.set(|config| config.add_beta(feature.into()))
    }

    /// Sets the provider's name: the first part of the model's id in logs, prices and journals. It is `anthropic` by
    /// default.
    #[must_use]
    pub fn provider(self, name: impl AsRef<str>) -> Self {
        self.set(|config| config.id = format!("{}/{}", name.as_ref(), config.name))
    }

    /// Sets how many tokens a reply may have, thinking included. The server demands a limit. By default, it is 32,000
    /// for Claude, 4,096 for Claude 3, and 8,192 for models of other names.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.set(|config| config.max_tokens = Some(tokens))
    }

    /// Sets the sampling temperature, from 0 to 1. Models from 2026 on take none.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.set(|config| config.fields.set("temperature", temperature.into()))
    }

    /// Sets the texts at which the server ends a reply.
    #[must_use]
    pub fn stop<S: Into<String>>(self, texts: impl IntoIterator<Item = S>) -> Self {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        self.set(|config| config.fields.set("stop_sequences", texts.into()))
    }

    /// Lets the model think before it replies, as much as it finds useful. Newer models do so by themselves.
    ///
    /// To prevent it, write `.body("thinking", json!({ "type": "disabled" }))`.
    #[must_use]
    pub fn adaptive_thinking(self) -> Self {
        self.set(|config| config.set_thinking(json!({ "type": "adaptive" })))
    }

    /// Lets the model think before it replies, with at most this many tokens: at least 1,024. Newer models take
    /// [`adaptive_thinking`](Self::adaptive_thinking) instead.
    ///
    /// Unless [`max_tokens`](Self::max_tokens) is set, a reply may then have at least 8,192 tokens more than the
    /// budget. While the model waits for the results of calls that were made without thinking, as another model makes
    /// them, thinking is left out, since the server would refuse it.
    #[must_use]
    pub fn thinking_budget(self, tokens: u32) -> Self {
        self.set(|config| config.set_thinking_budget(tokens))
    }

    /// Sets how much effort the model puts into a reply: `"low"`, `"medium"`, `"high"`, or another word that the model
    /// knows.
    #[must_use]
    pub fn effort(self, effort: impl Into<String>) -> Self {
        let effort = Value::from(effort.into());
        self.set(|config| {
            config.output.insert("effort".into(), effort);
        })
    }

    /// Sets the use of the server's prompt cache; five minutes by default.
    #[must_use]
    pub fn prompt_cache(self, cache: PromptCache) -> Self {
        self.set(|config| config.cache = cache)
    }

    /// Sets any other field of the request; the last value for a name applies. A field that the client sets itself is refused
    /// by the first request, which names what sets it. For one run, give the run a clone of the client:
    /// `.model(model.clone().body(..))`.
    ///
    /// The fields of an object into which the client writes as well join the client's: `output_config` and `tool_choice`.
    /// Tools of the server are added to the agent's own.
    ///
    /// ```
    /// # mod agents { pub use agents_anthropic::anthropic; }
    /// use agents::anthropic;
    /// use serde_json::json;
    ///
    /// let model = anthropic("claude-sonnet-5")
    ///     .body("metadata", json!({ "user_id": "u-17" }))
    ///     .body("tools", json!([{ "type": "web_search_20250305", "name": "web_search", "max_uses": 5 }]));
    /// ```
    #[doc(alias = "extra")]
    #[must_use]
    pub fn body(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        let value = value.into();
        self.set(|config| match &*name {
            "thinking" => config.set_thinking(value),
            _ => config.fields.set_by_name(name, value, &OWN),
        })
    }

    /// Gives each reply of the server to this code, as it has arrived: its status, the provider's id of the request, and the
    /// body with `***` in the place of keys. The code is called once for each reply, before the reply is used, and also
    /// for a refusal and for a reply that broke off; not if no reply came at all.
    ///
    /// ```
    /// # mod agents { pub use agents_anthropic::anthropic; }
    /// use agents::anthropic;
    ///
    /// let model = anthropic("claude-sonnet-5")
    ///     .on_raw_reply(|reply| eprintln!("{:?} {}", reply.request_id, reply.body));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn on_raw_reply(self, hook: impl Fn(&RawReply) + Send + Sync + 'static) -> Self {
        self.set(|config| config.hook = Some(RawHook::new(hook)))
    }

    /// Sets the size of the model's window in tokens: what it can read and write in one request. The client takes that
    /// of Claude for 200,000, which the newer models exceed.
    ///
    /// Agents with `context = ..` shorten the conversation before it passes a share of the window.
    ///
    /// ```
    /// # mod agents { pub use agents_core::*; pub use agents_anthropic::anthropic; }
    /// use agents::{anthropic, model::Model};
    ///
    /// let model = anthropic("my-model").window(100_000);
    /// assert_eq!(model.capabilities().window, Some(100_000));
    /// ```
    #[must_use]
    pub fn window(self, tokens: u32) -> Self {
        self.set(|config| config.capabilities.window = Some(tokens))
    }

    /// Sets what the model can do, and the size of its window with it. By default the model can do everything, except
    /// that older models, and models whose names do not contain `claude`, cannot follow a schema.
    ///
    /// Without `tools`, tools are described in the prompt, and calls are read from the text. Without
    /// `structured_output`, no schema is sent. Without `streaming`, replies come in one document.
    #[must_use]
    pub fn capable_of(self, capabilities: Capabilities) -> Self {
        self.set(|config| config.capabilities = capabilities)
    }

    /// Sets what the schemas of tools and answers may contain. By default, a tool's schema goes as it is, and an
    /// answer's schema in [`Dialect::ANTHROPIC`]. An answer's schema that the dialect cannot say is not sent, and that
    /// of a tool is sent as it is.
    ///
    /// ```
    /// # mod agents { pub use agents_anthropic as anthropic; }
    /// use agents::anthropic::{Dialect, References, anthropic};
    ///
    /// let model = anthropic("my-model").schemas(Dialect { references: References::Inlined, ..Dialect::ANY });
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
