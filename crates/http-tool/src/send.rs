//! Sending of a model's request: the request is checked and sent, and each redirect is checked again.

use super::{
    Clients, Form, HttpAnswer, HttpArgs, HttpError, HttpTool, Method, Sent,
    address::{NoMetadata, PublicOnly, is_public},
    answer, error,
    hosts::Pattern,
    wording,
};
use agents_core::{Code, Json, ToolContext};
use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{
    Client, Response, Url,
    dns::Resolve,
    header::{
        AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
    },
    redirect,
};
use std::{collections::BTreeMap, net::IpAddr, sync::PoisonError, time::Duration};

impl HttpTool {
    pub(super) async fn ask(
        &self,
        args: HttpArgs,
        cx: &ToolContext,
    ) -> Result<HttpAnswer, HttpError> {
        let method = self.allowed(args.method)?;
        let mut url = Url::parse(&args.url)
            .map_err(|error| HttpError::new(Code::ValidationError, wording::not_a_url(&error)))?;
        let clients = self.clients()?;
        let asked = url.origin();
        let mut by_way_of = Vec::new();
        // Is `true` once a redirect has left the origin that the model named. Later requests are determined by
        // other servers: they get no secrets, even if they lead back.
        let mut is_elsewhere = false;
        loop {
            let client = match self.check(&url, by_way_of.is_empty())? {
                Place::Public => &clients.public,
                Place::Private => &clients.private,
            };
            let (asked_for, headers) = match is_elsewhere {
                true => (url.clone(), HeaderMap::new()),
                false => self.with_secrets(&url, own(&args.headers)?, cx).await?,
            };
            let response = self
                .send_to(client, method, asked_for, args.body.as_ref(), headers)
                .await?;
            // A request that writes or was approved is sent only once: its redirect is the answer.
            let next = match method.reads() && !cx.is_approved() {
                true => redirected(&response, &url)?,
                false => None,
            };
            let Some(next) = next else {
                let is_withheld = is_elsewhere && self.secrets_for(&url).next().is_some();
                return self.answer(response, url, by_way_of, is_withheld).await;
            };
            if by_way_of.len() >= self.redirects {
                return Err(HttpError::new(
                    Code::ProviderError,
                    wording::too_many_redirects(self.redirects),
                ));
            }
            by_way_of.push(url.to_string());
            is_elsewhere |= next.origin() != asked;
            url = next;
        }
    }

    fn allowed(&self, method: Method) -> Result<Method, HttpError> {
        if self.methods.contains(&method) {
            return Ok(method);
        }
        let allowed: Vec<_> = self.methods.iter().map(ToString::to_string).collect();
        Err(HttpError::denied(wording::method_refused(
            &method, &allowed,
        )))
    }

