//! The settings of a client, and the request template that is made from them once.

use crate::{
    host,
    settings::{KeepAlive, Think, ToolMode},
    tool_support,
};
use agents_core::model::{ModelError, ModelErrorKind as Kind};
use agents_http::{
    Address, Credential, Dialect, Endpoint, Fields, Headers, Limits, RawHook, Server,
    TransportError,
};
use serde_json::Value;
use std::{
    sync::{OnceLock, atomic::AtomicBool},
    time::Duration,
};

#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: String,
    /// Id of the model, by which runs name it, such as `ollama/qwen3`.
    pub(crate) id: String,
    pub(crate) base: Result<Address, String>,
    pub(crate) options: Vec<(String, Value)>,
    /// Other fields of the request that the program has set.
    pub(crate) fields: Fields,
    pub(crate) keep_alive: Option<KeepAlive>,
    pub(crate) think: Option<Think>,
    pub(crate) wait: Duration,
    pub(crate) streaming: bool,
    pub(crate) tools: ToolMode,
    pub(crate) headers: Headers,
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
    pub(crate) chat: Endpoint,
    pub(crate) limits: Limits,
    /// Begin of the JSON body of each request, up to the value of `stream`.
    pub(crate) head: Vec<u8>,
    /// JSON of the body after the value of `stream`: all other settings, each with a comma before it.
    pub(crate) settings: Vec<u8>,
    /// Is `true` once the server refused tools for this model, so that the prompt describes them.
    pub(crate) no_tools: AtomicBool,
}

impl Config {
    pub(crate) fn new(name: String) -> Self {
        Config {
            id: format!("ollama/{name}"),
            name,
            base: host::from_env(),
            options: Vec::new(),
            fields: Fields::default(),
            keep_alive: None,
            think: None,
            wait: Limits::default().idle,
            streaming: true,
            tools: ToolMode::Auto,
            headers: Headers::default(),
            credential: None,
            dialect: Dialect::ANY,
            hook: None,
            template: OnceLock::new(),
        }
    }

    /// Sets an entry of `options`; the last value for a name applies.
    pub(crate) fn set_option(&mut self, name: String, value: Value) {
        match self.options.iter_mut().find(|(known, _)| *known == name) {
            Some((_, held)) => *held = value,
            None => self.options.push((name, value)),
        }
    }

    /// Returns the request template, and makes it at the first request.
    pub(crate) fn template(&self) -> Result<&RequestTemplate, ModelError> {
        self.template
            .get_or_init(|| self.prepare())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn prepare(&self) -> Result<RequestTemplate, ModelError> {
        let base = self
            .base
            .as_ref()
            .map_err(|why| ModelError::new(Kind::Setup, why.clone()))?;
        self.fields.check()?;
        let setup = |error: TransportError| ModelError::new(Kind::Setup, error.to_string());
        let server = Server::new(base.clone(), &self.headers).map_err(setup)?;
        Ok(RequestTemplate {
            chat: server.endpoint("api/chat").map_err(setup)?,
            no_tools: tool_support::has_no_tools(server.name(), &self.name).into(),
            limits: Limits {
                idle: self.wait,
                ..Limits::default()
            },
            server,
            head: format!(
                "{{\"model\":{},\"stream\":",
                Value::from(self.name.as_str())
            )
            .into_bytes(),
            settings: self.settings(),
        })
    }

    /// Returns the window that each request asks for.
    pub(crate) fn window(&self) -> Option<u32> {
        let (_, value) = self.options.iter().find(|(name, _)| name == "num_ctx")?;
        u32::try_from(value.as_u64()?).ok()
    }

    fn settings(&self) -> Vec<u8> {
        // Without these two, Ollama leaves out the beginning of what is too long, and answers all the same.
        let mut out = String::from(",\"truncate\":false,\"shift\":false");
        if !self.options.is_empty() {
            let each = self
                .options
                .iter()
                .map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())));
            out += &format!(",\"options\":{{{}}}", each.collect::<Vec<_>>().join(","));
        }
        if let Some(KeepAlive(value)) = &self.keep_alive {
            out += &format!(",\"keep_alive\":{value}");
        }
        if let Some(Think(value)) = &self.think {
            out += &format!(",\"think\":{value}");
        }
        out += &self.fields.json(&[]);
        out.into_bytes()
    }
}

impl Clone for Config {
    /// Copies the settings without the request template, since the copy is about to be changed.
    fn clone(&self) -> Self {
        let Config {
            name,
            id,
            base,
            options,
            fields,
            keep_alive,
            think,
            wait,
            streaming,
            tools,
            headers,
            credential,
            dialect,
            hook,
            template: _,
        } = self;
        Config {
            name: name.clone(),
            id: id.clone(),
            base: base.clone(),
            options: options.clone(),
            fields: fields.clone(),
            keep_alive: keep_alive.clone(),
            think: think.clone(),
            wait: *wait,
            streaming: *streaming,
            tools: *tools,
            headers: headers.clone(),
            credential: credential.clone(),
            dialect: *dialect,
            hook: hook.clone(),
            template: OnceLock::new(),
        }
    }
}
