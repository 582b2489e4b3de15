//! Stand-in for the proxies in a build without the feature `proxy`: every route is direct.

use super::Dial;
use http::{HeaderValue, Uri};
use hyper_util::client::legacy::connect::HttpConnector;

/// Type without values: without the feature, there is never a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proxy {}

impl Proxy {
    pub(super) fn from_env(_: &Uri) -> Result<Option<Proxy>, String> {
        Ok(None)
    }

    pub(super) fn login(&self) -> Option<&HeaderValue> {
        match *self {}
    }

    pub(super) fn dial(self, _: HttpConnector, _: bool) -> Dial {
        match self {}
    }
}
