//! A single HTTP connection, driven by the task that waits for the response.
//!
//! A connection in a task of its own is usually polled by another thread than the run. Each answer then wakes that
//! thread, which wakes the run, several times a turn. Here the requesting task also reads and writes the bytes, so
//! that an answer wakes only that task.

use crate::route::Stream;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{
    body::{Body, Bytes, Frame, Incoming},
    client::conn::http1,
};
use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
};

/// A request with its complete body.
pub(crate) type HttpRequest = Request<Full<Bytes>>;

pub(crate) struct Connection {
    requests: http1::SendRequest<Full<Bytes>>,
    /// Future of `hyper` that reads and writes the bytes of the connection; `None` once the connection has ended.
    driver: Option<Box<http1::Connection<Stream, Full<Bytes>>>>,
}

/// Reason why a request has no response, and the request itself if none of it was sent, so that it can be sent again.
pub(crate) struct Unanswered {
    pub(crate) request: Option<Box<HttpRequest>>,
    pub(crate) why: hyper::Error,
}

impl Connection {
    /// Starts HTTP on a newly opened stream, and returns the connection.
    pub(crate) async fn handshake(stream: Stream) -> hyper::Result<Connection> {
        let (requests, driver) = http1::handshake(stream).await?;
        Ok(Connection {
            requests,
            driver: Some(Box::new(driver)),
        })
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(
        &mut self,
        request: HttpRequest,
    ) -> Result<Response<Incoming>, Unanswered> {
        let mut answer = pin!(self.requests.try_send_request(request));
        let answered = poll_fn(|cx| {
            // The driver comes first, so that the response sees all bytes that have arrived.
            self.drive(cx);
            answer.as_mut().poll(cx)
        });
        answered.await.map_err(|mut error| Unanswered {
            request: error.take_message().map(Box::new),
            why: error.into_error(),
        })
    }

    /// Polls for the next chunk of the response's body.
    pub(crate) fn poll_frame(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        // The body is polled first: the driver reads only bytes that were requested.
        let mut frame = Pin::new(&mut *body).poll_frame(cx);
        if frame.is_pending() {
            self.drive(cx);
            frame = Pin::new(&mut *body).poll_frame(cx);
        }
        frame
    }

    /// Reads and writes as many bytes of the connection as possible without waiting.
    pub(crate) fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && Pin::new(driver).poll(cx).is_ready()
        {
            // A task that waits for the response gets the error from there.
            self.driver = None;
        }
    }

    /// Returns `true` if the connection can take another request, as far as is known.
    pub(crate) fn is_reusable(&self) -> bool {
        self.driver.is_some() && self.requests.is_ready()
    }
}
