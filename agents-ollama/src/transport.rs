//! Bytes over HTTP: time limits, size limits, the connections that are kept. Knows nothing of models.

use crate::route::{Connector, Route};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use std::{
    error::Error,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::{Handle, Id},
    time::timeout,
};

/// No answer of a model is as long as this.
pub(crate) const MAX_BODY: usize = 64 << 20;

/// A connection that nobody has used for so long is closed.
const IDLE: Duration = Duration::from_secs(90);

/// More clients than this at once is somebody's mistake; the oldest one goes first.
const MAX_CLIENTS: usize = 16;

/// Why bytes did not come, or not all of them. A reason is the innermost one: the one that says
/// something.
#[derive(Debug)]
pub(crate) enum Broken {
    /// No connection.
    Connect(String),
    /// The connection was there, and broke.
    Cut(String),
    /// Nothing came for as long as the caller was ready to wait.
    Silent,
    /// More than [`MAX_BODY`] came.
    TooLong,
    /// This client cannot connect at all.
    Setup(String),
    /// There is no tokio runtime here.
    NoRuntime,
}

/// A request with all of its body.
pub(crate) type Post = Request<Full<Bytes>>;

struct Shared {
    runtime: Id,
    route: Route,
    client: Client<Connector, Full<Bytes>>,
}

static CLIENTS: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

/// The client of the runtime we are on. A connection is driven by the runtime that opened it:
/// handing it to another one would tie two runs together that know nothing of each other.
fn client(route: &Route) -> Result<Client<Connector, Full<Bytes>>, Broken> {
    let runtime = Handle::try_current().map_err(|_| Broken::NoRuntime)?.id();
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = clients
        .iter()
        .find(|held| held.runtime == runtime && held.route == *route)
    {
        return Ok(held.client.clone());
    }
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .build(route.connector().map_err(Broken::Setup)?);
    if clients.len() >= MAX_CLIENTS {
        clients.remove(0);
    }
    clients.push(Shared {
        runtime,
        route: route.clone(),
        client: client.clone(),
    });
    Ok(client)
}

/// Sends a request and waits for the head of the answer.
pub(crate) async fn send(
    request: Post,
    route: &Route,
    wait: Duration,
) -> Result<Response<Incoming>, Broken> {
    let answered = timeout(wait, client(route)?.request(request)).await;
    match answered.map_err(|_| Broken::Silent)? {
        Ok(response) => Ok(response),
        Err(error) if error.is_connect() => Err(Broken::Connect(root_cause(&error))),
        Err(error) => Err(Broken::Cut(root_cause(&error))),
    }
}

/// The body, piece by piece.
pub(crate) struct Body {
    incoming: Incoming,
    wait: Duration,
    taken: usize,
}

impl Body {
    pub(crate) fn new(response: Response<Incoming>, wait: Duration) -> Self {
        Body {
            incoming: response.into_body(),
            wait,
            taken: 0,
        }
    }

    /// How much is still to come, where the server has said so.
    fn left(&self) -> Option<u64> {
        self.incoming.size_hint().exact()
    }

    /// Whether all has come, where the server has said how much that is.
    pub(crate) fn is_whole(&self) -> bool {
        self.left() == Some(0)
    }

    /// The next piece; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        loop {
            let frame = timeout(self.wait, self.incoming.frame())
                .await
                .map_err(|_| Broken::Silent)?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| Broken::Cut(root_cause(&error)))?;
            // What is no data is the trailers: headers that come last.
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            self.taken += piece.len();
            return if self.taken > MAX_BODY {
                Err(Broken::TooLong)
            } else {
                Ok(Some(piece))
            };
        }
    }

    /// Waits less from now on.
    pub(crate) fn hurry(&mut self, wait: Duration) {
        self.wait = self.wait.min(wait);
    }

    /// Hands all of it to `read`, without a copy if it came in one piece. What `read` is given
    /// may be cut: the second argument says why.
    pub(crate) async fn whole<R>(mut self, read: impl FnOnce(&[u8], Option<Broken>) -> R) -> R {
        let expected = self.left();
        let first = match self.next().await {
            Ok(Some(first)) => first,
            Ok(None) => return read(b"", None),
            Err(broken) => return read(b"", Some(broken)),
        };
        if expected == Some(first.len() as u64) {
            return read(&first, None);
        }
        let mut all = first.to_vec();
        loop {
            match self.next().await {
                Ok(Some(piece)) => all.extend_from_slice(&piece),
                Ok(None) => return read(&all, None),
                Err(broken) => return read(&all, Some(broken)),
            }
        }
    }
}

/// The innermost of an error's reasons.
fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
