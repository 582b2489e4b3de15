//! One connection, moved by whoever waits for it.
//!
//! A connection that is a task of its own is polled by another thread than the run, as a rule: each
//! answer wakes that thread, and that one the run, several times a turn. Here the task that asks
//! moves the bytes as well, and only the answer's arrival wakes anybody.

use crate::{route::Stream, transport::Post};
use http::Response;
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

pub(crate) struct Connection {
    requests: http1::SendRequest<Full<Bytes>>,
    /// Moves the bytes; gone when the connection has ended.
    driver: Option<Box<http1::Connection<Stream, Full<Bytes>>>>,
}

/// Why there is no answer, and the request if none of it was sent.
pub(crate) struct Unanswered {
    pub(crate) request: Option<Box<Post>>,
    pub(crate) why: hyper::Error,
}

impl Connection {
    /// HTTP on a stream that has just been opened.
    pub(crate) async fn on(stream: Stream) -> hyper::Result<Connection> {
        let (requests, driver) = http1::handshake(stream).await?;
        Ok(Connection {
            requests,
            driver: Some(Box::new(driver)),
        })
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn ask(&mut self, request: Post) -> Result<Response<Incoming>, Unanswered> {
        let mut answer = pin!(self.requests.try_send_request(request));
        let answered = poll_fn(|cx| {
            // Whatever moving the bytes brings is there at once.
            self.drive(cx);
            answer.as_mut().poll(cx)
        });
        answered.await.map_err(|mut error| Unanswered {
            request: error.take_message().map(Box::new),
            why: error.into_error(),
        })
    }

    /// The next piece of the answer's body.
    pub(crate) fn poll_frame(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        // Asking comes first: nothing is read that nobody has asked for.
        let mut frame = Pin::new(&mut *body).poll_frame(cx);
        if frame.is_pending() {
            self.drive(cx);
            frame = Pin::new(&mut *body).poll_frame(cx);
        }
        frame
    }

    /// Moves what can be moved now.
    pub(crate) fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && Pin::new(driver).poll(cx).is_ready()
        {
            // Who waits for an answer is told by its end.
            self.driver = None;
        }
    }

    /// Whether another request can be sent on it, as far as is known.
    pub(crate) fn is_free(&self) -> bool {
        self.driver.is_some() && self.requests.is_ready()
    }
}
