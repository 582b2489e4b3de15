//! Scenarios of the Failover Bench, as far as they concern one client: each fault, and what the client makes of it. A
//! chain of models is not tested here. Waits take a twentieth of their time, except for `Retry-After`.

use crate::{listen, user};
use agents_core::{
    Model,
    model::{History, ModelError, ModelErrorKind as Kind, Reply, Request},
    recovery::exponential,
};
use agents_http::testing::{Attempt, Fault, Faults};
use agents_openai::{OpenAi, openai};
use std::time::{Duration, Instant};

const PACE: f64 = 0.05;

fn client(faults: &Faults, fault: Fault) -> OpenAi {
    openai(fault.model()).base_url(faults.url()).api_key("none")
}

/// Sends a streaming request to a model; returns the reply, the text that was streamed, and the time taken.
async fn stream(model: &impl Model) -> (Result<Reply, ModelError>, String, Duration) {
    let history = History::from(vec![user("Explain it in sixty words.")]);
    let begun = Instant::now();
    let (reply, pieces) = listen(model, Request::new(&history)).await;
    (reply, pieces.concat(), begun.elapsed())
}

/// Checks that a healthy model answers through the same server.
async fn is_alive(faults: &Faults) {
    let (reply, text, _) = stream(&client(faults, Fault::None)).await;
    assert_eq!(reply.unwrap().content, Faults::answer());
    assert_eq!(text, Faults::answer());
}

fn statuses(attempts: &[Attempt]) -> Vec<Option<u16>> {
    attempts.iter().map(|attempt| attempt.status).collect()
}

#[tokio::test]
async fn s01_a_wait_that_the_server_asks_for_is_kept() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::RetryAfter;
    let (reply, _, _) = stream(&client(&faults, fault).retry(3)).await;
    assert_eq!(reply.unwrap().content, Faults::answer());
    let attempts = faults.attempts(fault.model());
    assert_eq!(statuses(&attempts), [Some(429), Some(200)]);
    let gap = attempts[1].at - attempts[0].at;
    assert!(gap >= Duration::from_millis(1_800), "{gap:?}");
}

#[tokio::test]
async fn s02_a_server_that_refuses_each_request_is_not_hammered() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::TooManyRequests;
    // One attempt without a wrapper; with one, as many as were allowed, and each wait is longer.
    let (reply, _, _) = stream(&client(&faults, fault)).await;
    let error = reply.unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (Kind::Overloaded, Some(429))
    );
    assert_eq!(faults.attempts(fault.model()).len(), 1);
    let backoff = exponential().base(Duration::from_millis(100));
    let (reply, _, _) = stream(&client(&faults, fault).retry(3).backoff(backoff)).await;
    let error = reply.unwrap_err().to_string();
    assert!(error.contains("asked 3 times"), "{error}");
    assert_eq!(faults.attempts(fault.model()).len(), 4);
}

#[tokio::test]
async fn s03_an_error_of_the_server_that_passes_is_tried_again() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::OneError;
    let (reply, _, _) = stream(&client(&faults, fault).retry(2)).await;
    assert_eq!(reply.unwrap().content, Faults::answer());
    let attempts = faults.attempts(fault.model());
    assert_eq!(statuses(&attempts), [Some(500), Some(200)]);
}

#[tokio::test]
async fn s05_a_connection_that_is_reset_before_a_byte_is_tried_again() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::Reset;
    let (reply, _, _) = stream(&client(&faults, fault).retry(2)).await;
    assert_eq!(reply.unwrap().content, Faults::answer());
    let attempts = faults.attempts(fault.model());
    assert_eq!(statuses(&attempts), [None, Some(200)]);
}

#[tokio::test]
async fn s06_a_server_that_does_not_answer_is_left_at_the_time_limit() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::NoResponse;
    let model = client(&faults, fault).timeout(Duration::from_millis(300));
    let (reply, _, took) = stream(&model).await;
    assert_eq!(reply.unwrap_err().kind(), Kind::TimedOut);
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(faults.attempts(fault.model()).len(), 1);
    is_alive(&faults).await;
}

#[tokio::test]
async fn s07_a_slow_first_token_is_waited_for_or_bounded() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::SlowFirstToken;
    let (reply, _, took) = stream(&client(&faults, fault)).await;
    assert_eq!(reply.unwrap().content, Faults::answer());
    assert!(took >= Duration::from_secs(1), "{took:?}");
    let model = client(&faults, fault).first_token_timeout(Duration::from_millis(200));
    let (reply, text, took) = stream(&model).await;
    assert_eq!(
        (reply.unwrap_err().kind(), &*text),
        (Kind::TimedOut, ""),
        "{took:?}"
    );
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
async fn s08_a_stream_that_is_cut_is_never_an_answer() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::StreamCut;
    let (reply, text, _) = stream(&client(&faults, fault).retry(3)).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind(), Kind::Interrupted, "{error}");
    assert!(text.ends_with("word40 "), "{text}");
    // Its beginning was streamed: whoever listens would hear it twice.
    assert_eq!(faults.attempts(fault.model()).len(), 1);
    is_alive(&faults).await;
}

#[tokio::test]
async fn s09_a_stream_that_falls_silent_ends_at_the_time_limit() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::StreamStall;
    let model = client(&faults, fault).timeout(Duration::from_millis(300));
    let (reply, text, took) = stream(&model).await;
    assert_eq!(reply.unwrap_err().kind(), Kind::TimedOut);
    assert!(text.ends_with("word20 "), "{text}");
    assert!(took < Duration::from_millis(1_400), "{took:?}");
    is_alive(&faults).await;
}

#[tokio::test]
async fn s10_an_event_that_is_not_json_fails_the_reply() {
    let faults = Faults::start(PACE).await;
    let fault = Fault::MalformedEvent;
    let (reply, text, _) = stream(&client(&faults, fault)).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind(), Kind::Malformed, "{error}");
    assert!(!text.contains("gar"), "{text}");
    is_alive(&faults).await;
}

#[tokio::test]
async fn s11_a_whole_stream_without_its_last_mark_is_an_answer() {
    let faults = Faults::start(PACE).await;
    let (reply, text, took) = stream(&client(&faults, Fault::NoDone)).await;
    let reply = reply.unwrap();
    assert_eq!((&*reply.content, &*text), (&*Faults::answer(), &*text));
    assert_eq!(
        (reply.usage.input_tokens, reply.usage.output_tokens),
        (20, 60)
    );
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn s13_a_request_that_a_filter_refuses_is_not_tried_again() {
    let faults = Faults::start(PACE).await;
    for fault in [Fault::ContentFilter, Fault::ContextLength] {
        let (reply, _, _) = stream(&client(&faults, fault).retry(3)).await;
        let error = reply.unwrap_err();
        assert_eq!(error.status(), Some(400));
        assert!(!error.is_transient());
        // The server's reason is in the message.
        let code = match fault {
            Fault::ContentFilter => "content_policy_violation",
            _ => "context_length_exceeded",
        };
        assert!(error.to_string().contains(code), "{error}");
        assert_eq!(faults.attempts(fault.model()).len(), 1);
    }
}
