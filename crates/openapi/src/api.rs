use crate::{
    document::Document,
    error::ApiError,
    operation::{self, Operation, Problem},
    security::Scheme,
    tool, wording,
};
use agents_core::tool::{Pattern, ToolSet};
use agents_http_tool::{self as http, HttpTool, Method};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

/// OpenAPI document, whose operations become [tools](Api::tools).
///
/// ```
/// use agents::prelude::*;
/// use agents_openapi::Api;
///
/// fn clerk(document: &str) -> Result<impl Agent<In = String, Out = String>, agents_openapi::ApiError> {
///     let pets = Api::read(document)?
///         .named("pets") // tools are `pets_getPet` and so on
///         .server("https://pets.example.com/v1")
///         .secret("api_key", "pets") // the secret of that name, for the scheme of that name
///         .without("pets_delete*");
///     Ok(AgentBuilder::<String, String>::new("clerk").tools(pets.tools()?).build())
/// }
/// # let _ = clerk;
/// ```
#[must_use = "the tools are made by `.tools()`"]
pub struct Api {
    document: Document,
    name: Option<String>,
    server: Option<Server>,
    secrets: BTreeMap<String, String>,
    only: Vec<Pattern>,
    without: Vec<Pattern>,
    skips_unfit: bool,
    timeout: Duration,
    max_bytes: usize,
}

struct Server {
    url: String,
    is_private: bool,
}

/// Operation of the document that cannot be a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfit {
    /// Name that the tool of the operation would have; the path, if what is wrong is the path itself.
    pub name: String,
    /// Reason why the operation cannot be a tool, which names the operation and the field.
    pub reason: String,
}

impl Api {
    /// Reads a document of version 3.0 or 3.1 in JSON; in YAML too with the feature `yaml`.
    ///
    /// # Errors
    /// When the text is not such a document. What is wrong with one operation is an error of [`tools`](Api::tools).
    pub fn read(text: &str) -> Result<Self, ApiError> {
        Ok(Api {
            document: Document::read(text)?,
            name: None,
            server: None,
            secrets: BTreeMap::new(),
            only: Vec::new(),
            without: Vec::new(),
            skips_unfit: false,
            timeout: Duration::from_secs(30),
            max_bytes: 1_000_000,
        })
    }

    /// Sets the name with which the names of the tools begin: `pets` makes `pets_getPet`. By default they have the names of
    /// the operations alone.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the base URL of the server, over `https`, to which the paths are added. By default it is the first server
    /// of the document.
    pub fn server(mut self, url: impl Into<String>) -> Self {
        self.server = Some(Server {
            url: url.into(),
            is_private: false,
        });
        self
    }

    /// Sets the base URL of a server that is on this machine or in its network, over `https` or `http`.
    pub fn private_server(mut self, url: impl Into<String>) -> Self {
        self.server = Some(Server {
            url: url.into(),
            is_private: true,
        });
        self
    }

    /// Sends the secret with the name `secret` for the security scheme with the name `scheme`: an API key, a bearer
    /// token, or `user:password` for `basic`. The secret is that of the run's scope, and is looked up whenever a tool
    /// runs.
    pub fn secret(mut self, scheme: impl Into<String>, secret: impl Into<String>) -> Self {
        self.secrets.insert(scheme.into(), secret.into());
        self
    }

    /// Keeps only the operations that match the pattern, by the names of their tools. Each further call keeps those of
    /// its pattern, too.
    pub fn only(mut self, pattern: impl Into<Pattern>) -> Self {
        self.only.push(pattern.into());
        self
    }

    /// Leaves out the operations that match the pattern, by the names of their tools.
    pub fn without(mut self, pattern: impl Into<Pattern>) -> Self {
        self.without.push(pattern.into());
        self
    }

    /// Leaves out the operations that cannot be tools, such as uploads of files; [`unfit`](Api::unfit) lists them.
    pub fn skip_unfit(mut self) -> Self {
        self.skips_unfit = true;
        self
    }

