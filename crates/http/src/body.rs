//! The body of a response, and how a request finds a connection.

use crate::{
    TransportError,
    connection::{Connection, HttpRequest, Unanswered},
    limits::Clock,
    pool::Pool,
    raw::Tap,
};
use http::Response;
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// Sends a request on an idle connection, or on a new one. The server may have closed an idle connection; a request
/// that was not sent is then sent on the next one.
pub(crate) async fn exchange(
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

/// Body of a response, read chunk by chunk as it arrives. [`Call::send`](crate::Call::send) returns it.
///
/// ```
/// use agents_http::{Address, Headers, Limits, Server, testing};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let scripted = testing::Server::plays([testing::Answer::pieces(["data: 1\n\n", "data: 2\n\n"])]).await;
/// let server = Server::new(Address::parse(&scripted.url, None)?, &Headers::default())?;
/// let endpoint = server.endpoint("v1/events")?;
/// let mut body = server.get(&endpoint).send(&Limits::default()).await?.into_body();
/// let mut text = String::new();
/// while let Some(piece) = body.next().await? {
///     text.push_str(&String::from_utf8_lossy(&piece));
/// }
/// assert_eq!(text, "data: 1\n\ndata: 2\n\n");
/// # Ok(())
/// # }
/// ```
pub struct Body {
    incoming: Incoming,
    /// Connection that delivers the body, and the pool that gets the connection back at the end of the body; `None`
    /// after that.
    source: Option<(Connection, Arc<Pool>)>,
    clock: Clock,
    taken: usize,
    max_size: usize,
    tap: Option<Tap>,
}

impl Body {
    pub(crate) fn new(
        incoming: Incoming,
        connection: Connection,
        pool: Arc<Pool>,
        clock: Clock,
        max_size: usize,
    ) -> Body {
        Body {
            incoming,
            source: Some((connection, pool)),
            clock,
            taken: 0,
            max_size,
            tap: None,
        }
    }

    /// Collects the body for a hook as well.
    pub(crate) fn with_tap(mut self, tap: Option<Tap>) -> Self {
        self.tap = tap;
        self
    }

    /// Returns the number of missing bytes, if the server declared the length.
    fn remaining(&self) -> Option<u64> {
        self.incoming.size_hint().exact()
    }

    /// Returns `true` if the server declared the length and all bytes have arrived.
    pub fn is_complete(&self) -> bool {
        self.remaining() == Some(0)
    }

    /// Waits for the next chunk of the body; `None` after the last.
    ///
    /// # Errors
    /// When the connection breaks, a time limit passes, or the body is longer than
    /// [`Limits::max_body`](crate::Limits::max_body).
    pub async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        loop {
            let Body {
                incoming,
                source,
                clock,
                ..
            } = &mut *self;
            let frame = clock
                .within(poll_fn(|cx| poll_frame(incoming, source, cx)))
                .await?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| TransportError::interrupted(&error))?;
            // A frame without data holds trailers: headers after the body.
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            self.taken += piece.len();
            if let Some(tap) = &mut self.tap {
                tap.push(&piece);
            }
            return if self.taken > self.max_size {
                Err(TransportError::TooLong(self.max_size))
            } else {
                Ok(Some(piece))
            };
        }
    }

    /// Lifts the time limit for the beginning of the reply ([`Limits::first`](crate::Limits::first)): the caller has
    /// seen the reply begin.
    pub fn begun(&mut self) {
        self.clock.begun();
    }

    /// Bounds the time for the rest of the body, whatever arrives in it. A bound that lies later than an earlier one
    /// changes nothing.
    pub fn end_within(&mut self, wait: Duration) {
        self.clock.end_within(wait);
    }

    /// Reads the body to its end, and passes all of it to `read`, without a copy if the server declared the length and
    /// all came in one chunk. If the body breaks off, or a limit is exceeded, `read` gets what has arrived, and the
    /// reason as its second argument.
    pub async fn read_all<R>(mut self, read: impl FnOnce(&[u8], Option<TransportError>) -> R) -> R {
        let (all, failure) = self.all().await;
        read(&all, failure)
    }

    async fn all(&mut self) -> (Bytes, Option<TransportError>) {
        let expected = self.remaining();
        let first = match self.next().await {
            Ok(Some(first)) => first,
            Ok(None) => return (Bytes::new(), None),
            Err(failure) => return (Bytes::new(), Some(failure)),
        };
        if expected == Some(first.len() as u64) {
            return (first, None);
        }
        let mut all = first.to_vec();
        let failure = loop {
            match self.next().await {
                Ok(Some(piece)) => all.extend_from_slice(&piece),
                Ok(None) => break None,
                Err(failure) => break Some(failure),
            }
        };
        (all.into(), failure)
    }
}

/// Polls for the next chunk of the body. After the last one, the connection goes back to the pool for the next request.
fn poll_frame(
    incoming: &mut Incoming,
    source: &mut Option<(Connection, Arc<Pool>)>,
    cx: &mut Context<'_>,
) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
    let Some((connection, _)) = source else {
        return Poll::Ready(None);
    };
    let frame = connection.poll_frame(incoming, cx);
    let ended = matches!(frame, Poll::Ready(None)) || incoming.is_end_stream();
    if ended && let Some((mut connection, pool)) = source.take() {
        // The connection has to process the end of the body before it is reused.
        connection.drive(cx);
        pool.put(connection);
    }
    frame
}