    /// Checks whether the URL may be requested. Returns the networks to which it may lead.
    fn check(&self, url: &Url, is_first: bool) -> Result<Place, HttpError> {
        let invalid = |what: &str| {
            Err(match is_first {
                true => HttpError::new(Code::ValidationError, wording::url_refused(what)),
                false => HttpError::denied(wording::redirect_refused(what)),
            })
        };
        if !matches!(url.scheme(), "http" | "https") {
            return invalid(wording::NOT_HTTP);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return invalid(wording::WITH_PASSWORD);
        }
        let place = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
            None => url.host_str().unwrap_or_default().to_owned(),
        };
        let named: Vec<_> = self.hosts.iter().filter(|host| host.names(url)).collect();
        if named.is_empty() {
            let hosts: Vec<_> = self.hosts.iter().map(ToString::to_string).collect();
            return Err(HttpError::denied(wording::host_refused(
                &place, &hosts, is_first,
            )));
        }
        if url.scheme() == "http" && !named.iter().any(|host| host.is_clear()) {
            return Err(HttpError::denied(wording::plain_http_refused(
                &place, is_first,
            )));
        }
        if named.iter().any(|host| host.is_private()) {
            return Ok(Place::Private);
        }
        match literal(url) {
            Some(address) if !is_public(address) => Err(error::private(&place)),
            _ => Ok(Place::Public),
        }
    }

    async fn send_to(
        &self,
        client: &Client,
        method: Method,
        url: Url,
        body: Option<&Json>,
        mut headers: HeaderMap,
    ) -> Result<Response, HttpError> {
        let kind_is_set = headers.remove(CONTENT_TYPE);
        let mut request = client.request(method.into(), url).headers(headers);
        if let Some(body) = body {
            let (kind, body) = match body.to::<String>() {
                Ok(text) => ("text/plain; charset=utf-8", text),
                Err(_) => ("application/json", body.as_str().to_owned()),
            };
            let kind = kind_is_set.unwrap_or_else(|| HeaderValue::from_static(kind));
            request = request.header(CONTENT_TYPE, kind).body(body);
        }
        request
            .send()
            .await
            .map_err(|error| HttpError::of_transport(&error))
    }

    /// Returns the secrets that are sent to the host of this URL. Over plain HTTP they are sent only to this machine.
    fn secrets_for(&self, url: &Url) -> impl Iterator<Item = &Sent> {
        let here = literal(url).is_some_and(|address| address.is_loopback())
            || url.host_str() == Some("localhost");
        let hidden = url.scheme() == "https" || here;
        self.sent
            .iter()
            .filter(move |sent| hidden && sent.to.names(url))
    }

    /// Returns the URL and the headers of a request, with the values of the secrets for its host.
    async fn with_secrets(
        &self,
        url: &Url,
        mut headers: HeaderMap,
        cx: &ToolContext,
    ) -> Result<(Url, HeaderMap), HttpError> {
        let mut url = url.clone();
        let sent: Vec<_> = self.secrets_for(&url).collect();
        for sent in sent {
            let secret = cx.secret(&sent.secret).await?;
            let secret = secret.expose_secret().trim();
            let (name, value) = match &sent.form {
                Form::Query(name) => {
                    url.query_pairs_mut().append_pair(name, secret);
                    continue;
                }
                Form::Basic => (&AUTHORIZATION, format!("Basic {}", STANDARD.encode(secret))),
                Form::Header(name, prefix) => (name, format!("{prefix}{secret}")),
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                HttpError::new(Code::AuthRequired, wording::secret_unfit(&sent.secret))
            })?;
            value.set_sensitive(true);
            headers.insert(name.clone(), value);
        }
        Ok((url, headers))
    }

    /// Reads the response into an answer, or into the error that its status stands for.
    async fn answer(
        &self,
        response: Response,
        url: Url,
        by_way_of: Vec<String>,
        is_withheld: bool,
    ) -> Result<HttpAnswer, HttpError> {
        let status = response.status().as_u16();
        let origin = url.origin();
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|wait| wait.to_str().ok())
            .and_then(answer::wait);
        let answer =
            HttpAnswer::read(response, &url, by_way_of, self.max_bytes, self.preview).await?;
        match status {
            401 | 403 | 429 | 500.. => {
                let without = is_withheld.then(|| origin.ascii_serialization());
                let said = answer.brief();
                Err(HttpError::of_status(status, &said, retry_after, without))
            }
            _ => Ok(answer),
        }
    }

    /// Returns the HTTP clients for the current runtime: a connection is driven by the runtime that opened it.
    fn clients(&self) -> Result<Clients, HttpError> {
        let runtime = tokio::runtime::Handle::current().id();
        let mut held = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, clients)) = &*held
            && *of == runtime
        {
            return Ok(clients.clone());
        }
        let public = self.client(PublicOnly)?;
        let clients = Clients {
            // A second client is needed only if private hosts are allowed.
            private: match self.hosts.iter().any(Pattern::is_private) {
                true => self.client(NoMetadata)?,
                false => public.clone(),
            },
            public,
        };
        *held = Some((runtime, clients.clone()));
        Ok(clients)
    }

    fn client(&self, resolver: impl Resolve + 'static) -> Result<Client, HttpError> {
        Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .connect_timeout(self.timeout.min(Duration::from_secs(10)))
            .user_agent(concat!("agents/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(resolver)
            .build()
            .map_err(|error| HttpError::of_transport(&error))
    }
}

/// Returns the headers that a tool of your own adds to a request; an error if one of them cannot be sent.
fn own(given: &BTreeMap<String, String>) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let unfit = || HttpError::new(Code::ValidationError, wording::header_unfit(name));
        let key = HeaderName::try_from(name).map_err(|_| unfit())?;
        headers.insert(key, HeaderValue::from_str(value).map_err(|_| unfit())?);
    }
    Ok(headers)
}

/// Networks to which an allowed URL may lead: the public internet, or also this machine and its network.
#[derive(Clone, Copy)]
enum Place {
    Public,
    Private,
}

/// Returns the address that a URL names in place of a host name; `None` if it names a host.
fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    host.parse().ok()
}

/// Returns the URL to which the server redirects; `None` if it does not redirect, or does not say where. A location
/// that is no valid URL is an error.
fn redirected(response: &Response, from: &Url) -> Result<Option<Url>, HttpError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else {
        return Ok(None);
    };
    let location = location
        .to_str()
        .ok()
        .and_then(|location| from.join(location).ok());
    location
        .map(Some)
        .ok_or_else(|| HttpError::new(Code::ProviderError, wording::REDIRECT_UNREADABLE))
}
