//! The settings of a client, and the request template that is made from them once.

use crate::{cache::PromptCache, names};
use agents_core::model::{Capabilities, ModelError, ModelErrorKind as Kind};
use agents_http::{
    Address, AddressError, Credential, Dialect, Endpoint, Fields, Headers, KeyHeader, Limits,
    RawHook, Server, TransportError,
};
use serde_json::{Map, Value};
use std::{env, sync::OnceLock};

/// Address of Anthropic's API, which is the default.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Version of the API that the client speaks.
const VERSION: &str = "2023-06-01";

/// Field of a request that says how the model thinks.
const THINKING: &str = "thinking";

/// Field of a request that says which tools the model may choose.
const TOOL_CHOICE: &str = "tool_choice";

/// Field of a request with the schema of the answer and the effort of the model.
pub(crate) const OUTPUT: &str = "output_config";

/// Header in which the API key is sent.
pub(crate) const KEY_HEADER: KeyHeader = KeyHeader {
    name: "x-api-key",
    prefix: "",
};

#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: String,
    /// Id of the model, by which runs name it, such as `anthropic/claude-opus-4`.
    pub(crate) id: String,
    pub(crate) base: Result<Address, String>,
    /// Headers from the environment, which only the default server gets, or the one that the environment names.
    default_headers: Headers,
    pub(crate) headers: Headers,
    /// Header with the token that the program has set; it is not sent if a credential is looked up.
    token: Headers,
    betas: Vec<String>,
    pub(crate) fields: Fields,
    /// Settings of the request's field `output_config`, beside the schema of the answer.
    pub(crate) output: Map<String, Value>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) thinking_budget: Option<u32>,
    pub(crate) cache: PromptCache,
    pub(crate) capabilities: Capabilities,
    pub(crate) limits: Limits,
    /// Credential that is looked up again for each request, if the builder has set one.
    pub(crate) credential: Option<Credential>,
    /// Dialect of the schemas of tools: what they may contain.
    pub(crate) tool_dialect: Dialect,
    /// Dialect of the schemas of answers: what they may contain.
    pub(crate) answer_dialect: Dialect,
    /// Code that is given each raw reply of the server, once the reply has arrived as a whole, has broken off, or is
    /// not read any further.
    pub(crate) hook: Option<RawHook>,
    template: OnceLock<Result<RequestTemplate, ModelError>>,
}

/// The parts that all requests of a client have in common.
#[derive(Debug)]
pub(crate) struct RequestTemplate {
    pub(crate) server: Server,
    pub(crate) messages: Endpoint,
    /// Begin of the JSON body of each request, up to the last setting.
    pub(crate) head: Vec<u8>,
    /// JSON field with the budget for thinking, with a comma before the field; empty if no budget was set.
    pub(crate) thinking: Vec<u8>,
    /// JSON of the tools that the server runs itself, each with a comma before it.
    pub(crate) server_tools: Vec<u8>,
    /// JSON field with the choice of tools, with a comma before the field, for a request that offers tools.
    pub(crate) tool_choice: Vec<u8>,
}

impl Config {
    pub(crate) fn new(name: String) -> Self {
        let variable = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let mut default_headers = Headers::default();
        if let Some(key) = variable("ANTHROPIC_API_KEY") {
            default_headers.set(KEY_HEADER.name, key.trim());
        } else if let Some(token) = variable("ANTHROPIC_AUTH_TOKEN") {
            default_headers.set("authorization", format!("Bearer {}", token.trim()));
        }
        let base = variable("ANTHROPIC_BASE_URL");
        Config {
            id: format!("anthropic/{name}"),
            base: parse(base.as_deref().unwrap_or(ANTHROPIC)),
            default_headers,
            headers: Headers::default(),
            token: Headers::default(),
            betas: Vec::new(),
            fields: Fields::default(),
            output: Map::new(),
            max_tokens: None,
            thinking_budget: None,
            cache: PromptCache::default(),
            capabilities: names::capabilities(&name),
            limits: Limits::default(),
            credential: None,
            tool_dialect: Dialect::ANY,
            answer_dialect: Dialect::ANTHROPIC,
            hook: None,
            template: OnceLock::new(),
            name,
        }
    }

    /// Sets the address of the server. No key or other header from the environment is sent there.
    pub(crate) fn set_base(&mut self, url: &str) {
        self.base = parse(url);
        self.default_headers = Headers::default();
    }

    /// Sets the API key, in place of one from the environment.
    pub(crate) fn set_key(&mut self, key: String) {
        self.default_headers = Headers::default();
        self.headers.set(KEY_HEADER.name, key);
    }

    /// Sets the token, in place of a key or token from the environment.
    pub(crate) fn set_token(&mut self, token: &str) {
        self.default_headers = Headers::default();
        self.token.set("authorization", format!("Bearer {token}"));
    }

    pub(crate) fn add_beta(&mut self, feature: String) {
        self.betas.push(feature);
        self.headers.set("anthropic-beta", self.betas.join(","));
    }

    /// Sets how the model thinks, in place of a budget.
    pub(crate) fn set_thinking(&mut self, thinking: Value) {
        self.thinking_budget = None;
        self.fields.set(THINKING, thinking);
    }

