//! How a connection to the server is made: straight, or by a proxy that the environment names.

use http::{
    HeaderValue, Uri,
    uri::{PathAndQuery, Scheme},
};
use hyper_util::{
    client::{
        legacy::connect::{HttpConnector, proxy::Tunnel},
        proxy::matcher::Matcher,
    },
    rt::TokioIo,
};
use std::{
    error::Error,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{net::TcpStream, time::timeout};
use tower_service::Service;

/// How long a machine that is there needs to say so.
const CONNECT: Duration = Duration::from_secs(10);

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The server: a scheme, a host and a port.
    to: Uri,
    https: bool,
    proxy: Option<Proxy>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Proxy {
    uri: Uri,
    login: Option<HeaderValue>,
}

impl Route {
    /// The way to this address without a proxy.
    pub(crate) fn direct(to: &Uri) -> Route {
        let mut server = to.clone().into_parts();
        server.path_and_query = Some(PathAndQuery::from_static("/"));
        Route {
            https: to.scheme() == Some(&Scheme::HTTPS),
            to: Uri::from_parts(server).expect("an address with another path is one"),
            proxy: None,
        }
    }

    /// The way to this address as `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` have it,
    /// read as curl reads them.
    pub(crate) fn from_env(to: &Uri) -> Result<Route, String> {
        let mut route = Route::direct(to);
        if let Some(proxy) = Matcher::from_env().intercept(to) {
            let uri = proxy.uri();
            if uri.scheme() != Some(&Scheme::HTTP) {
                return Err(format!(
                    "the proxy {uri} is none that this client speaks to: name one with `http://`, or except the \
                     server with NO_PROXY"
                ));
            }
            route.proxy = Some(Proxy {
                uri: uri.clone(),
                login: proxy.basic_auth().cloned(),
            });
        }
        Ok(route)
    }

    pub(crate) fn server(&self) -> &Uri {
        &self.to
    }

    /// An address as the first line of a request has it: with the server only for a proxy that has to be
    /// told where each request goes.
    pub(crate) fn target(&self, address: Uri) -> Uri {
        match address.path_and_query() {
            Some(path) if self.https || self.proxy.is_none() => path.clone().into(),
            _ => address,
        }
    }

    /// What the proxy wants to see with each request. One that connects has seen it by then.
    pub(crate) fn login(&self) -> Option<&HeaderValue> {
        let proxy = self.proxy.as_ref().filter(|_| !self.https)?;
        proxy.login.as_ref()
    }

    /// What opens connections on this way.
    pub(crate) fn connector(&self) -> Result<Connector, String> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // Of several addresses, each has its share of the time.
        tcp.set_connect_timeout(Some(CONNECT));
        let dial = match self.proxy.clone() {
            None => Dial::Direct(tcp),
            Some(proxy) if !self.https => Dial::Forward(tcp, proxy.uri),
            Some(Proxy { uri, login }) => {
                let tunnel = Tunnel::new(uri, tcp);
                Dial::Tunnel(match login {
                    Some(login) => tunnel.with_auth(login),
                    None => tunnel,
                })
            }
        };
        secured(dial, self.https).map(Connector)
    }
}

#[cfg(feature = "tls")]
type Secured = hyper_rustls::HttpsConnector<Dial>;
#[cfg(not(feature = "tls"))]
type Secured = Dial;

#[cfg(not(feature = "tls"))]
fn secured(dial: Dial, _: bool) -> Result<Secured, String> {
    Ok(dial)
}

/// With the certificates that the operating system trusts, if there is need of any: a machine without them
/// may still speak plain HTTP. What the program has chosen for its cryptography holds here too.
#[cfg(feature = "tls")]
fn secured(dial: Dial, https: bool) -> Result<Secured, String> {
    use hyper_rustls::{ConfigBuilderExt, HttpsConnectorBuilder};
    use rustls::{
        ClientConfig, RootCertStore,
        crypto::{CryptoProvider, aws_lc_rs},
    };
    let provider = CryptoProvider::get_default().map_or_else(
        || aws_lc_rs::default_provider().into(),
        std::sync::Arc::clone,
    );
    let trusting = || {
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        if https {
            config.try_with_platform_verifier()
        } else {
            Ok(config.with_root_certificates(RootCertStore::empty()))
        }
    };
    let config = trusting().map_err(|error| format!("HTTPS cannot be set up here: {error}"))?;
    let secured = HttpsConnectorBuilder::new().with_tls_config(config.with_no_client_auth());
    Ok(secured.https_or_http().enable_http1().wrap_connector(dial))
}

/// An open connection, with TLS where the server asks for it.
pub(crate) type Stream = <Secured as Service<Uri>>::Response;
type Tcp = TokioIo<TcpStream>;
type Failed = Box<dyn Error + Send + Sync>;

/// Opens connections.
#[derive(Clone)]
pub(crate) struct Connector(Secured);

impl Connector {
    /// Does not wait for ever: a proxy may be there and the server behind it not, or one that does not
    /// speak TLS.
    pub(crate) async fn open(&self, server: &Uri) -> Result<Stream, Failed> {
        let mut connector = self.0.clone();
        timeout(CONNECT, connector.call(server.clone())).await?
    }
}

/// Opens what is below HTTP, and below TLS where there is TLS.
#[derive(Clone)]
pub(crate) enum Dial {
    Direct(HttpConnector),
    /// To a proxy that is told where each request goes: for plain HTTP.
    Forward(HttpConnector, Uri),
    /// By a proxy that connects, and sees nothing of what is said: for HTTPS.
    Tunnel(Tunnel<HttpConnector>),
}

impl Service<Uri> for Dial {
    type Response = Tcp;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Tcp, Failed>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        match self {
            Dial::Direct(tcp) | Dial::Forward(tcp, _) => tcp.poll_ready(cx).map_err(Into::into),
            Dial::Tunnel(tunnel) => tunnel.poll_ready(cx).map_err(Into::into),
        }
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        match self {
            Dial::Direct(tcp) => opening(tcp.call(to)),
            Dial::Forward(tcp, proxy) => opening(tcp.call(proxy.clone())),
            Dial::Tunnel(tunnel) => opening(tunnel.call(to)),
        }
    }
}

fn opening<E: Into<Failed>>(
    tcp: impl Future<Output = Result<Tcp, E>> + Send + 'static,
) -> <Dial as Service<Uri>>::Future {
    Box::pin(async { tcp.await.map_err(Into::into) })
}
