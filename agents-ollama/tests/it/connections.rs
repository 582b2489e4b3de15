//! Connections: reuse and closing.

use crate::{HELLO, ask, history, listen, server::*, user};
use agents_core::model::{ModelErrorKind as Kind, Request};
use std::{
    io::{Read, Write},
    time::Duration,
};
use tokio::time::{advance, pause, resume, timeout};

/// Returns the number of the connection of each request.
fn connections(server: &Server) -> Vec<usize> {
    server.seen().iter().map(|seen| seen.connection).collect()
}

#[tokio::test]
async fn a_request_survives_a_closed_idle_connection() {
    let server = Server::plays([
        Answer::json(200, HELLO).and([Step::Cut]),
        Answer::json(200, HELLO),
    ])
    .await;
    let model = server.model();
    for _ in 0..3 {
        assert_eq!(ask(&model).await.unwrap().content, "hello");
        // The kernel needs a moment to report that the connection was closed.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(connections(&server), [0, 1, 1]);
}

#[tokio::test]
async fn a_connection_with_connection_close_is_not_reused() {
    let server = Server::plays([Answer::with_head(200, "connection: close\r\n", HELLO)]).await;
    let model = server.model();
    for _ in 0..2 {
        assert_eq!(ask(&model).await.unwrap().content, "hello");
    }
    assert_eq!(connections(&server), [0, 1]);
}

#[tokio::test]
async fn a_request_that_was_sent_is_not_sent_again() {
    let server = Server::plays([
        Answer::json(200, HELLO),
        Answer::nothing().and([Step::Cut]),
        Answer::json(200, HELLO),
    ])
    .await;
    let model = server.model();
    ask(&model).await.unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Interrupted, "{error}");
    assert_eq!(connections(&server), [0, 0], "each arrived once");
}

#[tokio::test]
async fn a_cancelled_request_does_not_disturb_the_next() {
    let half = Answer::begun().piece("{\"message\":{\"content\":\"x\"},\"done\":false}\n");
    let server = Server::plays([
        Answer::nothing().wait(2_000),
        half.wait(2_000),
        Answer::json(200, HELLO),
    ])
    .await;
    let (model, history) = (server.model(), history([user("hi")]));
    let moment = Duration::from_millis(100);
    timeout(moment, ask(&model)).await.unwrap_err();
    let streamed = listen(&model, Request::new(&history));
    assert!(timeout(moment, streamed).await.is_err());
    assert_eq!(ask(&model).await.unwrap().content, "hello");
    assert_eq!(connections(&server), [0, 1, 2]);
}

#[tokio::test]
async fn connections_of_concurrent_requests_are_reused() {
    let server = Server::plays([Answer::json(200, HELLO).wait(30)]).await;
    let model = server.model();
    for _ in 0..3 {
        let asked: Vec<_> = (0..8)
            .map(|_| {
                let model = model.clone();
                tokio::spawn(async move { ask(&model).await })
            })
            .collect();
        for answer in asked {
            assert_eq!(answer.await.unwrap().unwrap().content, "hello");
        }
    }
    let seen = connections(&server);
    assert_eq!(seen.len(), 24);
    assert!(seen.iter().all(|connection| *connection < 8), "{seen:?}");
}

#[tokio::test]
async fn idle_connections_are_closed() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let model = server.model();
    ask(&model).await.unwrap();
    ask(&model).await.unwrap();
    pause();
    for _ in 0..2 {
        advance(Duration::from_secs(91)).await;
    }
    resume();
    ask(&model).await.unwrap();
    assert_eq!(connections(&server), [0, 0, 1]);
}

#[test]
fn connections_end_with_their_runtime() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut sent = Vec::new();
        while !sent.ends_with(b"}") {
            let mut piece = [0; 4096];
            let length = stream.read(&mut piece).unwrap();
            sent.extend_from_slice(&piece[..length]);
        }
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{HELLO}",
            HELLO.len()
        );
        stream.write_all(answer.as_bytes()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        stream.read(&mut [0]).unwrap()
    });
    let model = agents_ollama::ollama("m").url(url);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(ask(&model)).unwrap();
    assert!(!server.is_finished(), "it is kept until then");
    drop(runtime);
    assert_eq!(server.join().unwrap(), 0);
}
