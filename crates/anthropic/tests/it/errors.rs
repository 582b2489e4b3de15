//! Every failure is an error that says what to do.

use crate::{HELLO, HELLO_STREAM, ask, client, listen, replies, user};
use agents_anthropic::anthropic;
use agents_core::model::{History, Model, ModelError, ModelErrorKind as Kind, Request};
use agents_http::{
    KeyHeader,
    testing::{Answer, EARLIER_KEY, Server, Step, check_credentials},
};
use std::time::Duration;

async fn refused(status: u16, head: &str, body: &str) -> (ModelError, String) {
    let server = replies(Answer::with_head(status, head, body)).await;
    let error = ask(&client(&server).api_key("hunter2")).await.unwrap_err();
    let text = error.to_string().replace(&server.url, "http://S");
    (error, text)
}

fn reported(kind: &str, message: &str) -> String {
    format!(
        r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
    )
}

#[tokio::test]
async fn what_the_server_refuses() {
    for (status, body, kind, text) in [
        (
            401,
            reported("authentication_error", "invalid x-api-key hunter2"),
            Kind::Refused,
            "http://S refused the request (401: `invalid x-api-key ***`): set `.api_key(..)`",
        ),
        (
            404,
            reported("not_found_error", "model: claude-9"),
            Kind::NotFound,
            "has no model `claude-sonnet-5`",
        ),
        (
            429,
            reported("rate_limit_error", "Number of request tokens has exceeded"),
            Kind::Overloaded,
            "`.retry(3)`",
        ),
        (
            529,
            reported("overloaded_error", "Overloaded"),
            Kind::Overloaded,
            "has too much to do",
        ),
        (
            413,
            reported("request_too_large", "Request exceeds the maximum size"),
            Kind::TooLong,
            "shorten the conversation",
        ),
        (
            400,
            reported("invalid_request_error", "max_tokens: too large"),
            Kind::Refused,
            "(400): max_tokens: too large",
        ),
        (
            500,
            reported("api_error", "Internal server error"),
            Kind::Overloaded,
            "failed (500): Internal server error",
        ),
    ] {
        let (error, shown) = refused(status, "", &body).await;
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
async fn the_server_says_how_long_to_wait() {
    for status in [429, 529] {
        let (error, _) = refused(status, "retry-after: 7\r\n", &reported("x", "slow down")).await;
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn l8_a_missing_key_is_named_and_a_server_of_ones_own_needs_none() {
    // Whatever the environment of the test has goes to Anthropic alone.
    let server = replies(Answer::json(200, HELLO)).await;
    ask(&client(&server)).await.unwrap();
    let head = server.seen().remove(0).head;
    assert!(
        !head.contains("x-api-key") && !head.contains("authorization"),
        "{head}"
    );

    let error = ask(&anthropic("m").base_url("api.anthropic.com"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Setup);
    assert!(
        error
            .to_string()
            .contains("up to the part before `/v1/messages`"),
        "{error}"
    );
    let error = ask(&anthropic("m")
        .base_url("http://127.0.0.1:1")
        .header("a b", "c"))
    .await
    .unwrap_err();
    assert_eq!(error.kind(), Kind::Setup);
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    let history = History::from(vec![user("hi")]);
    let begun = HELLO_STREAM
        .split_once("event: content_block_stop")
        .unwrap()
        .0;
    for answer in [Answer::begun().piece(begun).cut(), Answer::pieces([begun])] {
        let server = replies(answer).await;
        let (reply, heard) = listen(&client(&server), Request::new(&history)).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind(), Kind::Interrupted);
        assert_eq!(heard, ["hel", "lo"]);
        assert!(
            error.to_string().contains("broke off after 5 characters"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_overloaded_server_can_say_so_in_the_middle() {
    let begun = HELLO_STREAM
        .split_once("event: content_block_stop")
        .unwrap()
        .0;
    let error = format!(
        "event: error\ndata: {}\n\n",
        reported("overloaded_error", "Overloaded")
    );
    let server = Server::plays([Answer::pieces([begun, &error])]).await;
    let history = History::from(vec![user("hi")]);
    let error = listen(&client(&server), Request::new(&history))
        .await
        .0
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Overloaded);
    assert!(
        error.is_transient() && error.to_string().contains("reported: Overloaded"),
        "{error}"
    );
}

#[tokio::test]
async fn a_reply_of_100_megabytes_is_refused() {
    let text = "x".repeat(1 << 20);
    let delta = format!(
        "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
    );
    let begun = HELLO_STREAM.split_once("event: ping").unwrap().0;
    let answer = (0..100).fold(Answer::begun().piece(begun), |answer, _| {
        answer.piece(&delta)
    });
    let server = replies(answer.and([Step::Cut])).await;
    let history = History::from(vec![user("hi")]);
    let model = client(&server);
    let error = model
        .chat(Request::new(&history).with_sink(&|_| ()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Malformed);
    assert!(error.to_string().contains("more than 64 MiB"), "{error}");
}

#[tokio::test]
async fn pings_do_not_count_as_the_beginning_of_a_reply() {
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let answer = Answer::begun()
        .piece(ping)
        .wait(60)
        .piece(ping)
        .wait(60)
        .piece(ping)
        .wait(5_000);
    let server = replies(answer).await;
    let history = History::from(vec![user("hi")]);
    let model = client(&server).first_token_timeout(Duration::from_millis(90));
    let error = listen(&model, Request::new(&history)).await.0.unwrap_err();
    assert_eq!(error.kind(), Kind::TimedOut);
    assert!(
        error
            .to_string()
            .contains("did not begin to reply within 90ms"),
        "{error}"
    );
}

#[tokio::test]
async fn a_credential_is_looked_up_at_each_request_and_never_shown() {
    let key = KeyHeader {
        name: "x-api-key",
        prefix: "",
    };
    check_credentials(key, HELLO, |url, credential| {
        let client = anthropic("m").base_url(url).api_key(EARLIER_KEY);
        client.credential(credential)
    })
    .await;
    check_credentials(key, HELLO, |url, credential| {
        let client = anthropic("m").base_url(url).auth_token(EARLIER_KEY);
        client.credential(credential)
    })
    .await;
}
