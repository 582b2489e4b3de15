//! Which calls are one, and the ids of calls in a conversation that is sent.

use crate::{at, bodies, call, client, decoding, replies, result, said, tool_use, user};
use agents_core::model::{History, Message, Model, Request};
use agents_http::testing::{Answer, check_identity, pays};
use serde_json::{Value, json};

fn document(content: &Value, reason: &str) -> Answer {
    let body = json!({ "type": "message", "content": content, "stop_reason": reason });
    Answer::json(200, &body.to_string())
}

fn pay(id: &str, input: &str) -> Value {
    let input: Value = serde_json::from_str(input).unwrap();
    let mut block = tool_use(id, "pay", input);
    if id.is_empty() {
        block.as_object_mut().unwrap().remove("id");
    }
    block
}

/// Returns a stream of calls, each a block with its arguments in two pieces.
fn streamed(calls: &[(&str, &str)]) -> Answer {
    let blocks: Vec<(String, Vec<String>)> = calls
        .iter()
        .map(|(id, args)| {
            let (first, rest) = args.split_at(4);
            let delta = |json: &str| {
                json!({ "type": "input_json_delta", "partial_json": json }).to_string()
            };
            (pay(id, "{}").to_string(), vec![delta(first), delta(rest)])
        })
        .collect();
    let deltas: Vec<Vec<&str>> = blocks
        .iter()
        .map(|(_, deltas)| deltas.iter().map(String::as_str).collect())
        .collect();
    let blocks: Vec<(&str, &[&str])> = blocks
        .iter()
        .zip(&deltas)
        .map(|((begin, _), deltas)| (begin.as_str(), deltas.as_slice()))
        .collect();
    Answer::pieces([decoding::blocks(&blocks, "tool_use")])
}

#[tokio::test]
async fn a_call_that_a_message_repeats_is_made_once() {
    let body = |calls: &[(&str, &str)]| {
        let content: Value = calls.iter().map(|(id, args)| pay(id, args)).collect();
        document(&content, "tool_use")
    };
    let done = || document(&json!([{ "type": "text", "text": "done" }]), "end_turn");
    check_identity(at, false, body, done).await;
    check_identity(at, true, streamed, done).await;
}

#[tokio::test]
async fn thinking_stays_in_its_place_before_a_call_that_came_twice() {
    let call: (&str, &[&str]) = (
        r#"{"type":"tool_use","id":"toolu_1","name":"pay","input":{"to":"Ada","cents":900}}"#,
        &[],
    );
    let thinking: (&str, &[&str]) = (
        r#"{"type":"thinking","thinking":"hm","signature":"EqQB"}"#,
        &[],
    );
    let answers = [
        Answer::pieces([decoding::blocks(&[thinking, call, call], "tool_use")]),
        document(&json!([{ "type": "text", "text": "done" }]), "end_turn"),
    ];
    let paid = pays(at, answers, true).await;
    assert_eq!(paid.payments.len(), 1);
    let content = paid.bodies[1]["messages"][1]["content"].as_array().unwrap();
    assert_eq!(content.len(), 2, "{content:?}");
    assert_eq!(
        content[0],
        json!({ "type": "thinking", "thinking": "hm", "signature": "EqQB" })
    );
}

#[tokio::test]
async fn a_block_that_begins_twice_is_one_call() {
    let begin = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"pay","input":{}}}"#;
    let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"to\":\"Ada\",\"cents\":900}"}}"#;
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#;
    for events in [
        vec![begin, begin, delta, stop, end],
        vec![begin, delta, delta, stop, end],
        vec![begin, delta, stop, begin, delta, stop, end],
    ] {
        let shown = format!("{events:?}");
        let body = decoding::stream(&events) + &decoding::stream(&[r#"{"type":"message_stop"}"#]);
        let done = document(&json!([{ "type": "text", "text": "done" }]), "end_turn");
        let paid = pays(at, [Answer::pieces([body]), done], true).await;
        assert_eq!(
            paid.payments,
            [json!({ "to": "Ada", "cents": 900 })],
            "{shown}"
        );
    }
}

fn turns(ids: &[&str]) -> Vec<Message> {
    let mut messages = vec![user("hi")];
    for id in ids {
        messages.push(said("", &[call(id, "list", "{}")]));
        messages.push(result(id, "list", "[]"));
    }
    messages
}

#[tokio::test]
async fn ids_are_unique_in_a_conversation() {
    // Ids of another provider may become equal by the characters that are replaced.
    let ids = ["list:0", "toolu_1", "toolu_1", "list:0", "list.0"];
    let messages = crate::messages(turns(&ids)).await;
    let messages = messages.as_array().unwrap();
    let found = |key: &str| -> Vec<Value> {
        let blocks = messages
            .iter()
            .filter_map(|message| message["content"][0].get(key));
        blocks.cloned().collect()
    };
    let expect = ["list_0", "toolu_1", "toolu_1_2", "list_0_2", "list_0_3"];
    assert_eq!(found("id"), expect);
    assert_eq!(found("tool_use_id"), expect);
}

#[tokio::test]
async fn a_conversation_that_grows_keeps_its_bytes() {
    let server = replies(Answer::json(200, crate::HELLO)).await;
    let model = client(&server).prompt_cache(agents_anthropic::PromptCache::Off);
    let mut history = History::from(turns(&["a", "a"]));
    let sent = async |history: &History| {
        model.chat(Request::new(history)).await.unwrap();
        bodies(&server).pop().unwrap()["messages"].to_string()
    };
    let before = sent(&history).await;
    for message in turns(&["a"]).split_off(1) {
        history.push(message);
    }
    let after = sent(&history).await;
    assert!(
        after.starts_with(before.trim_end_matches(']')),
        "{before} {after}"
    );
    assert_eq!(after, sent(&History::from(turns(&["a", "a", "a"]))).await);
}

/// A fall-back from another provider, whose ids begin anew in each turn.
#[tokio::test]
async fn a_run_whose_ids_come_again_goes_on() {
    let args = |to: &str| format!(r#"{{"to":"{to}","cents":900}}"#);
    let (ada, bob) = (args("Ada"), args("Bob"));
    let answers = [
        streamed(&[("pay:0", &ada)]),
        streamed(&[("pay:0", &bob)]),
        document(&json!([{ "type": "text", "text": "done" }]), "end_turn"),
    ];
    let paid = pays(at, answers, true).await;
    assert_eq!(paid.payments.len(), 2);
    let messages = &paid.bodies[2]["messages"];
    let ids = [1, 3].map(|at| messages[at]["content"][0]["id"].clone());
    assert_ne!(ids[0], ids[1], "{messages}");
    let results = [2, 4].map(|at| messages[at]["content"][0]["tool_use_id"].clone());
    assert_eq!(ids, results);
}
