//! Which calls are one, and the ids of calls in a conversation that is sent.

use crate::server::Answer;
use agents_http::testing::{check_identity, pays};
use agents_ollama::{Ollama, ollama};
use serde_json::{Value, json};

fn model(url: &str) -> Ollama {
    ollama("m").url(url)
}

fn calls(calls: &[(&str, &str)]) -> Vec<Value> {
    let call = |(number, (id, args)): (usize, &(&str, &str))| {
        let args: Value = serde_json::from_str(args).unwrap();
        let mut call = json!({ "function": { "index": number, "name": "pay", "arguments": args } });
        if !id.is_empty() {
            call["id"] = json!(id);
        }
        call
    };
    calls.iter().enumerate().map(call).collect()
}

fn done() -> Answer {
    Answer::pieces(["{\"message\":{\"content\":\"done\"},\"done\":true}\n"])
}

#[tokio::test]
async fn a_call_that_a_reply_repeats_is_made_once() {
    let whole = |list: &[(&str, &str)]| {
        let body = json!({ "message": { "content": "", "tool_calls": calls(list) }, "done": true });
        Answer::json(200, &body.to_string())
    };
    check_identity(model, false, whole, done).await;
    // A line for each call.
    let streamed = |list: &[(&str, &str)]| {
        let lines = calls(list).into_iter().map(
            |call| json!({ "message": { "content": "", "tool_calls": [call] }, "done": false }),
        );
        let end = json!({ "message": { "content": "" }, "done": true, "done_reason": "stop" });
        Answer::pieces(lines.chain([end]).map(|line| format!("{line}\n")))
    };
    check_identity(model, true, streamed, done).await;
}

#[tokio::test]
async fn ids_are_unique_in_a_conversation() {
    let reply = |to: &str| {
        let args = json!({ "to": to, "cents": 900 }).to_string();
        let body = json!({ "message": { "content": "", "tool_calls": calls(&[("a", &args)]) }, "done": true });
        Answer::json(200, &body.to_string())
    };
    let paid = pays(model, [reply("Ada"), reply("Bob"), done()], false).await;
    assert_eq!(paid.payments.len(), 2);
    let messages = &paid.bodies[2]["messages"];
    let found = |pointer: &str| -> Vec<Value> {
        let messages = messages.as_array().unwrap().iter();
        messages
            .filter_map(|message| message.pointer(pointer).cloned())
            .collect()
    };
    assert_eq!(found("/tool_calls/0/id"), ["a", "a_2"]);
    assert_eq!(found("/tool_call_id"), ["a", "a_2"]);
}
