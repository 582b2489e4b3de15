//! Every failure is an error that says what to do.

use crate::{HELLO, HELLO_STREAM, ask, client, listen, replies, user};
use agents_core::model::{History, Model, ModelError, ModelErrorKind as Kind, Request};
use agents_gemini::gemini;
use agents_http::{
    KeyHeader,
    testing::{Answer, EARLIER_KEY, Step, check_credentials},
};
use std::time::Duration;

async fn refused(status: u16, head: &str, body: &str) -> (ModelError, String) {
    let server = replies(Answer::with_head(status, head, body)).await;
    let error = ask(&client(&server).api_key("hunter2")).await.unwrap_err();
    let text = error.to_string().replace(&server.url, "http://S");
    (error, text)
}

fn reported(code: u16, status: &str, message: &str) -> String {
    format!(r#"{{"error":{{"code":{code},"message":"{message}","status":"{status}"}}}}"#)
}

#[tokio::test]
async fn what_the_server_refuses() {
    for (status, body, kind, text) in [
        (
            403,
            reported(403, "PERMISSION_DENIED", "The key hunter2 is blocked"),
            Kind::Refused,
            "http://S/v1beta refused the request (403: `The key *** is blocked`): set `.api_key(..)`",
        ),
        (
            404,
            reported(404, "NOT_FOUND", "models/gemini-9 is not found"),
            Kind::NotFound,
            "has no model `gemini-2.5-flash`",
        ),
        (
            503,
            reported(503, "UNAVAILABLE", "The model is overloaded."),
            Kind::Overloaded,
            "`.retry(3)`",
        ),
        (
            400,
            reported(400, "INVALID_ARGUMENT", "API key not valid."),
            Kind::Refused,
            "(400): API key not valid.",
        ),
        (
            500,
            reported(500, "INTERNAL", "An internal error"),
            Kind::Overloaded,
            "failed (500): An internal error",
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
async fn the_server_says_in_its_error_how_long_to_wait() {
    let body = r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing.",
        "status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[]},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}}"#;
    let (error, shown) = refused(429, "", body).await;
    assert_eq!(error.retry_after(), Some(Duration::from_millis(34_400)));
    assert!(
        error.is_transient() && shown.contains("ask again later"),
        "{shown}"
    );
    let (error, _) = refused(429, "retry-after: 7\r\n", body).await;
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    // Without a time to wait for, the account is what is empty.
    let (error, _) = refused(
        429,
        "",
        &reported(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota"),
    )
    .await;
    assert_eq!((error.kind(), error.retry_after()), (Kind::Refused, None));
}

#[tokio::test]
async fn l8_a_server_of_ones_own_needs_no_key() {
    // Whatever the environment of the test has goes to Google alone.
    let server = replies(Answer::json(200, HELLO)).await;
    ask(&client(&server)).await.unwrap();
    let head = server.seen().remove(0).head;
    assert!(!head.contains("x-goog-api-key"), "{head}");

    let error = ask(&gemini("m").base_url("example.com")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Setup);
    assert!(
        error
            .to_string()
            .contains("up to the part before `/models`"),
        "{error}"
    );
    let error = ask(&client(&server).header("a b", "c")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Setup);
    let spaced = gemini("no such model").base_url(&server.url);
    assert_eq!(ask(&spaced).await.unwrap_err().kind(), Kind::Setup);
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    let history = History::from(vec![user("hi")]);
    let begun = HELLO_STREAM.split_inclusive("\r\n\r\n").next().unwrap();
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
async fn a_reply_of_100_megabytes_is_refused() {
    let text = "x".repeat(1 << 20);
    let event = format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}}}}]}}\n\n"
    );
    let answer = (0..100).fold(Answer::begun(), |answer, _| answer.piece(&event));
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
async fn a_credential_is_looked_up_at_each_request_and_never_shown() {
    let key = KeyHeader {
        name: "x-goog-api-key",
        prefix: "",
    };
    check_credentials(key, HELLO, |url, credential| {
        let client = gemini("m").base_url(url).api_key(EARLIER_KEY);
        client.credential(credential)
    })
    .await;
}