    /// Sets the timeout of a call; 30 seconds by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many bytes of an answer are read; 1 MB (1,000,000 bytes) by default. A longer answer is cut, and is
    /// then given as a text.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Returns a tool for each operation that is kept.
    ///
    /// # Errors
    /// When no server is known, its URL is not valid, or plain HTTP would be used for a server that is not
    /// [private](Api::private_server). When a pattern of [`only`](Api::only) matches no operation that becomes a tool.
    /// Unless [`skip_unfit`](Api::skip_unfit) leaves such operations out: when an operation cannot be a tool or lacks a
    /// secret, or when two tools have one name. The error then names each operation and its field.
    pub fn tools(&self) -> Result<ToolSet, ApiError> {
        let (fit, unfit) = self.sorted();
        if !unfit.is_empty() && !self.skips_unfit {
            let reasons: Vec<_> = unfit.into_iter().map(|one| one.reason).collect();
            return Err(ApiError::new(wording::unfit_all(&reasons)));
        }
        for pattern in &self.only {
            if !fit.iter().any(|(name, ..)| pattern.matches(name)) {
                return Err(ApiError::new(wording::nothing_matches(pattern.as_str())));
            }
        }
        let server = self.base()?;
        let base: Arc<str> = server.url.trim_end_matches('/').into();
        let version = self.document.get("info")["version"].as_str().unwrap_or("1");
        let mut asking: BTreeMap<BTreeSet<(Scheme, String)>, Arc<HttpTool>> = BTreeMap::new();
        let tools = fit.into_iter().map(|(name, operation, secrets)| {
            let http = asking.entry(secrets);
            let http = http.or_insert_with_key(|secrets| Arc::new(self.http(&server, secrets)));
            tool::of(
                name,
                Arc::new(operation),
                base.clone(),
                version,
                http.clone(),
            )
        });
        Ok(ToolSet::new().with_all(tools))
    }

