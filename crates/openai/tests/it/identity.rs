//! Which calls are one, and the ids of calls in a conversation that is sent.

use crate::{at, bodies, call, client, replies, result, said, user};
use agents_core::model::{History, Model, Request};
use agents_http::testing::{Answer, check_identity, pays};
use serde_json::{Value, json};

fn function(id: &str, arguments: &str) -> Value {
    let function = json!({ "name": "pay", "arguments": arguments });
    match id {
        "" => json!({ "type": "function", "function": function }),
        id => json!({ "id": id, "type": "function", "function": function }),
    }
}

fn document(message: &Value, reason: &str) -> Answer {
    let body = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": reason }] });
    Answer::json(200, &body.to_string())
}

fn streamed(deltas: impl IntoIterator<Item = Value>, reason: &str) -> Answer {
    let ends = [
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }).to_string(),
        "[DONE]".to_owned(),
    ];
    let deltas = deltas
        .into_iter()
        .map(|delta| json!({ "choices": [{ "index": 0, "delta": delta }] }).to_string());
    Answer::pieces(deltas.chain(ends).map(|data| format!("data: {data}\n\n")))
}

fn done() -> Answer {
    streamed([json!({ "content": "done" })], "stop")
}

#[tokio::test]
async fn a_call_that_a_chat_repeats_is_made_once() {
    let body = |calls: &[(&str, &str)]| {
        let calls: Vec<_> = calls.iter().map(|(id, args)| function(id, args)).collect();
        document(
            &json!({ "content": null, "tool_calls": calls }),
            "tool_calls",
        )
    };
    let end = || document(&json!({ "content": "done" }), "stop");
    check_identity(at, false, body, end).await;
    // An index for each call, one index for all, or none; whole, or piece by piece.
    for (index, pieces) in [
        (Some(1), 1),
        (Some(0), 1),
        (None, 1),
        (Some(1), 2),
        (Some(0), 2),
        (None, 2),
    ] {
        let stream = |calls: &[(&str, &str)]| {
            let mut deltas = Vec::new();
            for (number, (id, args)) in (0..).zip(calls) {
                let (first, rest) = args.split_at(if pieces == 1 { args.len() } else { 5 });
                let mut begun = function(id, first);
                let mut more = json!({ "function": { "arguments": rest } });
                if let Some(step) = index {
                    begun["index"] = json!(number * step);
                    more["index"] = json!(number * step);
                }
                deltas.push(json!({ "tool_calls": [begun] }));
                if pieces == 2 {
                    deltas.push(json!({ "tool_calls": [more] }));
                }
            }
            streamed(deltas, "tool_calls")
        };
        check_identity(at, true, stream, done).await;
    }
}

#[tokio::test]
async fn a_call_that_responses_repeat_is_made_once() {
    let completed = |output: &Value| json!({ "id": "r", "status": "completed", "error": null, "output": output });
    let item = |id: &str, args: &str| json!({ "type": "function_call", "call_id": id, "name": "pay", "arguments": args });
    let items = |calls: &[(&str, &str)]| -> Value {
        calls.iter().map(|(id, args)| item(id, args)).collect()
    };
    let text =
        json!([{ "type": "message", "content": [{ "type": "output_text", "text": "done" }] }]);
    let model = |url: &str| at(url).responses();
    let body = |calls: &[(&str, &str)]| Answer::json(200, &completed(&items(calls)).to_string());
    let end = || Answer::json(200, &completed(&text).to_string());
    check_identity(model, false, body, end).await;
    let stream = |calls: &[(&str, &str)]| {
        let done = calls.iter().map(
            |(id, args)| json!({ "type": "response.output_item.done", "item": item(id, args) }),
        );
        let last = json!({ "type": "response.completed", "response": completed(&json!([])) });
        Answer::pieces(done.chain([last]).map(|event| format!("data: {event}\n\n")))
    };
    check_identity(model, true, stream, end).await;
}

