//! The server on a loopback address, with a scripted model.
#![allow(clippy::unwrap_used)]

use super::router;
use agents::testing::{Script, ScriptedModel};
use std::sync::Arc;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Asks a server with this model for a page, and returns the body of the response.
async fn get(path: &str, script: Script) -> String {
    let (model, _) = ScriptedModel::new([script]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async { axum::serve(listener, router(Arc::new(model))).await });
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.0\r\nhost: {address}\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    client.read_to_string(&mut response).await.unwrap();
    server.abort();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("text/event-stream"), "{head}");
    body.to_owned()
}

#[tokio::test]
async fn an_answer_comes_in_pieces() {
    let body = get(
        "/answer?question=salty",
        Script::text("Rain\r\nwashes salt"),
    )
    .await;
    assert!(body.starts_with("event: piece\ndata: \"Rain"), "{body}");
    assert!(body.contains("\\r\\n"), "{body}");
    assert!(
        body.ends_with("event: done\ndata: {\"error\":null}\n\n"),
        "{body}"
    );
}

#[tokio::test]
async fn a_recipe_grows() {
    let tea = r#"{"title":"Tea","minutes":5,"steps":["boil"]}"#;
    let body = get("/recipe?dish=tea", Script::text(tea)).await;
    let recipe = format!("event: recipe\ndata: {tea}\n\n");
    assert!(body.starts_with(&recipe), "{body}");
    assert!(
        body.ends_with("event: done\ndata: {\"error\":null}\n\n"),
        "{body}"
    );
}

#[tokio::test]
async fn a_failure_is_told_at_the_end() {
    let body = get("/answer?question=salty", Script::fail("no such model")).await;
    assert!(
        body.starts_with("event: done\ndata: {\"error\":\""),
        "{body}"
    );
    assert!(body.contains("no such model"), "{body}");
}
