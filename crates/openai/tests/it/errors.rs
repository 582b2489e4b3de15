//! Every failure is an error that says what to do.

use crate::{HELLO, ask, client, listen, replies, user};
use agents_core::model::{History, Model, ModelError, ModelErrorKind as Kind, Request};
use agents_http::testing::{Answer, Server};
use agents_openai::openai;
use std::time::Duration;

async fn refused(status: u16, head: &str, body: &str) -> (ModelError, String) {
    let server = replies(Answer::with_head(status, head, body)).await;
    let error = ask(&client(&server).api_key("hunter2")).await.unwrap_err();
    let text = error.to_string().replace(&server.url, "http://S");
    (error, text)
}

#[tokio::test]
async fn what_servers_refuse() {
    for (status, body, kind, text) in [
        (
            401,
            r#"{"error":{"message":"Incorrect API key: hunter2"}}"#,
            Kind::Refused,
            "http://S/v1 refused the request (401: `Incorrect API key: ***`): set `.api_key(..)`",
        ),
        (
            404,
            r#"{"error":{"message":"The model `m` does not exist"}}"#,
            Kind::NotFound,
            "http://S/v1 has no model `m`",
        ),
        (
            404,
            "404 page not found",
            Kind::Refused,
            "`.base_url(..)` takes the address without /chat/completions",
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached"}}"#,
            Kind::Overloaded,
            "`.retry(3)`",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota"}}"#,
            Kind::Refused,
            "see to the account",
        ),
        (503, "{}", Kind::Overloaded, "has too much to do"),
        (
            400,
            r#"{"detail":"max_tokens is too large"}"#,
            Kind::Refused,
            "refused the request (400): max_tokens is too large",
        ),
        (500, "<html>", Kind::Overloaded, "failed (500): <html>"),
        (501, "<html>", Kind::Refused, "failed (501): <html>"),
        (
            502,
            "bad gateway",
            Kind::Unreachable,
            "does not reach the model (502): bad gateway",
        ),
    ] {
        let (error, shown) = refused(status, "", body).await;
        assert_eq!(
            (error.kind(), error.status()),
            (kind, Some(status)),
            "{shown}"
        );
        assert!(shown.contains(text), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (_, shown) = refused(308, "location: https://elsewhere.example.com/\r\n", "").await;
    assert!(
        shown.contains(
            "redirects (308) to https://elsewhere.example.com/: redirects are not followed"
        ),
        "{shown}"
    );
}

#[tokio::test]
async fn a_server_says_how_long_to_wait() {
    for (head, wait) in [
        ("retry-after: 7\r\n", Some(Duration::from_secs(7))),
        (
            "retry-after-ms: 250\r\nretry-after: 7\r\n",
            Some(Duration::from_millis(250)),
        ),
        (
            "retry-after: Wed, 01 Jan 2020 00:00:00 GMT\r\n",
            Some(Duration::ZERO),
        ),
        ("retry-after: soon\r\n", None),
        ("", None),
    ] {
        let (error, _) = refused(429, head, "{}").await;
        assert_eq!(error.retry_after(), wait, "{head}");
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    let history = History::from(vec![user("hi")]);
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n";
    for answer in [Answer::begun().piece(begun).cut(), Answer::pieces([begun])] {
        let server = replies(answer).await;
        let (reply, heard) = listen(&client(&server), Request::new(&history)).await;
        let error = reply.unwrap_err();
        assert_eq!(
            (error.kind(), heard),
            (Kind::Interrupted, vec!["hel".to_owned()])
        );
        assert!(
            error.to_string().contains("broke off after 3 characters"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn time_limits() {
    let history = History::from(vec![user("hi")]);
    let comment = ": processing\n\n";
    let slow = || {
        Answer::begun()
            .piece(comment)
            .wait(60)
            .piece(comment)
            .wait(60)
            .piece(comment)
            .wait(5_000)
    };
    let (short, long) = (Duration::from_millis(90), Duration::from_secs(60));
    for (set, text) in [
        ("idle", "no byte from"),
        ("first", "did not begin to reply within 90ms"),
        ("total", "was not done within 90ms"),
    ] {
        let server = Server::plays([slow()]).await;
        let model = client(&server);
        let model = match set {
            "idle" => model.timeout(short),
            "first" => model.timeout(long).first_token_timeout(short),
            _ => model.timeout(long).total_timeout(short),
        };
        let error = listen(&model, Request::new(&history)).await.0.unwrap_err();
        assert_eq!(error.kind(), Kind::TimedOut, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    // The first piece lifts the limit for the beginning.
    let first = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n";
    let rest = "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let server = replies(Answer::begun().piece(first).wait(150).piece(rest).cut()).await;
    let model = client(&server).first_token_timeout(Duration::from_millis(100));
    let reply = listen(&model, Request::new(&history)).await.0;
    assert_eq!(reply.unwrap().content, "hello");
}

#[tokio::test]
async fn setups_that_cannot_work() {
    for (url, text) in [
        (
            "api.example.com/v1",
            "it begins with neither `http://` nor `https://`",
        ),
        (
            "ftp://example.com",
            "its scheme is neither `http` nor `https`",
        ),
    ] {
        let error = ask(&openai("m").base_url(url)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Setup);
        assert!(error.to_string().contains(text), "{error}");
    }
    let server = replies(Answer::json(200, HELLO)).await;
    let error = ask(&client(&server).header("bad name", "x"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the header `bad name` cannot be sent"),
        "{error}"
    );
    let error = ask(&openai("m").base_url("http://127.0.0.1:1/v1"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable);
    assert!(
        error
            .to_string()
            .contains("say where it is with `.base_url(..)`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_retry_waits_and_asks_again() {
    let busy = Answer::with_head(429, "retry-after-ms: 1\r\n", "{}");
    let server = Server::plays([busy, Answer::json(200, HELLO)]).await;
    let model = client(&server).retry(2);
    assert_eq!(ask(&model).await.unwrap().content, "hello");
    assert_eq!(server.seen().len(), 2);
}
