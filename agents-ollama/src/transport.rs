//! HTTP transport: time limits, size limits and the choice of a connection. Knows nothing about models.

use crate::{
    connection::{Connection, HttpRequest, Unanswered},
    pool::Pool,
    route::Route,
    transport_error::TransportError,
};
use http::Response;
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::timeout;

/// Maximum size of a response's body in bytes.
pub(crate) const MAX_BODY: usize = 64 << 20;

/// Sends a request and waits for the head of the response.
pub(crate) async fn send(
    request: HttpRequest,
    route: &Route,
    wait: Duration,
) -> Result<Response<Body>, TransportError> {
    let pool = Pool::of(route)?;
    let (response, connection) = timeout(wait, exchange(&pool, request))
        .await
        .map_err(|_| TransportError::TimedOut)??;
    Ok(response.map(|incoming| Body {
        incoming,
        source: Some((connection, pool)),
        wait,
        taken: 0,
    }))
}

/// Sends a request on an idle connection, or on a new one. The server may have closed an idle connection; a request
/// that was not sent is then sent on the next one.
async fn exchange(
    pool: &Pool,
    mut request: HttpRequest,
) -> Result<(Response<Incoming>, Connection), TransportError> {
    while let Some(mut kept) = pool.take() {
        match kept.send(request).await {
            Ok(response) => return Ok((response, kept)),
            Err(Unanswered {
                request: Some(unsent),
                ..
            }) => request = *unsent,
            Err(Unanswered { why, .. }) => return Err(TransportError::interrupted(&why)),
        }
    }
    let mut opened = pool.open().await?;
    match opened.send(request).await {
        Ok(response) => Ok((response, opened)),
        Err(Unanswered { why, .. }) => Err(TransportError::interrupted(&why)),
    }
}

/// The body of a response, read piece by piece.
pub(crate) struct Body {
    incoming: Incoming,
    /// The connection that delivers the body, and the pool that gets it back at the end.
    source: Option<(Connection, Arc<Pool>)>,
    wait: Duration,
    taken: usize,
}

impl Body {
    /// Returns the number of missing bytes, if the server declared the length.
    fn remaining(&self) -> Option<u64> {
        self.incoming.size_hint().exact()
    }

    /// Returns `true` if the server declared the length and all bytes have arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.remaining() == Some(0)
    }

    /// Waits for the next piece; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        loop {
            let frame = timeout(self.wait, poll_fn(|cx| self.poll_frame(cx)))
                .await
                .map_err(|_| TransportError::TimedOut)?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| TransportError::interrupted(&error))?;
            // A frame without data holds trailers: headers after the body.
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            self.taken += piece.len();
            return if self.taken > MAX_BODY {
                Err(TransportError::TooLong)
            } else {
                Ok(Some(piece))
            };
        }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let Some((connection, _)) = &mut self.source else {
            return Poll::Ready(None);
        };
        let frame = connection.poll_frame(&mut self.incoming, cx);
        let ended = matches!(frame, Poll::Ready(None)) || self.incoming.is_end_stream();
        if ended && let Some((mut connection, pool)) = self.source.take() {
            // The connection has to process the end of the body before it is reused.
            connection.drive(cx);
            pool.put(connection);
        }
        frame
    }

    /// Shortens the time limit for the remaining pieces.
    pub(crate) fn shorten_timeout(&mut self, wait: Duration) {
        self.wait = self.wait.min(wait);
    }

    /// Reads the body to its end and passes it to `read`, without a copy if it came in one piece. The body may be
    /// incomplete; the second argument is then the reason.
    pub(crate) async fn read_all<R>(
        mut self,
        read: impl FnOnce(&[u8], Option<TransportError>) -> R,
    ) -> R {
        let expected = self.remaining();
        let first = match self.next().await {
            Ok(Some(first)) => first,
            Ok(None) => return read(b"", None),
            Err(failure) => return read(b"", Some(failure)),
        };
        if expected == Some(first.len() as u64) {
            return read(&first, None);
        }
        let mut all = first.to_vec();
        loop {
            match self.next().await {
                Ok(Some(piece)) => all.extend_from_slice(&piece),
                Ok(None) => return read(&all, None),
                Err(failure) => return read(&all, Some(failure)),
            }
        }
    }
}
