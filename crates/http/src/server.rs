//! A server, and requests to it.

use crate::{
    Address, Body, Headers, Hidden, Limits, RawHook, TransportError,
    body::exchange,
    connection::HttpRequest,
    limits::Clock,
    pool::Pool,
    raw::{Tap, request_id},
    route::Route,
    wording,
};
use http::{
    Method, Response, Uri,
    header::{
        ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
        PROXY_AUTHORIZATION,
    },
};
use hyper::body::Bytes;

/// A server as a client sees it: the route to it, and the headers of all requests to it.
///
/// A client makes it once. All clients of a tokio runtime share the connections to a server.
///
/// ```no_run
/// use agents_http::{Address, Headers, Limits, Server};
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Address::parse("http://localhost:8000/v1", None)?, &Headers::default())?;
/// let models = server.endpoint("models")?;
/// let response = server.get(&models).send(&Limits::default()).await?;
/// println!("{}", response.status());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    address: Address,
    name: String,
    route: Route,
    headers: HeaderMap,
}

/// A path on a server, made by [`Server::endpoint`].
#[derive(Clone, Debug)]
pub struct Endpoint {
    target: Uri,
    path: String,
}

impl Endpoint {
    /// Returns the path as it was given, without the path of the server's address.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Server {
    /// Prepares requests to the server at this address.
    ///
    /// With the feature `proxy`, `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are read here, as curl reads
    /// them. Requests to this machine bypass the proxy.
    ///
    /// # Errors
    /// With [`TransportError::Setup`] if a header cannot be sent, if the address asks for HTTPS and the feature `tls`
    /// is off, or if the proxy cannot be used.
    pub fn new(address: Address, headers: &Headers) -> Result<Server, TransportError> {
        if address.is_https() && !cfg!(feature = "tls") {
            return Err(TransportError::Setup(wording::built_without_tls(&address)));
        }
        let root = address.endpoint("")?;
        let route = if address.is_loopback() {
            Route::direct(&root)
        } else {
            Route::from_env(&root).map_err(TransportError::Setup)?
        };
        let mut map = HeaderMap::with_capacity(8);
        map.insert(HOST, host(&root));
        map.insert(ACCEPT, HeaderValue::from_static("*/*"));
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(login) = address.login() {
            map.insert(AUTHORIZATION, login.clone());
        }
        if let Some(login) = route.login() {
            map.insert(PROXY_AUTHORIZATION, login.clone());
        }
        // A header set by the user replaces a login in the address.
        headers.add_to(&mut map)?;
        Ok(Server {
            name: address.to_string(),
            address,
            route,
            headers: map,
        })
    }

    /// Returns the address of the server as messages show it, without a login and a query.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the values of the server's headers that no message may show.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &HeaderValue> {
        self.headers.values().filter(|value| value.is_sensitive())
    }

    /// Returns the secrets of all requests to the server, for code that removes them from messages.
    pub fn hidden(&self) -> Hidden<'_> {
        Hidden {
            server: self,
            own: Vec::new(),
        }
    }

    /// Returns the endpoint at this path, relative to the path of the server's address. The path may have a query.
    ///
    /// # Errors
    /// With [`TransportError::Setup`] if the text is no path.
    pub fn endpoint(&self, path: &str) -> Result<Endpoint, TransportError> {
        Ok(Endpoint {
            target: self.route.target(self.address.endpoint(path)?),
            path: path.to_owned(),
        })
    }

    /// Prepares a `GET` request to this endpoint of the server.
    pub fn get<'a>(&'a self, endpoint: &'a Endpoint) -> Call<'a> {
        self.call(Method::GET, endpoint, Bytes::new())
    }

    /// Prepares a `POST` request with this body, which is JSON unless a header says something else.
    pub fn post<'a>(&'a self, endpoint: &'a Endpoint, body: impl Into<Bytes>) -> Call<'a> {
        self.call(Method::POST, endpoint, body.into())
    }

    fn call<'a>(&'a self, method: Method, endpoint: &'a Endpoint, body: Bytes) -> Call<'a> {
        let mut request = HttpRequest::new(body.into());
        *request.method_mut() = method;
        *request.uri_mut() = endpoint.target.clone();
        *request.headers_mut() = self.headers.clone();
        Call {
            server: self,
            endpoint,
            request,
            own: Vec::new(),
            hook: None,
        }
    }
}

/// A request that is not sent yet, made by [`Server::get`] and [`Server::post`].
#[must_use = "it is not sent before `send`"]
pub struct Call<'a> {
    pub(crate) server: &'a Server,
    pub(crate) endpoint: &'a Endpoint,
    request: HttpRequest,
    /// Values of the headers that were set for this request alone, which no message may show.
    own: Vec<HeaderValue>,
    /// Code that is given the reply once the body of the reply is dropped; `None` if there is none.
    hook: Option<RawHook>,
}

impl<'a> Call<'a> {
    /// Sets the hook: code that is given the reply once the body of the reply is dropped. With `None`, there is no
    /// hook.
    pub fn with_hook(mut self, hook: Option<&RawHook>) -> Self {
        self.hook = hook.cloned();
        self
    }

    /// Sets a header of this request alone, whose value no error message shows.
    pub fn header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.own.push(value.clone());
        self.request.headers_mut().insert(name, value);
        self
    }

    /// Leaves one of the server's headers out of this request.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.request.headers_mut().remove(name);
        self
    }

    /// Returns the secrets of the request, for code that removes them from messages.
    pub fn hidden(&self) -> Hidden<'a> {
        Hidden {
            server: self.server,
            own: self.own.clone(),
        }
    }

    /// Sends the request, and waits for the head of the response. Redirects are not followed.
    ///
    /// # Errors
    /// When no connection can be opened or TLS cannot be set up, when the connection breaks, when a time limit passes,
    /// or outside of a tokio runtime. A status such as 404 is no error here.
    pub async fn send(self, limits: &Limits) -> Result<Response<Body>, TransportError> {
        let pool = Pool::of(&self.server.route)?;
        let clock = Clock::start(limits);
        let secrets = || -> Vec<String> { self.hidden().secrets().map(str::to_owned).collect() };
        let hook = self.hook.clone().map(|hook| (hook, secrets()));
        let (response, connection) = clock.within(exchange(&pool, self.request)).await??;
        tracing::debug!(
            server = self.server.name(),
            status = response.status().as_u16(),
            request_id = request_id(response.headers()),
            "a server has replied"
        );
        let tap = hook.map(|(hook, secrets)| Tap::new(hook, secrets, &response));
        Ok(response.map(|incoming| {
            Body::new(incoming, connection, pool, clock, limits.max_body).with_tap(tap)
        }))
    }
}

/// Returns the value of the header `Host` for this address, with the port unless it is the scheme's default.
fn host(address: &Uri) -> HeaderValue {
    let server = address.authority().map_or("", |server| server.as_str());
    HeaderValue::from_bytes(server.as_bytes()).expect("a host has no control characters")
}
