//! How a connection to the server is made: straight, or by a proxy that the environment names.

use http::{HeaderValue, Uri, uri::Scheme};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::{
        legacy::connect::{Connected, Connection, HttpConnector, proxy::Tunnel},
        proxy::matcher::Matcher,
    },
    rt::TokioIo,
};
use std::{
    error::Error,
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::net::TcpStream;
use tower_service::Service;

/// How long a machine that is there needs to say so.
const CONNECT: Duration = Duration::from_secs(10);

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Direct,
    /// A proxy that is told where each request goes: for plain HTTP.
    Forward(Uri),
    /// A proxy that connects, and sees nothing of what is said: for HTTPS.
    Tunnel {
        proxy: Uri,
        login: Option<HeaderValue>,
    },
}

/// What opens connections for the client.
#[cfg(feature = "tls")]
pub(crate) type Connector = hyper_rustls::HttpsConnector<Dial>;
#[cfg(not(feature = "tls"))]
pub(crate) type Connector = Dial;

impl Route {
    /// The way to this address as `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` have it,
    /// read as curl reads them; and what the proxy of plain HTTP wants to see with each request.
    pub(crate) fn from_env(to: &Uri) -> Result<(Route, Option<HeaderValue>), String> {
        Route::by(&Matcher::from_env(), to)
    }

    fn by(proxies: &Matcher, to: &Uri) -> Result<(Route, Option<HeaderValue>), String> {
        let Some(proxy) = proxies.intercept(to) else {
            return Ok((Route::Direct, None));
        };
        let uri = proxy.uri();
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err(format!(
                "the proxy {uri} is none that this client speaks to: name one with `http://`, or except the server \
                 with NO_PROXY"
            ));
        }
        let login = proxy.basic_auth().cloned();
        if to.scheme() == Some(&Scheme::HTTPS) {
            let proxy = uri.clone();
            return Ok((Route::Tunnel { proxy, login }, None));
        }
        Ok((Route::Forward(uri.clone()), login))
    }

    /// What opens connections on this way.
    pub(crate) fn connector(&self) -> Result<Connector, String> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        let dial = match self.clone() {
            Route::Direct => Dial::Direct(tcp),
            Route::Forward(proxy) => Dial::Forward(tcp, proxy),
            Route::Tunnel { proxy, login: None } => Dial::Tunnel(Tunnel::new(proxy, tcp)),
            Route::Tunnel {
                proxy,
                login: Some(login),
            } => Dial::Tunnel(Tunnel::new(proxy, tcp).with_auth(login)),
        };
        secured(dial)
    }
}

#[cfg(not(feature = "tls"))]
fn secured(dial: Dial) -> Result<Connector, String> {
    Ok(dial)
}

/// With the certificates that the operating system trusts. What the program has chosen for its
/// cryptography holds here too.
#[cfg(feature = "tls")]
fn secured(dial: Dial) -> Result<Connector, String> {
    use rustls::crypto::{CryptoProvider, aws_lc_rs};
    let provider = CryptoProvider::get_default().map_or_else(
        || aws_lc_rs::default_provider().into(),
        std::sync::Arc::clone,
    );
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_provider_and_platform_verifier(provider)
        .map_err(|error| error.to_string())?;
    Ok(connector
        .https_or_http()
        .enable_http1()
        .wrap_connector(dial))
}

/// Opens what is below HTTP, and below TLS where there is TLS.
#[derive(Clone)]
pub(crate) enum Dial {
    Direct(HttpConnector),
    Forward(HttpConnector, Uri),
    Tunnel(Tunnel<HttpConnector>),
}

impl Service<Uri> for Dial {
    type Response = Link;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Link, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match self {
            Dial::Direct(tcp) | Dial::Forward(tcp, _) => tcp.poll_ready(cx).map_err(Into::into),
            Dial::Tunnel(tunnel) => tunnel.poll_ready(cx).map_err(Into::into),
        }
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let link = |forwards| move |stream| Link { stream, forwards };
        match self {
            Dial::Direct(tcp) => {
                let opening = tcp.call(to);
                Box::pin(async move { Ok(opening.await.map(link(false))?) })
            }
            Dial::Forward(tcp, proxy) => {
                let opening = tcp.call(proxy.clone());
                Box::pin(async move { Ok(opening.await.map(link(true))?) })
            }
            Dial::Tunnel(tunnel) => {
                let opening = tunnel.call(to);
                Box::pin(async move {
                    // The proxy may be there, and the server behind it not.
                    let opened = tokio::time::timeout(CONNECT, opening).await;
                    Ok(opened?.map(link(false))?)
                })
            }
        }
    }
}

/// An open connection that knows whether a proxy has to be told where each request goes.
pub(crate) struct Link {
    stream: TokioIo<TcpStream>,
    forwards: bool,
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.forwards)
    }
}

impl Read for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl Write for Link {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
    }
}
