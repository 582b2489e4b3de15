//! How a streamed reply ends: with a reason to stop, without one, or on a connection that stays open.

use crate::{HELLO_STREAM, ask, at, client, listen, replies, user};
use agents_core::model::{History, Model, ModelErrorKind as Kind, Request};
use agents_http::testing::{Answer, Server, pays};
use agents_openai::openai;
use std::time::{Duration, Instant};

const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\n\n";
const REASON: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";
const USAGE: &str =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\n";

/// Returns a stream with a call of `pay` with these arguments, which may be cut off.
fn paying(arguments: &str) -> String {
    let arguments = serde_json::Value::from(arguments);
    format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"a\",\"function\":\
         {{\"name\":\"pay\",\"arguments\":{arguments}}}}}]}}}}]}}\n\n"
    )
}

/// Asks the server for one streamed reply after the other; returns the text of each, or the kind of its error.
async fn texts(server: &Server, times: usize) -> Vec<Result<String, Kind>> {
    let history = History::from(vec![user("hi")]);
    let mut texts = Vec::new();
    for _ in 0..times {
        let (reply, _) = listen(&client(server), Request::new(&history)).await;
        texts.push(
            reply
                .map(|reply| reply.content)
                .map_err(|error| error.kind()),
        );
    }
    texts
}