    /// Sets the budget for thinking, in place of what was set before.
    pub(crate) fn set_thinking_budget(&mut self, tokens: u32) {
        self.thinking_budget = Some(tokens);
        self.fields.remove(THINKING);
    }

    /// Returns the maximum number of tokens of a reply, which each request has to name.
    pub(crate) fn max_tokens(&self) -> u32 {
        let default = || {
            let of_model = names::max_tokens(&self.name);
            let thinking = self.thinking_budget;
            thinking.map_or(of_model, |budget| {
                of_model.max(budget.saturating_add(8_192))
            })
        };
        self.max_tokens.unwrap_or_else(default)
    }

    /// Sets a credential that is looked up for each request. No key or token from the environment is sent then.
    pub(crate) fn look_up(&mut self, credential: Credential) {
        self.default_headers = Headers::default();
        self.credential = Some(credential);
    }

    /// Returns the request template. It is made at the first request.
    pub(crate) fn template(&self) -> Result<&RequestTemplate, ModelError> {
        self.template
            .get_or_init(|| self.prepare())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn prepare(&self) -> Result<RequestTemplate, ModelError> {
        self.fields.check()?;
        let setup = |error: TransportError| ModelError::new(Kind::Setup, error.to_string());
        let base = self
            .base
            .as_ref()
            .map_err(|why| ModelError::new(Kind::Setup, why.clone()))?;
        let mut headers = Headers::default();
        headers.set("anthropic-version", VERSION);
        headers.extend(&self.default_headers);
        if self.credential.is_none() {
            headers.extend(&self.token);
        }
        headers.extend(&self.headers);
        let server = Server::new(base.clone(), &headers).map_err(setup)?;
        let has_key = headers.has(KEY_HEADER.name) || headers.has("authorization");
        if server.name() == ANTHROPIC && !has_key && self.credential.is_none() {
            let message = format!("Anthropic needs a key: {KEY}");
            return Err(ModelError::new(Kind::Setup, message));
        }
        Ok(RequestTemplate {
            messages: server.endpoint("v1/messages").map_err(setup)?,
            head: self.head(),
            thinking: match self.thinking_budget {
                Some(tokens) => {
                    format!(",\"thinking\":{{\"type\":\"enabled\",\"budget_tokens\":{tokens}}}")
                        .into_bytes()
                }
                None => Vec::new(),
            },
            server_tools: self.server_tools()?,
            tool_choice: self.tool_choice(),
            server,
        })
    }

    fn server_tools(&self) -> Result<Vec<u8>, ModelError> {
        let tools = self.fields.server_tools()?.into_iter();
        let tools = tools.map(|tool| format!(",{tool}"));
        Ok(tools.collect::<String>().into_bytes())
    }

    /// Returns the JSON field with the choice of tools for a request that offers some, with a comma before it.
    fn tool_choice(&self) -> Vec<u8> {
        let mut own = Map::new();
        if !self.capabilities.parallel_calls {
            own.insert("type".into(), "auto".into());
            own.insert("disable_parallel_tool_use".into(), true.into());
        }
        let choice = self.fields.joined(TOOL_CHOICE, own);
        let choice = choice.map(|choice| format!(",\"{TOOL_CHOICE}\":{choice}"));
        choice.unwrap_or_default().into_bytes()
    }

    fn head(&self) -> Vec<u8> {
        let mut out = format!(
            "{{\"model\":{},\"max_tokens\":{}",
            Value::from(self.name.as_str()),
            self.max_tokens()
        );
        out += &self.fields.json(&["tools", TOOL_CHOICE, OUTPUT]);
        out.into_bytes()
    }
}

/// Advice about a missing or wrong key, for errors.
pub(crate) const KEY: &str = "set `.api_key(..)`, or the environment variable ANTHROPIC_API_KEY (which is sent only to \
     the server that the environment names, not to that of `.base_url(..)`)";

fn parse(url: &str) -> Result<Address, String> {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix("/v1").unwrap_or(url);
    Address::parse(url, None).map_err(|AddressError { address, why }| {
        format!(
            "`{address}` is not the address of a server ({why}): write `https://host`, up to the part before \
             `/v1/messages`"
        )
    })
}

impl Clone for Config {
    /// Copies the settings without the request template, since the copy is about to be changed.
    fn clone(&self) -> Self {
        let Config {
            name,
            id,
            base,
            default_headers,
            headers,
            token,
            betas,
            fields,
            output,
            max_tokens,
            thinking_budget,
            cache,
            capabilities,
            limits,
            credential,
            tool_dialect,
            answer_dialect,
            hook,
            template: _,
        } = self;
        Config {
            name: name.clone(),
            id: id.clone(),
            base: base.clone(),
            default_headers: default_headers.clone(),
            headers: headers.clone(),
            token: token.clone(),
            betas: betas.clone(),
            fields: fields.clone(),
            output: output.clone(),
            max_tokens: *max_tokens,
            thinking_budget: *thinking_budget,
            cache: *cache,
            capabilities: *capabilities,
            limits: *limits,
            credential: credential.clone(),
            tool_dialect: *tool_dialect,
            answer_dialect: *answer_dialect,
            hook: hook.clone(),
            template: OnceLock::new(),
        }
    }
}
