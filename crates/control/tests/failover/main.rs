//! The sixteen scenarios of Failover Bench, against a provider of our own that fails in the same ways. Each test makes the
//! checks of its scenario, and that the whole answer came.
//!
//! The times of the faults are those that are published. Two scenarios take half a minute and more: `scripts/test-all` has
//! them.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "the program around the example is not used")]
#[path = "../../examples/failover.rs"]
mod example;

use agents_http::testing::{Attempt, Faults};
use example::Options;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Runs the example for one request to the model of a scenario, and one to a model that works.
async fn scenario(model: &str) -> (Faults, Value, Duration) {
    scenario_with(model, "fb-ok").await
}

async fn scenario_with(model: &str, fallback: &str) -> (Faults, Value, Duration) {
    let faults = Faults::start(1.0).await;
    let begun = Instant::now();
    let mut lines = lines(&faults, model, fallback, 1, Duration::ZERO).await;
    let took = begun.elapsed();
    let healthy = lines.pop().unwrap();
    assert_eq!(
        healthy["ok"], true,
        "a healthy model answers afterwards: {healthy}"
    );
    assert_eq!(healthy["text"], Faults::answer());
    (faults, lines.pop().unwrap(), took)
}

async fn lines(
    faults: &Faults,
    model: &str,
    fallback: &str,
    requests: u32,
    interval: Duration,
) -> Vec<Value> {
    let options = Options {
        primary: faults.url(),
        primary_model: model.to_owned(),
        fallback: faults.url(),
        fallback_model: fallback.to_owned(),
        requests,
        interval,
        probe: Some("fb-ok".to_owned()),
    };
    let mut lines = Vec::new();
    example::run(&options, |line| lines.push(line)).await;
    lines
}

/// Checks that the whole answer came, from this model.
fn whole(line: &Value, model: &str) {
    assert_eq!(line["ok"], true, "{line}");
    assert_eq!(line["text"], Faults::answer(), "{line}");
    assert_eq!(line["model"], model, "{line}");
    assert_eq!(line["usage"]["output"], 60, "{line}");
    assert_eq!(line["error"], Value::Null, "{line}");
}

fn within(seen: &[Attempt], window: Duration) -> usize {
    let first = seen[0].at;
    seen.iter().filter(|seen| seen.at - first < window).count()
}

fn secs(secs: f64) -> Duration {
    Duration::from_secs_f64(secs)
}

#[tokio::test]
async fn s5_7_s01_a_rate_limit_with_a_time_is_waited_for() {
    let (faults, line, took) = scenario("fb-s01-429-retry-after").await;
    whole(&line, "fb-s01-429-retry-after");
    let seen = faults.attempts("fb-s01-429-retry-after");
    assert_eq!(seen.len(), 2);
    assert!(seen[1].at - seen[0].at >= secs(1.8));
    assert!(took < secs(20.0));
}

#[tokio::test]
async fn s02_a_rate_limit_that_lasts_is_not_hammered() {
    let (faults, line, took) = scenario("fb-s02-429-persistent").await;
    whole(&line, "fb-ok");
    let seen = faults.attempts("fb-s02-429-persistent");
    assert!(within(&seen, secs(3.0)) <= 4, "{seen:?}");
    assert_eq!(seen.len(), 4, "three retries");
    assert!(took < secs(40.0));
}

#[tokio::test]
async fn s03_a_server_error_is_tried_again_at_the_same_model() {
    let (faults, line, _) = scenario("fb-s03-500-then-200").await;
    whole(&line, "fb-s03-500-then-200");
    assert_eq!(faults.attempts("fb-s03-500-then-200").len(), 2);
    assert_eq!(line["attempts"], json!({"primary": 2, "fallback": 0}));
}

#[tokio::test]
async fn s04_a_model_that_stays_overloaded_is_given_up() {
    let (faults, line, took) = scenario("fb-s04-503-persistent").await;
    whole(&line, "fb-ok");
    assert_eq!(faults.attempts("fb-s04-503-persistent").len(), 4);
    assert!(took < secs(40.0));
}

#[tokio::test]
async fn s05_a_connection_that_is_reset_is_opened_again() {
    let (faults, line, took) = scenario("fb-s05-reset").await;
    whole(&line, "fb-s05-reset");
    let statuses = faults.attempts("fb-s05-reset");
    let statuses: Vec<_> = statuses.iter().map(|attempt| attempt.status).collect();
    assert_eq!(statuses, [None, Some(200)]);
    assert!(took < secs(20.0));
}

