//! Replies as they arrive, for programs that look at them.

use http::{HeaderMap, Response};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// Headers in which providers send the id of a request.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "request-id", "x-goog-request-id"];

/// Reply of a server as it has arrived, with `***` in the place of keys and tokens: what the `on_raw_reply` of a client is
/// given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawReply {
    /// HTTP status of the reply.
    pub status: u16,
    /// Id by which the provider knows the request, if it has sent one.
    pub request_id: Option<String>,
    /// Body of the reply: a JSON document, or the events of a stream. Only what arrived before the connection broke
    /// off, a limit was exceeded or nobody read on, if that happened.
    pub body: String,
}

/// Code that is given each reply of a server.
///
/// ```
/// use agents_http::{Address, Headers, Limits, RawHook, Server, testing};
/// use std::sync::{Arc, Mutex};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let log = Arc::new(Mutex::new(Vec::new()));
/// let kept = log.clone();
/// let hook = RawHook::new(move |reply| kept.lock().unwrap().push((reply.status, reply.request_id.clone())));
///
/// let answer = testing::Answer::with_head(200, "x-request-id: req-7\r\n", "{}");
/// let scripted = testing::Server::plays([answer]).await;
/// let server = Server::new(Address::parse(&scripted.url, None)?, &Headers::default())?;
/// let endpoint = server.endpoint("v1/models")?;
/// let response = server.get(&endpoint).with_hook(Some(&hook)).send(&Limits::default()).await?;
/// drop(response); // the reply is told once nobody reads it any more
/// assert_eq!(*log.lock().unwrap(), [(200, Some("req-7".to_owned()))]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RawHook(Arc<dyn Fn(&RawReply) + Send + Sync>);

impl RawHook {
    /// Wraps code that is given each reply. If it panics, the reply is read all the same.
    pub fn new(hook: impl Fn(&RawReply) + Send + Sync + 'static) -> Self {
        RawHook(Arc::new(hook))
    }
}

impl fmt::Debug for RawHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawHook")
    }
}

/// Returns the id by which the provider knows the request, from the headers of the response; `None` if they have no id.
///
/// ```
/// use agents_http::{http::HeaderMap, request_id};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("request-id", "req-7".parse()?);
/// assert_eq!(request_id(&headers), Some("req-7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn request_id(headers: &HeaderMap) -> Option<&str> {
    let mut ids = REQUEST_IDS.iter().filter_map(|name| headers.get(*name));
    ids.find_map(|id| id.to_str().ok())
        .filter(|id| !id.is_empty())
}

/// Reply that is collected while it is read. The hook is given the reply when the body of the reply is dropped.
pub(crate) struct Tap {
    hook: RawHook,
    secrets: Vec<String>,
    status: u16,
    request_id: Option<String>,
    body: Vec<u8>,
}

impl Tap {
    pub(crate) fn new<B>(hook: RawHook, secrets: Vec<String>, response: &Response<B>) -> Self {
        Tap {
            hook,
            secrets,
            status: response.status().as_u16(),
            request_id: request_id(response.headers()).map(str::to_owned),
            body: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.body.extend_from_slice(piece);
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        let body = String::from_utf8_lossy(&self.body).into_owned();
        let hide = |text: String, secret: &String| text.replace(secret, "***");
        let reply = RawReply {
            status: self.status,
            request_id: self.request_id.take(),
            body: self.secrets.iter().fold(body, hide),
        };
        if catch_unwind(AssertUnwindSafe(|| (self.hook.0)(&reply))).is_err() {
            tracing::warn!("`on_raw_reply` has panicked");
        }
    }
}