    /// Lists the operations that are kept and cannot be tools, with the reasons why.
    ///
    /// ```
    /// use agents_openapi::Api;
    ///
    /// # fn main() -> Result<(), agents_openapi::ApiError> {
    /// let document = r#"{"openapi": "3.1.0", "servers": [{"url": "https://pets.example.com"}], "paths": {
    ///     "/pets": {"get": {"operationId": "listPets"}},
    ///     "/photos": {"post": {"operationId": "addPhoto", "requestBody": {"required": true, "content": {"image/png": {}}}}}}}"#;
    /// let pets = Api::read(document)?;
    /// assert!(pets.tools().is_err());
    /// assert_eq!(pets.unfit()[0].name, "addPhoto");
    ///
    /// let pets = pets.skip_unfit().tools()?;
    /// assert_eq!(pets.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn unfit(&self) -> Vec<Unfit> {
        self.sorted().1
    }

    /// Sorts the operations that are wanted: those that can be tools, with their secrets, and those that cannot.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn sorted(
        &self,
    ) -> (
        Vec<(String, Operation, BTreeSet<(Scheme, String)>)>,
        Vec<Unfit>,
    ) {
        let (mut fit, mut unfit): (Vec<(String, Operation, _)>, Vec<Unfit>) = Default::default();
        for operation in operation::all(&self.document) {
            let own_name = match &operation {
                Ok(operation) => &operation.name,
                Err(problem) => &problem.operation,
            };
            let name = match &self.name {
                Some(prefix) => operation::written(&format!("{prefix}_{own_name}")),
                None => own_name.clone(),
            };
            let is_wanted = self.only.is_empty() || self.only.iter().any(|one| one.matches(&name));
            if !is_wanted || self.without.iter().any(|one| one.matches(&name)) {
                continue;
            }
            let problem = match operation {
                Err(Problem { text, .. }) => text,
                Ok(operation) => match (
                    self.secrets_of(&operation),
                    fit.iter().find(|(taken, ..)| *taken == name),
                ) {
                    (Ok(_), Some((_, other, _))) => {
                        let other = format!("{} {}", other.method, other.path);
                        wording::unfit(&name, "operationId", &wording::same_name(&name, &other))
                    }
                    (Ok(secrets), None) => {
                        fit.push((name, operation, secrets));
                        continue;
                    }
                    (Err(what), _) => wording::unfit(&name, "security", &what),
                },
            };
            unfit.push(Unfit {
                name,
                reason: problem,
            });
        }
        (fit, unfit)
    }

    /// Returns the secrets with which an operation is called: those of the first alternative for which all secrets are
    /// given. They are none if there is no such alternative, and the operation may be called without secrets.
    fn secrets_of(&self, operation: &Operation) -> Result<BTreeSet<(Scheme, String)>, String> {
        let mut missing = Vec::new();
        let mut is_open = operation.security.is_empty();
        for alternative in &operation.security {
            is_open |= alternative.is_empty();
            let unknown = alternative
                .iter()
                .find(|scheme| !self.secrets.contains_key(*scheme));
            if let Some(scheme) = unknown {
                missing.push(scheme.clone());
                continue;
            }
            if !alternative.is_empty() {
                let secrets = alternative.iter().map(|scheme| {
                    let sent = Scheme::read(&self.document, scheme)?;
                    Ok((sent, self.secrets[scheme].clone()))
                });
                return secrets.collect();
            }
        }
        match is_open {
            true => Ok(BTreeSet::new()),
            false => Err(wording::needs_secret(&missing)),
        }
    }

    fn base(&self) -> Result<Server, ApiError> {
        let server = match &self.server {
            Some(Server { url, is_private }) => Server {
                url: url.clone(),
                is_private: *is_private,
            },
            None => {
                let first = &self.document.get("servers")[0];
                let mut url = first["url"].as_str().unwrap_or_default().to_owned();
                for (name, variable) in first["variables"].as_object().into_iter().flatten() {
                    let value = variable["default"].as_str().unwrap_or_default();
                    url = url.replace(&format!("{{{name}}}"), value);
                }
                if !url.contains("://") {
                    return Err(ApiError::new(wording::no_server()));
                }
                Server {
                    url,
                    is_private: false,
                }
            }
        };
        let is_url = host(&server.url).is_some_and(http::is_host);
        if !is_url || server.url.contains(['?', '#', '{']) {
            return Err(ApiError::new(wording::not_a_server(&server.url)));
        }
        if server.url.starts_with("http://") && !server.is_private {
            return Err(ApiError::new(wording::plain_http(&server.url)));
        }
        Ok(server)
    }

    /// Returns the HTTP tool that sends requests to the server, with these secrets.
    fn http(&self, server: &Server, secrets: &BTreeSet<(Scheme, String)>) -> HttpTool {
        let host = host(&server.url).unwrap_or_default();
        let http = HttpTool::new()
            .timeout(self.timeout)
            .max_bytes(self.max_bytes)
            .preview(self.max_bytes);
        let http = match server.is_private {
            true => http.allow_private_host(host),
            false => http.allow_host(host),
        };
        let methods = [Method::Post, Method::Put, Method::Patch, Method::Delete];
        let http = methods.into_iter().fold(http, HttpTool::allow_method);
        secrets
            .iter()
            .fold(http, |http, (scheme, secret)| match scheme {
                Scheme::Header(name) => http.secret_header(host, name, secret),
                Scheme::Query(name) => http.secret_query(host, name, secret),
                Scheme::Bearer => http.bearer(host, secret),
                Scheme::Basic => http.basic(host, secret),
            })
    }
}

/// Returns the host of a URL, with its port.
fn host(url: &str) -> Option<&str> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    rest.split('/').next()
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("title", &self.document.get("info")["title"])
            .finish_non_exhaustive()
    }
}