/// A printed call has no id.
#[tokio::test]
async fn a_printed_call_that_stands_twice_is_made_once() {
    let printed = |to: &str| {
        let call = json!({ "name": "pay", "arguments": { "to": to, "cents": 900 } });
        format!("<tool_call>{call}</tool_call>\n")
    };
    for (calls, payments) in [(["Ada", "Ada"], 1), (["Ada", "Bob"], 2)] {
        let text = calls.map(printed).concat();
        let answers = [streamed([json!({ "content": text })], "stop"), done()];
        let paid = pays(at, answers, true).await;
        assert_eq!(paid.payments.len(), payments, "{text}");
        let told = paid.bodies[1].to_string();
        assert_eq!(told.contains("stands twice"), payments == 1, "{told}");
    }
}

#[tokio::test]
async fn the_arguments_of_one_call_may_come_twice() {
    let whole = r#"{"to":"Ada","cents":900}"#;
    let named = |arguments: &str| json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "pay", "arguments": arguments } }] });
    let more = |arguments: &str| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] });
    for deltas in [
        vec![named(""), more(whole), named(whole)],
        vec![named(""), more(whole), more(whole)],
        vec![named("{}"), named(whole)],
        vec![named("{}"), more(whole)],
        vec![
            named(&whole[..7]),
            more(&whole[7..]),
            named(&whole[..7]),
            more(&whole[7..]),
        ],
        vec![
            named(&whole[..7]),
            more(&whole[7..]),
            more(&whole[..7]),
            more(&whole[7..]),
        ],
    ] {
        let shown = format!("{deltas:?}");
        let answers = [streamed(deltas, "tool_calls"), done()];
        let paid = pays(at, answers, true).await;
        assert_eq!(
            paid.payments,
            [json!({ "to": "Ada", "cents": 900 })],
            "{shown}"
        );
    }
}

/// Returns a conversation with calls of these ids, one a turn.
fn turns(ids: &[&str]) -> History {
    let mut history = History::from(vec![user("hi")]);
    for id in ids {
        history.push(said("", &[call(id, "list", "{}")]));
        history.push(result(id, "list", "[]"));
    }
    history
}

async fn sent(history: &History, is_responses: bool) -> Value {
    let hello = match is_responses {
        true => crate::responses::document(),
        false => crate::HELLO.to_owned(),
    };
    let server = replies(Answer::json(200, &hello)).await;
    let model = client(&server);
    let model = if is_responses {
        model.responses()
    } else {
        model
    };
    model.chat(Request::new(history)).await.unwrap();
    bodies(&server).remove(0)
}

#[tokio::test]
async fn ids_are_unique_in_a_conversation() {
    let history = turns(&["list:0", "list:0", "call_1", "list:0"]);
    let chat = sent(&history, false).await;
    let messages = chat["messages"].as_array().unwrap();
    let ids = |key: &str| -> Vec<Value> {
        let found = messages.iter().filter_map(|message| message.pointer(key));
        found.cloned().collect()
    };
    let expect = [
        json!("list:0"),
        json!("list:0_2"),
        json!("call_1"),
        json!("list:0_3"),
    ];
    assert_eq!(ids("/tool_calls/0/id"), expect);
    assert_eq!(ids("/tool_call_id"), expect);
    let responses = sent(&history, true).await;
    let items = responses["input"].as_array().unwrap().iter();
    let ids: Vec<_> = items
        .filter_map(|item| item.get("call_id").cloned())
        .collect();
    let twice: Vec<_> = expect
        .iter()
        .flat_map(|id| [id.clone(), id.clone()])
        .collect();
    assert_eq!(ids, twice);
}

#[tokio::test]
async fn a_conversation_that_grows_keeps_its_bytes() {
    let server = replies(Answer::json(200, crate::HELLO)).await;
    let model = client(&server);
    let mut history = turns(&["a", "a"]);
    model.chat(Request::new(&history)).await.unwrap();
    history.push(said("", &[call("a", "list", "{}")]));
    history.push(result("a", "list", "[]"));
    model.chat(Request::new(&history)).await.unwrap();
    model
        .chat(Request::new(&turns(&["a", "a", "a"])))
        .await
        .unwrap();
    let bodies: Vec<_> = server.seen().into_iter().map(|seen| seen.body).collect();
    let prefix = bodies[0].strip_suffix("]}").unwrap();
    assert!(bodies[1].starts_with(prefix), "{bodies:?}");
    // Written in one go, the conversation has the same bytes.
    assert_eq!(bodies[1], bodies[2]);
}
