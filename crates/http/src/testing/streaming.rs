//! The promises of streamed replies, which every client keeps.

#![allow(clippy::unwrap_used)]

use super::{Answer, Server, ask, listen, user};
use agents_core::model::{History, Model, Request};

/// Checks that a client reads the same reply from a stream and from a document, whichever it has asked for, and tells its
/// pieces as they come.
///
/// `client` makes a client of the server at this address. `document` and `stream` are the same reply in both forms, whose
/// text comes in these `pieces`.
///
/// # Panics
/// When the client breaks a promise.
pub async fn check_streaming<M: Model>(
    document: &str,
    stream: &str,
    pieces: &[&str],
    client: impl Fn(&str) -> M,
) {
    let whole = Server::plays([Answer::json(200, document)]).await;
    let streamed = Server::plays([Answer::pieces([stream])]).await;
    let history = History::from(vec![user("hi")]);
    let reply = ask(&client(&whole.url)).await.unwrap();
    assert_eq!(reply.content, pieces.concat());
    let (again, heard) = listen(&client(&streamed.url), Request::new(&history)).await;
    assert_eq!(again.unwrap(), reply);
    assert_eq!(heard, pieces);
    // A server may answer in the other way than it was asked to.
    let (again, heard) = listen(&client(&whole.url), Request::new(&history)).await;
    assert_eq!(
        (again.unwrap(), heard.concat()),
        (reply.clone(), pieces.concat())
    );
    assert_eq!(ask(&client(&streamed.url)).await.unwrap(), reply);
}