#[tokio::test]
async fn a_server_that_never_gives_a_reason_is_learned() {
    let server = replies(Answer::pieces([TEXT, DONE])).await;
    let hello = || Ok("hello".to_owned());
    assert_eq!(
        texts(&server, 3).await,
        [Err(Kind::Interrupted), hello(), hello()]
    );
    // The model is asked again, as after any interruption before a text was shown.
    let call = paying(r#"{"to":"Ada","cents":900}"#);
    let server = replies(Answer::pieces([call.as_str(), USAGE, DONE])).await;
    let history = History::from(vec![user("hi")]);
    let model = client(&server).retry(2);
    let (reply, _) = listen(&model, Request::new(&history)).await;
    assert_eq!(reply.unwrap().calls.len(), 1);
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_server_that_gave_a_reason_once_has_to_give_it_again() {
    let cut = || Answer::pieces([TEXT, DONE]);
    let server = Server::plays([Answer::pieces([HELLO_STREAM]), cut(), cut()]).await;
    let interrupted = Err(Kind::Interrupted);
    let expect = [
        Ok("hello".to_owned()),
        interrupted.clone(),
        interrupted.clone(),
    ];
    assert_eq!(texts(&server, 3).await, expect);
    // Two replies were cut off before the first reason came.
    let server = Server::plays([cut(), Answer::pieces([HELLO_STREAM]), cut()]).await;
    let expect = [interrupted.clone(), Ok("hello".to_owned()), interrupted];
    assert_eq!(texts(&server, 3).await, expect);
}

#[tokio::test]
async fn a_reply_that_shows_its_cut_is_never_whole() {
    let json = TEXT.replace("hello", "{\\\"answer\\\": 4");
    for body in [json, paying(r#"{"to":"Ada","cents":9"#)] {
        let server = replies(Answer::pieces([body.as_str(), DONE])).await;
        let interrupted = Err(Kind::Interrupted);
        let expect = [interrupted.clone(), interrupted.clone(), interrupted];
        assert_eq!(texts(&server, 3).await, expect, "{body}");
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_made() {
    let cut = paying(r#"{"to":"Ada","cents":9"#);
    let paid = pays(at, [Answer::pieces([cut.as_str(), DONE])], true).await;
    assert!(paid.payments.is_empty() && paid.answer.is_err(), "{paid:?}");
    // Asked again, the model makes the call once.
    let whole = paying(r#"{"to":"Ada","cents":900}"#);
    let answers = [
        Answer::pieces([cut.as_str(), DONE]),
        Answer::pieces([whole.as_str(), REASON, DONE]),
        Answer::pieces([HELLO_STREAM]),
    ];
    let paid = pays(|url| at(url).retry(2), answers, true).await;
    assert_eq!(
        (paid.payments.len(), paid.answer.unwrap()),
        (1, "hello".to_owned())
    );
}

#[tokio::test]
async fn the_error_says_what_is_amiss() {
    let server = replies(Answer::pieces([TEXT, DONE])).await;
    let history = History::from(vec![user("hi")]);
    let error = listen(&client(&server), Request::new(&history))
        .await
        .0
        .unwrap_err();
    let text = error.to_string();
    assert!(error.is_transient(), "{text}");
    assert!(text.contains("broke off after 5 characters"), "{text}");
    assert!(
        text.contains("nothing said why the model had stopped"),
        "{text}"
    );
}

#[tokio::test]
async fn a_whole_reply_does_not_wait_for_the_connection() {
    let call = paying(r#"{"to":"Ada","cents":900}"#);
    let silent = |pieces: &[&str]| {
        let begun = Answer::begun();
        pieces
            .iter()
            .fold(begun, |answer, piece| answer.piece(piece))
            .wait(60_000)
    };
    let history = History::from(vec![user("hi")]);
    for pieces in [
        &[TEXT, REASON][..],
        &[TEXT, REASON, USAGE],
        &[&call, REASON],
    ] {
        let server = replies(silent(pieces)).await;
        let begun = Instant::now();
        let reply = listen(&client(&server), Request::new(&history))
            .await
            .0
            .unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10), "{pieces:?}");
        assert_eq!(reply.calls.len() + reply.content.len() / 5, 1, "{pieces:?}");
    }
    // Without a reason the reply is not whole, and the time limit is that of the client.
    let server = replies(silent(&[TEXT])).await;
    let model = client(&server).timeout(Duration::from_millis(300));
    let error = listen(&model, Request::new(&history)).await.0.unwrap_err();
    assert_eq!(error.kind(), Kind::TimedOut);
}

#[tokio::test]
async fn comments_behind_the_end_are_not_waited_for() {
    let history = History::from(vec![user("hi")]);
    for end in [&[REASON, DONE][..], &[REASON]] {
        let mut answer = Answer::begun().piece(TEXT);
        for piece in end {
            answer = answer.piece(piece);
        }
        for _ in 0..400 {
            answer = answer.wait(100).piece(": ping\n\n");
        }
        let server = replies(answer).await;
        let begun = Instant::now();
        let reply = listen(&client(&server), Request::new(&history)).await.0;
        assert_eq!(reply.unwrap().content, "hello");
        assert!(begun.elapsed() < Duration::from_secs(10), "{end:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_from_other_refusals() {
    for (status, body, kind) in [
        (
            400,
            r#"{"error":{"message":"The input (40100 tokens) is longer than the model's context length (32768 tokens).","code":400}}"#,
            Kind::TooLong,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you sent 5000.","code":400}"#,
            Kind::TooLong,
        ),
        (
            400,
            r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#,
            Kind::TooLong,
        ),
        (
            422,
            r#"{"detail":"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"}"#,
            Kind::TooLong,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}"#,
            Kind::TooLong,
        ),
        (
            400,
            "the request exceeds the available context size",
            Kind::TooLong,
        ),
        (
            401,
            r#"{"error":{"message":"the key exceeds the context window that it may use"}}"#,
            Kind::Refused,
        ),
        (
            400,
            r#"{"error":{"message":"invalid key: unknown context"}}"#,
            Kind::Refused,
        ),
        (
            400,
            r#"{"error":{"message":"max_tokens is too large: 9000. At most 4096 completion tokens."}}"#,
            Kind::Refused,
        ),
        (
            429,
            r#"{"error":{"message":"the context length of your requests exceeds the limit of tokens per minute"}}"#,
            Kind::Overloaded,
        ),
    ] {
        let server = replies(Answer::json(status, body)).await;
        let error = ask(&openai("m").base_url(&server.url)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{body}: {error}");
    }
}
