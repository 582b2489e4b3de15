//! Bytes over HTTP: time limits, size limits, which connection a request takes. Knows nothing of models.

use crate::{
    connection::{Connection, Unanswered},
    pool::Pool,
    route::Route,
};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use std::{
    error::Error,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::timeout;

/// No answer of a model is as long as this.
pub(crate) const MAX_BODY: usize = 64 << 20;

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

impl Broken {
    pub(crate) fn connect(error: &dyn Error) -> Broken {
        Broken::Connect(root_cause(error))
    }

    pub(crate) fn cut(error: &dyn Error) -> Broken {
        Broken::Cut(root_cause(error))
    }
}

/// A request with all of its body.
pub(crate) type Post = Request<Full<Bytes>>;

/// Sends a request and waits for the head of the answer.
pub(crate) async fn send(
    request: Post,
    route: &Route,
    wait: Duration,
) -> Result<Response<Body>, Broken> {
    let pool = Pool::of(route)?;
    let (response, connection) = timeout(wait, exchange(&pool, request))
        .await
        .map_err(|_| Broken::Silent)??;
    Ok(response.map(|incoming| Body {
        incoming,
        held: Some((connection, pool)),
        wait,
        taken: 0,
    }))
}

/// On a connection that is kept if there is one. The server may have closed it: what was not sent
/// there is sent on the next one.
async fn exchange(
    pool: &Pool,
    mut request: Post,
) -> Result<(Response<Incoming>, Connection), Broken> {
    while let Some(mut kept) = pool.take() {
        match kept.ask(request).await {
            Ok(response) => return Ok((response, kept)),
            Err(Unanswered {
                request: Some(unsent),
                ..
            }) => request = *unsent,
            Err(Unanswered { why, .. }) => return Err(Broken::cut(&why)),
        }
    }
    let mut opened = pool.open().await?;
    match opened.ask(request).await {
        Ok(response) => Ok((response, opened)),
        Err(Unanswered { why, .. }) => Err(Broken::cut(&why)),
    }
}

/// The body, piece by piece.
pub(crate) struct Body {
    incoming: Incoming,
    /// What brings it, and where that goes afterwards.
    held: Option<(Connection, Arc<Pool>)>,
    wait: Duration,
    taken: usize,
}

impl Body {
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
            let frame = timeout(self.wait, poll_fn(|cx| self.poll_frame(cx)))
                .await
                .map_err(|_| Broken::Silent)?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| Broken::cut(&error))?;
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

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let Some((connection, _)) = &mut self.held else {
            return Poll::Ready(None);
        };
        let frame = connection.poll_frame(&mut self.incoming, cx);
        let ended = matches!(frame, Poll::Ready(None)) || self.incoming.is_end_stream();
        if ended && let Some((mut connection, pool)) = self.held.take() {
            // It learns of the end as well, and of what comes after.
            connection.drive(cx);
            pool.put(connection);
        }
        frame
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
