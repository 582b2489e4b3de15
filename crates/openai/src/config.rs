//! The settings of a client, and the request template that is made from them once.

use agents_core::model::{Capabilities, ModelError, ModelErrorKind as Kind};
use agents_http::{
    Address, AddressError, Credential, Dialect, Endpoint, Fields, Headers, Limits, RawHook, Server,
    TransportError,
};
use serde_json::{Map, Value};
use std::{env, sync::OnceLock};

/// Address of OpenAI's API, which is the default.
const OPENAI: &str = "https://api.openai.com/v1";

/// Field of a request with the options of a stream. It is not sent with a request for a reply in one document.
const STREAM_OPTIONS: &str = "stream_options";

#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: String,
    /// Id of the model, by which runs name it, such as `openai/gpt-5`.
    pub(crate) id: String,
    pub(crate) base: Result<Address, String>,
    /// Headers from the environment, which only the default server gets, or the one that the environment names.
    default_headers: Headers,
    pub(crate) headers: Headers,
    pub(crate) fields: Fields,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) effort: Option<String>,
    pub(crate) api: Api,
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

/// Protocol that an OpenAI client speaks with its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    ChatCompletions,
    Responses,
}

/// The parts that all requests of a client have in common.
#[derive(Debug)]
pub(crate) struct RequestTemplate {
    pub(crate) server: Server,
    pub(crate) endpoint: Endpoint,
    /// Begin of the JSON body of each request, up to the value of `stream`.
    pub(crate) head: Vec<u8>,
    /// JSON of the settings after the value of `stream`, each with a comma before it.
    pub(crate) settings: Vec<u8>,
    /// JSON of the settings that only a streamed reply has, each with a comma before it.
    pub(crate) stream_settings: String,
    /// JSON of the settings that only a request with tools has, each with a comma before it.
    pub(crate) tool_settings: &'static str,
    /// Tools that the server runs itself, separated by commas.
    pub(crate) server_tools: String,
}

impl Api {
    fn path(self) -> &'static str {
        match self {
            Api::ChatCompletions => "chat/completions",
            Api::Responses => "responses",
        }
    }
}

/// Returns the window of the model of this name, if its family is known: the smallest one of the family.
fn window(name: &str) -> Option<u32> {
    const FAMILIES: [(&str, u32); 6] = [
        ("gpt-4o", 128_000),
        ("gpt-4-turbo", 128_000),
        ("gpt-4.1", 1_000_000),
        ("gpt-5.3", 128_000),
        ("gpt-5", 400_000),
        ("o1", 128_000),
    ];
    let family = FAMILIES.iter().find(|(family, _)| name.starts_with(family));
    family.map(|(_, window)| *window)
}

