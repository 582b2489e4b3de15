//! The settings of a client, and the request template that is made from them once.

use crate::{
    host::{self, Address},
    route::Route,
    settings::{Header, KeepAlive, Think, ToolMode},
    tool_support,
};
use agents_core::model::{ModelError, ModelErrorKind as Kind};
use http::{
    Uri,
    header::{
        ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
        PROXY_AUTHORIZATION,
    },
};
use serde_json::Value;
use std::{
    sync::{OnceLock, atomic::AtomicBool},
    time::Duration,
};

/// Default time limit for the next byte: long enough to load a big model from a slow disk.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: String,
    /// `ollama/NAME`.
    pub(crate) id: String,
    pub(crate) base: Result<Address, String>,
    pub(crate) options: Vec<(String, Value)>,
    pub(crate) keep_alive: Option<KeepAlive>,
    pub(crate) think: Option<Think>,
    pub(crate) wait: Duration,
    pub(crate) streaming: bool,
    pub(crate) tools: ToolMode,
    pub(crate) headers: Vec<Header>,
    template: OnceLock<Result<RequestTemplate, ModelError>>,
}

/// The parts that all requests of a client have in common.
#[derive(Debug)]
pub(crate) struct RequestTemplate {
    pub(crate) base: Address,
    pub(crate) chat: Uri,
    pub(crate) server: String,
    pub(crate) route: Route,
    pub(crate) headers: HeaderMap,
    /// The start of the body, up to the value of `stream`.
    pub(crate) head: Vec<u8>,
    /// The part of the body after the value of `stream`: all other settings, each with a comma before it.
    pub(crate) settings: Vec<u8>,
    /// `true` once the server refused tools for this model, so that the prompt describes them.
    pub(crate) no_tools: AtomicBool,
}

impl Config {
    pub(crate) fn new(name: String) -> Self {
        Config {
            id: format!("ollama/{name}"),
            name,
            base: host::from_env(),
            options: Vec::new(),
            keep_alive: None,
            think: None,
            wait: DEFAULT_TIMEOUT,
            streaming: true,
            tools: ToolMode::Auto,
            headers: Vec::new(),
            template: OnceLock::new(),
        }
    }

    /// Sets an option; the last value for a name applies.
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
        if base.is_https() && !cfg!(feature = "tls") {
            let message = format!(
                "{base} asks for HTTPS, which this build does not speak: enable the feature `tls`"
            );
            return Err(ModelError::new(Kind::Setup, message));
        }
        let chat = base.endpoint("api/chat");
        let route = if base.is_loopback() {
            Route::direct(&chat)
        } else {
            Route::from_env(&chat).map_err(|why| ModelError::new(Kind::Setup, why))?
        };
        let mut headers = HeaderMap::with_capacity(self.headers.len() + 5);
        headers.insert(HOST, host(&chat));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(login) = &base.login {
            headers.insert(AUTHORIZATION, login.clone());
        }
        if let Some(login) = route.login() {
            headers.insert(PROXY_AUTHORIZATION, login.clone());
        }
        // A header set by the user replaces a login in the address.
        for Header { name, value } in &self.headers {
            let wrong = || {
                let message = format!(
                    "`{name}` is no HTTP header, or its value cannot be sent: see `.header(..)`"
                );
                ModelError::new(Kind::Setup, message)
            };
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        let server = base.to_string();
        Ok(RequestTemplate {
            base: base.clone(),
            chat: route.target(chat),
            route,
            no_tools: tool_support::has_no_tools(&server, &self.name).into(),
            server,
            headers,
            head: format!(
                "{{\"model\":{},\"stream\":",
                Value::from(self.name.as_str())
            )
            .into_bytes(),
            settings: self.settings(),
        })
    }

    fn settings(&self) -> Vec<u8> {
        let mut out = String::new();
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
        out.into_bytes()
    }
}

/// Returns the value of the header `Host`, with the port unless it is the scheme's default.
fn host(address: &Uri) -> HeaderValue {
    let server = address.authority().map_or("", |server| server.as_str());
    HeaderValue::from_bytes(server.as_bytes()).expect("a host has no control characters")
}

impl Clone for Config {
    /// Copies the settings without the request template, since the copy is about to be changed.
    fn clone(&self) -> Self {
        let Config {
            name,
            id,
            base,
            options,
            keep_alive,
            think,
            wait,
            streaming,
            tools,
            headers,
            template: _,
        } = self;
        Config {
            name: name.clone(),
            id: id.clone(),
            base: base.clone(),
            options: options.clone(),
            keep_alive: keep_alive.clone(),
            think: think.clone(),
            wait: *wait,
            streaming: *streaming,
            tools: *tools,
            headers: headers.clone(),
            template: OnceLock::new(),
        }
    }
}
