//! Routes to the server: direct, or through a proxy that the environment names.

#[cfg(not(feature = "proxy"))]
mod no_proxy;
#[cfg(feature = "proxy")]
mod proxy;

#[cfg(feature = "tls")]
use crate::wording;
use http::{
    HeaderValue, Uri,
    uri::{PathAndQuery, Scheme},
};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
#[cfg(not(feature = "proxy"))]
use no_proxy::Proxy;
#[cfg(feature = "proxy")]
use proxy::{Proxy, Way};
use std::{
    error::Error,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{net::TcpStream, time::timeout};
use tower_service::Service;

/// Time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Route by which a client reaches a server: the server's address, and the proxy in between if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// Scheme, host and port of the server; shared, so that clones of a route are quickly seen to be equal.
    server: Arc<Uri>,
    https: bool,
    proxy: Option<Proxy>,
}

impl Route {
    /// Returns the route to this address without a proxy.
    pub(crate) fn direct(to: &Uri) -> Route {
        let mut server = to.clone().into_parts();
        server.path_and_query = Some(PathAndQuery::from_static("/"));
        Route {
            https: to.scheme() == Some(&Scheme::HTTPS),
            server: Arc::new(Uri::from_parts(server).expect("an address with another path is one")),
            proxy: None,
        }
    }

    /// Returns the route to this address, through the proxy that the environment names for it, if there is one.
    pub(crate) fn from_env(to: &Uri) -> Result<Route, String> {
        Ok(Route {
            proxy: Proxy::from_env(to)?,
            ..Route::direct(to)
        })
    }

    pub(crate) fn server(&self) -> &Uri {
        &self.server
    }

    /// Returns the target that the first line of a request names. A proxy for plain HTTP needs the full address;
    /// otherwise the path suffices.
    pub(crate) fn target(&self, address: Uri) -> Uri {
        match address.path_and_query() {
            Some(path) if self.https || self.proxy.is_none() => path.clone().into(),
            _ => address,
        }
    }

    /// Returns the login that a proxy for plain HTTP needs with each request; `None` on any other route. A tunnel gets
    /// its login once, when it is opened.
    pub(crate) fn login(&self) -> Option<&HeaderValue> {
        let proxy = self.proxy.as_ref().filter(|_| !self.https)?;
        proxy.login()
    }

    /// Returns a connector that opens connections by this route.
    pub(crate) fn connector(&self) -> Result<Connector, String> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // If a host name has several addresses, they share the time.
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let dial = match self.proxy.clone() {
            None => Dial::Direct(tcp),
            Some(proxy) => proxy.dial(tcp, self.https),
        };
        with_tls(dial, self.https).map(Connector)
    }
}

#[cfg(feature = "tls")]
type MaybeTls = hyper_rustls::HttpsConnector<Dial>;
#[cfg(not(feature = "tls"))]
type MaybeTls = Dial;

#[cfg(not(feature = "tls"))]
fn with_tls(dial: Dial, _: bool) -> Result<MaybeTls, String> {
    Ok(dial)
}

/// Wraps TCP connections in TLS, with the certificates that the operating system trusts. The certificates are loaded
/// only for HTTPS, so that a machine without any can use plain HTTP. If the program has installed a default
/// `CryptoProvider`, that one is used.
#[cfg(feature = "tls")]
fn with_tls(dial: Dial, https: bool) -> Result<MaybeTls, String> {
    use hyper_rustls::{ConfigBuilderExt, HttpsConnectorBuilder};
    use rustls::{
        ClientConfig, RootCertStore,
        crypto::{CryptoProvider, aws_lc_rs},
    };
    let provider = CryptoProvider::get_default()
        .map_or_else(|| aws_lc_rs::default_provider().into(), Arc::clone);
    let tls_config = || {
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        if https {
            config.try_with_platform_verifier()
        } else {
            Ok(config.with_root_certificates(RootCertStore::empty()))
        }
    };
    let config = tls_config().map_err(|error| wording::no_tls(&error))?;
    let builder = HttpsConnectorBuilder::new().with_tls_config(config.with_no_client_auth());
    Ok(builder.https_or_http().enable_http1().wrap_connector(dial))
}

/// An open connection, with TLS if the address of the server says `https`.
pub(crate) type Stream = <MaybeTls as Service<Uri>>::Response;
type Tcp = TokioIo<TcpStream>;
type BoxError = Box<dyn Error + Send + Sync>;

/// Opens connections to a server, with TLS if its address says so.
#[derive(Clone)]
pub(crate) struct Connector(MaybeTls);

impl Connector {
    /// Opens a connection within [`CONNECT_TIMEOUT`], TLS included. A proxy may respond although the server behind it
    /// does not, or a server may not speak TLS.
    pub(crate) async fn open(&self, server: &Uri) -> Result<Stream, BoxError> {
        let mut connector = self.0.clone();
        timeout(CONNECT_TIMEOUT, connector.call(server.clone())).await?
    }
}

/// Opens the TCP connection below TLS and HTTP.
#[derive(Clone)]
pub(crate) enum Dial {
    Direct(HttpConnector),
    #[cfg(feature = "proxy")]
    Proxied(Way),
}

/// Opening of a TCP connection.
type Opening = Pin<Box<dyn Future<Output = Result<Tcp, BoxError>> + Send>>;

impl Service<Uri> for Dial {
    type Response = Tcp;
    type Error = BoxError;
    type Future = Opening;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self {
            Dial::Direct(tcp) => tcp.poll_ready(cx).map_err(Into::into),
            #[cfg(feature = "proxy")]
            Dial::Proxied(way) => way.poll_ready(cx),
        }
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        match self {
            Dial::Direct(tcp) => boxed(tcp.call(to)),
            #[cfg(feature = "proxy")]
            Dial::Proxied(way) => way.open(to),
        }
    }
}

fn boxed<E: Into<BoxError>>(tcp: impl Future<Output = Result<Tcp, E>> + Send + 'static) -> Opening {
    Box::pin(async { tcp.await.map_err(Into::into) })
}
