//! The settings of a client, and what is worked out from them once.

use crate::{
    host::{self, Address},
    learned,
    route::Route,
    settings::{Header, KeepAlive, Think, ToolMode},
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

/// Long enough for a big model to come off a slow disk.
const WAIT: Duration = Duration::from_secs(300);

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
    ready: OnceLock<Result<Ready, ModelError>>,
}

/// What every request has in common.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) base: Address,
    pub(crate) chat: Uri,
    pub(crate) server: String,
    pub(crate) route: Route,
    pub(crate) headers: HeaderMap,
    /// The start of the body, up to the value of `stream`.
    pub(crate) head: Vec<u8>,
    /// What follows that value: everything else that is set, each with a comma before it.
    pub(crate) settings: Vec<u8>,
    /// The server said that the model has no tools: from then on they are offered by prompt.
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
            wait: WAIT,
            streaming: true,
            tools: ToolMode::Auto,
            headers: Vec::new(),
            ready: OnceLock::new(),
        }
    }

    /// Sets an option; the last word counts.
    pub(crate) fn set_option(&mut self, name: String, value: Value) {
        match self.options.iter_mut().find(|(known, _)| *known == name) {
            Some((_, held)) => *held = value,
            None => self.options.push((name, value)),
        }
    }

    /// What is worked out once, at the first request.
    pub(crate) fn ready(&self) -> Result<&Ready, ModelError> {
        self.ready
            .get_or_init(|| self.prepare())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn prepare(&self) -> Result<Ready, ModelError> {
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
        // What is said of a header counts, whatever the address says.
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
        Ok(Ready {
            base: base.clone(),
            chat: route.target(chat),
            route,
            no_tools: learned::has_no_tools(&server, &self.name).into(),
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

/// The server's name, which has a port where that is not the scheme's own.
fn host(address: &Uri) -> HeaderValue {
    let server = address.authority().map_or("", |server| server.as_str());
    HeaderValue::from_bytes(server.as_bytes()).expect("a host has no control characters")
}

impl Clone for Config {
    /// A copy that is about to be changed: what was worked out does not come along.
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
            ready: _,
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
            ready: OnceLock::new(),
        }
    }
}
