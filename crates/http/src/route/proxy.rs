//! Proxies that the environment names.

use super::{BoxError, Dial, Opening, boxed};
use crate::wording;
use http::{HeaderValue, Uri, uri::Scheme};
use hyper_util::client::{
    legacy::connect::{HttpConnector, proxy::Tunnel},
    proxy::matcher::Matcher,
};
use std::task::{Context, Poll};
use tower_service::Service;

/// Proxy between a client and a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    uri: Uri,
    login: Option<HeaderValue>,
}

impl Proxy {
    /// Returns the proxy for this address by `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, read as curl reads
    /// them; `None` if there is none.
    pub(super) fn from_env(to: &Uri) -> Result<Option<Proxy>, String> {
        let Some(proxy) = Matcher::from_env().intercept(to) else {
            return Ok(None);
        };
        let uri = proxy.uri();
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err(wording::proxy_of_another_kind(uri));
        }
        Ok(Some(Proxy {
            uri: uri.clone(),
            login: proxy.basic_auth().cloned(),
        }))
    }

    /// Returns the login that the proxy needs; `None` if it needs none.
    pub(super) fn login(&self) -> Option<&HeaderValue> {
        self.login.as_ref()
    }

    /// Returns what opens connections through the proxy, to a server that speaks HTTPS or plain HTTP.
    pub(super) fn dial(self, tcp: HttpConnector, https: bool) -> Dial {
        let Proxy { uri, login } = self;
        if !https {
            return Dial::Proxied(Way::Forward(tcp, uri));
        }
        let tunnel = Tunnel::new(uri, tcp);
        Dial::Proxied(Way::Tunnel(match login {
            Some(login) => tunnel.with_auth(login),
            None => tunnel,
        }))
    }
}

/// Way through a proxy.
#[derive(Clone)]
pub(crate) enum Way {
    /// Connects to a proxy that forwards each request; this is for plain HTTP.
    Forward(HttpConnector, Uri),
    /// Connects through a tunnel of a proxy, which cannot read the traffic; this is for HTTPS.
    Tunnel(Tunnel<HttpConnector>),
}

impl Way {
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self {
            Way::Forward(tcp, _) => tcp.poll_ready(cx).map_err(Into::into),
            Way::Tunnel(tunnel) => tunnel.poll_ready(cx).map_err(Into::into),
        }
    }

    pub(super) fn open(&mut self, to: Uri) -> Opening {
        match self {
            Way::Forward(tcp, proxy) => boxed(tcp.call(proxy.clone())),
            Way::Tunnel(tunnel) => boxed(tunnel.call(to)),
        }
    }
}