#[tokio::test]
async fn s06_a_model_that_is_silent_is_asked_once() {
    let (faults, line, took) = scenario("fb-s06-no-response").await;
    whole(&line, "fb-ok");
    assert_eq!(faults.attempts("fb-s06-no-response").len(), 1);
    assert!(took > secs(9.0) && took < secs(20.0), "{took:?}");
}

#[tokio::test]
async fn s07_a_slow_first_token_is_not_waited_for() {
    let (_faults, line, took) = scenario("fb-s07-slow-ttft").await;
    whole(&line, "fb-ok");
    assert!(took > secs(9.0) && took < secs(15.0), "{took:?}");
}

#[tokio::test]
async fn s08_a_stream_that_breaks_off_is_no_answer() {
    let (faults, line, _) = scenario("fb-s08-stream-cut").await;
    whole(&line, "fb-ok");
    assert_eq!(faults.attempts("fb-s08-stream-cut").len(), 1);
}

#[tokio::test]
#[ignore = "in full: scripts/test-all failover"]
async fn s5_7_s09_a_stream_that_stalls_is_left() {
    let (_faults, line, took) = scenario("fb-s09-stream-stall").await;
    whole(&line, "fb-ok");
    assert!(took > secs(29.0) && took < secs(45.0), "{took:?}");
}

#[tokio::test]
async fn s10_a_malformed_piece_makes_no_answer() {
    let (_faults, line, _) = scenario("fb-s10-malformed-chunk").await;
    whole(&line, "fb-ok");
}

#[tokio::test]
async fn s11_a_stream_without_its_last_event_is_whole() {
    let (faults, line, took) = scenario("fb-s11-no-done").await;
    whole(&line, "fb-s11-no-done");
    assert_eq!(faults.attempts("fb-s11-no-done").len(), 1);
    assert!(took < secs(8.0), "{took:?}");
}

#[tokio::test]
async fn s12_a_request_that_is_too_long_goes_to_another_model() {
    let (faults, line, _) = scenario("fb-s12-context-length").await;
    whole(&line, "fb-ok");
    assert_eq!(faults.attempts("fb-s12-context-length").len(), 1);
}

#[tokio::test]
async fn s13_a_request_that_a_filter_refused_goes_nowhere_else() {
    let (faults, line, _) = scenario("fb-s13-content-filter").await;
    assert_eq!(line["ok"], false);
    assert_eq!(line["text"], Value::Null);
    let error = line["error"].as_str().unwrap();
    assert!(
        error.contains("a filter of") && error.contains("400"),
        "the provider's reason is passed on: {error}"
    );
    assert_eq!(line["attempts"], json!({"primary": 1, "fallback": 0}));
    assert_eq!(faults.attempts("fb-s13-content-filter").len(), 1);
}

#[tokio::test]
async fn s14_a_fallback_gets_the_request_and_no_part_of_an_answer() {
    let (faults, line, _) = scenario_with("fb-s14-stream-cut", "fb-ok-noprefill").await;
    whole(&line, "fb-ok-noprefill");
    let fallback = faults.attempts("fb-ok-noprefill");
    assert!(!fallback.is_empty());
    assert!(fallback.iter().all(|attempt| attempt.status == Some(200)));
}

#[tokio::test]
#[ignore = "in full: scripts/test-all failover"]
async fn s15_a_model_that_comes_back_is_asked_again() {
    let (down, interval) = (secs(60.0), secs(4.0));
    let faults = Faults::start(1.0).await;
    let mut lines = lines(&faults, "fb-s15-flap", "fb-ok", 20, interval).await;
    lines.pop();
    for line in &lines {
        assert_eq!(line["ok"], true, "{line}");
        assert_eq!(line["text"], Faults::answer(), "{line}");
    }
    let seen = faults.attempts("fb-s15-flap");
    let back = seen.iter().find(|seen| seen.status == Some(200)).unwrap();
    assert!(back.at < down + secs(30.0), "{seen:?}");
    let asked = seen.iter().filter(|seen| seen.at < down).count();
    let meanwhile = (down.as_secs_f64() / interval.as_secs_f64()).ceil() as usize;
    // The first request is tried again; then the circuit opens.
    assert!(asked <= meanwhile.max(3) + 3, "{seen:?}");
    assert_eq!(lines.last().unwrap()["model"], "fb-s15-flap");
}

#[tokio::test]
async fn s16_the_model_that_answered_is_named_with_its_usage() {
    let (faults, line, _) = scenario("fb-s16-503-persistent").await;
    whole(&line, "fb-ok");
    assert_eq!(line["attempts"], json!({"primary": 4, "fallback": 1}));
    assert_eq!(faults.attempts("fb-s16-503-persistent").len(), 4);
}
