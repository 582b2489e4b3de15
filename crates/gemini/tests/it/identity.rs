//! Which calls are one, and the ids of calls in a conversation that is sent.

use crate::{at, decoding};
use agents_http::testing::{Answer, check_identity, pays};
use serde_json::{Value, json};

fn part(id: &str, args: &str) -> String {
    let args: Value = serde_json::from_str(args).unwrap();
    let mut call = json!({ "name": "pay", "args": args });
    if !id.is_empty() {
        call["id"] = json!(id);
    }
    json!({ "functionCall": call }).to_string()
}

fn streamed(calls: &[(&str, &str)]) -> Answer {
    let parts: Vec<_> = calls.iter().map(|(id, args)| part(id, args)).collect();
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    Answer::pieces([decoding::stream(&parts)])
}

fn done() -> Answer {
    Answer::pieces([decoding::stream(&[r#"{"text":"done"}"#])])
}

#[tokio::test]
async fn a_call_that_a_reply_repeats_is_made_once() {
    check_identity(at, true, streamed, done).await;
    let body = |calls: &[(&str, &str)]| {
        let parts: Vec<Value> = calls
            .iter()
            .map(|(id, args)| serde_json::from_str(&part(id, args)).unwrap())
            .collect();
        let body =
            json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }] });
        Answer::json(200, &body.to_string())
    };
    check_identity(at, false, body, done).await;
}

#[tokio::test]
async fn ids_are_unique_in_a_conversation() {
    let args = |to: &str| format!(r#"{{"to":"{to}","cents":900}}"#);
    let (ada, bob) = (args("Ada"), args("Bob"));
    let answers = [streamed(&[("f0", &ada)]), streamed(&[("f0", &bob)]), done()];
    let paid = pays(at, answers, true).await;
    assert_eq!(paid.payments.len(), 2);
    let contents = &paid.bodies[2]["contents"];
    let ids =
        |part: &str, at: [usize; 2]| at.map(|at| contents[at]["parts"][0][part]["id"].clone());
    assert_eq!(ids("functionCall", [1, 3]), ["f0", "f0_2"], "{contents}");
    assert_eq!(
        ids("functionResponse", [2, 4]),
        ["f0", "f0_2"],
        "{contents}"
    );
}