impl Config {
    pub(crate) fn new(name: String) -> Self {
        let variable = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let mut default_headers = Headers::default();
        if let Some(key) = variable("OPENAI_API_KEY") {
            default_headers.set("authorization", format!("Bearer {}", key.trim()));
        }
        if let Some(id) = variable("OPENAI_ORG_ID") {
            default_headers.set("openai-organization", id);
        }
        if let Some(id) = variable("OPENAI_PROJECT_ID") {
            default_headers.set("openai-project", id);
        }
        let base = variable("OPENAI_BASE_URL");
        Config {
            id: format!("openai/{name}"),
            base: parse(base.as_deref().unwrap_or(OPENAI)),
            default_headers,
            headers: Headers::default(),
            fields: Fields::default(),
            max_tokens: None,
            effort: None,
            api: Api::ChatCompletions,
            capabilities: Capabilities {
                images: true,
                files: true,
                window: window(&name),
                ..Capabilities::default()
            },
            limits: Limits::default(),
            credential: None,
            tool_dialect: Dialect::ANY,
            answer_dialect: Dialect::OPENAI,
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

    /// Sets a credential that is looked up for each request. No key or other header from the environment is sent then.
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
        let has_key = headers.has("authorization") || self.credential.is_some();
        if server.name() == OPENAI && !has_key {
            return Err(ModelError::new(
                Kind::Setup,
                format!("OpenAI needs a key: {KEY}"),
            ));
        }
        Ok(RequestTemplate {
            endpoint: server.endpoint(self.api.path()).map_err(setup)?,
            head: format!(
                "{{\"model\":{},\"stream\":",
                Value::from(self.name.as_str())
            )
            .into_bytes(),
            server_tools: self.server_tools()?,
            settings: self.settings(server.name()),
            stream_settings: self.stream_settings(),
            tool_settings: match !self.capabilities.parallel_calls
                && self.sends("parallel_tool_calls")
            {
                true => ",\"parallel_tool_calls\":false",
                false => "",
            },
            server,
        })
    }

    /// Returns the tools of the server that the program has set.
    fn server_tools(&self) -> Result<String, ModelError> {
        let tools = self.fields.server_tools()?.join(",");
        if self.api == Api::ChatCompletions && !tools.is_empty() {
            let message = "OpenAI runs tools of its own in Responses alone: add `.responses()`";
            return Err(ModelError::new(Kind::Setup, message));
        }
        Ok(tools)
    }

    /// Returns the JSON of the settings that only a streamed reply has, each with a comma before it. Responses counts
    /// tokens without being asked to.
    fn stream_settings(&self) -> String {
        let own = match self.api {
            Api::ChatCompletions => object("include_usage", true),
            Api::Responses => Map::new(),
        };
        let options = self.fields.joined(STREAM_OPTIONS, own);
        options.map_or_else(String::new, |options| {
            format!(",\"{STREAM_OPTIONS}\":{options}")
        })
    }

    /// Returns `true` if the program has not set this field itself.
    fn sends(&self, name: &str) -> bool {
        self.fields.get(name).is_none()
    }

    fn settings(&self, server: &str) -> Vec<u8> {
        let mut out = String::new();
        if let Some(tokens) = self.max_tokens {
            let field = match self.api {
                Api::Responses => "max_output_tokens",
                Api::ChatCompletions if server == OPENAI => "max_completion_tokens",
                Api::ChatCompletions => "max_tokens",
            };
            out += &format!(",\"{field}\":{tokens}");
        }
        let effort = self.effort.as_deref();
        let (field, effort) = match self.api {
            Api::Responses => {
                let own = effort.map(|effort| object("effort", effort));
                let joined = self.fields.joined("reasoning", own.unwrap_or_default());
                ("reasoning", joined)
            }
            Api::ChatCompletions => ("reasoning_effort", effort.map(Value::from)),
        };
        if let Some(effort) = effort {
            out += &format!(",\"{field}\":{effort}");
        }
        if self.api == Api::Responses {
            // The conversation is kept here, so that it can go on anywhere.
            let kept = [
                ("store", "false"),
                ("include", "[\"reasoning.encrypted_content\"]"),
            ];
            for (field, value) in kept.into_iter().filter(|(field, _)| self.sends(field)) {
                out += &format!(",\"{field}\":{value}");
            }
        }
        out += &self.fields.json(match self.api {
            Api::Responses => &["tools", STREAM_OPTIONS, "reasoning", "text"],
            Api::ChatCompletions => &["tools", STREAM_OPTIONS],
        });
        out.into_bytes()
    }
}

/// Returns an object with one field.
pub(crate) fn object(name: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value.into())])
}

/// Advice about a missing or wrong key, for errors.
pub(crate) const KEY: &str = "set `.api_key(..)`, or the environment variable OPENAI_API_KEY (which is sent only to \
     the server that the environment names, not to that of `.base_url(..)`)";

fn parse(url: &str) -> Result<Address, String> {
    Address::parse(url, None).map_err(|AddressError { address, why }| {
        format!(
            "`{address}` is not the address of a server ({why}): write `https://host/v1`, up to the part before \
             `/chat/completions`"
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
            fields,
            max_tokens,
            effort,
            api,
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
            fields: fields.clone(),
            max_tokens: *max_tokens,
            effort: effort.clone(),
            api: *api,
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
