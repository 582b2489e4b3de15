//! The settings of a client, and the request template that is made from them once.

use agents_core::model::{Capabilities, ModelError, ModelErrorKind as Kind};
use agents_http::{
    Address, AddressError, Credential, Dialect, Endpoint, Fields, Headers, KeyHeader, Limits,
    RawHook, Server, TransportError,
};
use serde_json::{Map, Value};
use std::{env, sync::OnceLock};

/// Address of the Gemini API, which is the default.
const GEMINI: &str = "https://generativelanguage.googleapis.com/v1beta";

/// Field of a request with the settings of the reply.
const GENERATION: &str = "generationConfig";

/// Header in which the API key is sent.
pub(crate) const KEY_HEADER: KeyHeader = KeyHeader {
    name: "x-goog-api-key",
    prefix: "",
};

#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: String,
    /// Id of the model, by which runs name it, such as `gemini/gemini-3-pro`.
    pub(crate) id: String,
    pub(crate) base: Result<Address, String>,
    /// Headers from the environment, which only the default server gets.
    default_headers: Headers,
    pub(crate) headers: Headers,
    /// Fields of `generationConfig` that the builder has set.
    pub(crate) generation: Map<String, Value>,
    /// Other fields of the request that the program has set by name.
    pub(crate) fields: Fields,
    /// Is `true` unless the model is Gemma, Gemini 1 or Gemini 2: later models refuse calls without a thought
    /// signature.
    pub(crate) is_new: bool,
    pub(crate) capabilities: Capabilities,
    pub(crate) limits: Limits,
    /// Credential that is looked up again for each request, if the builder has set one.
    pub(crate) credential: Option<Credential>,
    /// Dialect of the schemas of tools and answers: what they may contain.
    pub(crate) dialect: Dialect,
    /// Code that is given each raw reply of the server, once the reply has arrived as a whole, has broken off, or is
    /// not read any further.
    pub(crate) hook: Option<RawHook>,
    template: OnceLock<Result<RequestTemplate, ModelError>>,
}

/// The parts that all requests of a client have in common.
#[derive(Debug)]
pub(crate) struct RequestTemplate {
    pub(crate) server: Server,
    pub(crate) whole: Endpoint,
    pub(crate) stream: Endpoint,
    /// JSON of the field `generationConfig`, with a comma before it; empty if there are no settings.
    pub(crate) generation: Vec<u8>,
    /// JSON of the tools that the server runs itself, separated by commas.
    pub(crate) server_tools: Vec<u8>,
    /// JSON of the other settings, each with a comma before it.
    pub(crate) settings: Vec<u8>,
}

/// Returns `true` for the models since Gemini 1.5.
fn has_large_window(name: &str) -> bool {
    name.strip_prefix("gemini-").is_some_and(|version| {
        version.starts_with(|c: char| c.is_ascii_digit()) && !version.starts_with("1.0")
    })
}

impl Config {
    pub(crate) fn new(name: String) -> Self {
        let variable = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let mut default_headers = Headers::default();
        if let Some(key) = variable("GEMINI_API_KEY").or_else(|| variable("GOOGLE_API_KEY")) {
            default_headers.set(KEY_HEADER.name, key.trim());
        }
        let bare = name.rsplit('/').next().unwrap_or_default();
        // Models such as Gemma are served too, without tools of their own.
        let is_gemini = !bare.starts_with("gemma");
        let is_old = ["gemini-1", "gemini-2"]
            .iter()
            .any(|old| bare.starts_with(old));
        Config {
            id: format!("gemini/{bare}"),
            base: parse(GEMINI),
            default_headers,
            headers: Headers::default(),
            generation: Map::new(),
            fields: Fields::default(),
            is_new: is_gemini && !is_old,
            capabilities: Capabilities {
                tools: is_gemini,
                structured_output: is_gemini,
                images: true,
                files: is_gemini,
                window: has_large_window(bare).then_some(1_000_000),
                ..Capabilities::default()
            },
            limits: Limits::default(),
            credential: None,
            dialect: Dialect::GEMINI,
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

    /// Sets a field of the `thinkingConfig` within `generationConfig`.
    pub(crate) fn set_thinking(&mut self, name: &str, value: Value) {
        let thinking = self.generation.entry("thinkingConfig");
        let thinking = thinking.or_insert_with(|| Value::Object(Map::new()));
        if let Some(settings) = thinking.as_object_mut() {
            settings.insert(name.into(), value);
        }
    }

    /// Sets a credential that is looked up for each request. No key from the environment is sent then.
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
        let mut headers = self.default_headers.clone();
        headers.extend(&self.headers);
        let server = Server::new(base.clone(), &headers).map_err(setup)?;
        let has_key = headers.has(KEY_HEADER.name) || headers.has("authorization");
        if server.name() == GEMINI && !has_key && self.credential.is_none() {
            let message = format!("Gemini needs a key: {KEY}");
            return Err(ModelError::new(Kind::Setup, message));
        }
        let model = match self.name.contains('/') {
            true => self.name.clone(),
            false => format!("models/{}", self.name),
        };
        let stream = format!("{model}:streamGenerateContent?alt=sse");
        Ok(RequestTemplate {
            whole: server
                .endpoint(&format!("{model}:generateContent"))
                .map_err(setup)?,
            stream: server.endpoint(&stream).map_err(setup)?,
            generation: self.generation(self.generation.clone()),
            server_tools: self.fields.server_tools()?.join(",").into_bytes(),
            settings: self.fields.json(&["tools", GENERATION]).into_bytes(),
            server,
        })
    }

    /// Returns the JSON field `generationConfig` with these settings of the client, with a comma before it; empty if
    /// there are no settings.
    pub(crate) fn generation(&self, own: Map<String, Value>) -> Vec<u8> {
        let settings = self.fields.joined(GENERATION, own);
        let settings = settings.map(|settings| format!(",\"{GENERATION}\":{settings}"));
        settings.unwrap_or_default().into_bytes()
    }
}

/// Advice about a missing or wrong key, for errors.
pub(crate) const KEY: &str = "set `.api_key(..)`, or the environment variable GEMINI_API_KEY (which is sent only to \
     Google, not to the server of `.base_url(..)`)";

fn parse(url: &str) -> Result<Address, String> {
    Address::parse(url, None).map_err(|AddressError { address, why }| {
        format!(
            "`{address}` is not the address of a server ({why}): write `https://host/v1beta`, up to the part before \
             `/models`"
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
            generation,
            fields,
            is_new,
            capabilities,
            limits,
            credential,
            dialect,
            hook,
            template: _,
        } = self;
        Config {
            name: name.clone(),
            id: id.clone(),
            base: base.clone(),
            default_headers: default_headers.clone(),
            headers: headers.clone(),
            generation: generation.clone(),
            fields: fields.clone(),
            is_new: *is_new,
            capabilities: *capabilities,
            limits: *limits,
            credential: credential.clone(),
            dialect: *dialect,
            hook: hook.clone(),
            template: OnceLock::new(),
        }
    }
}
