//! The protocol Responses: requests, replies, and every split and cut of them.

use crate::{bodies, call, client, listen, replies, result, said, tools, user};
use agents_core::model::{
    Content, FinishReason, History, Media, Message, Model, ModelErrorKind, Reply, Request,
};
use agents_http::{
    Decoder, Ending, Problem,
    testing::{Answer, Server},
};
use agents_openai::ResponsesReply;
use serde_json::{Value, json};

/// Items of a reply: reasoning, a text, and a call.
fn items() -> Value {
    json!([
        { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "gAAA" },
        { "type": "message", "id": "msg_1", "role": "assistant", "content": [{ "type": "output_text", "text": "Lookíng", "annotations": [] }] },
        { "type": "function_call", "id": "fc_1", "call_id": "a", "name": "read_file", "arguments": "{\"path\": \"x\"}" },
        { "type": "web_search_call", "id": "ws_1", "status": "completed", "action": { "type": "search", "query": "x" } },
    ])
}

fn response(status: &str, output: Value) -> Value {
    let usage = json!({ "input_tokens": 10, "output_tokens": 2, "input_tokens_details": { "cached_tokens": 4 } });
    json!({ "id": "resp_1", "status": status, "output": output, "error": null, "incomplete_details": null, "usage": usage })
}

pub(crate) fn document() -> String {
    response("completed", items()).to_string()
}

/// Returns a stream of the same reply, whose last event has the items or not.
fn stream(has_items: bool) -> String {
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", json!([])) }),
        json!({ "type": "response.reasoning_summary_text.delta", "delta": "hm" }),
        json!({ "type": "response.output_text.delta", "delta": "Look" }),
        json!({ "type": "response.output_text.delta", "delta": "íng" }),
        json!({ "type": "response.function_call_arguments.delta", "delta": "{\"path\"" }),
        json!({ "type": "response.something_new" }),
    ];
    for item in items().as_array().unwrap() {
        events.push(json!({ "type": "response.output_item.done", "item": item }));
    }
    let output = if has_items { items() } else { json!([]) };
    events.push(json!({ "type": "response.completed", "response": response("completed", output) }));
    let lines = events.iter().map(|event| {
        let name = event["type"].as_str().unwrap();
        format!("event: {name}\ndata: {event}\n\n")
    });
    lines.collect()
}

fn decode(body: &[u8], chunk: usize, ending: Ending) -> (Reply, Result<(), Problem>) {
    let mut decoder = Decoder::new(ResponsesReply::default());
    let read = body
        .chunks(chunk)
        .try_for_each(|piece| decoder.on(piece, None))
        .and_then(|()| decoder.end(ending, None));
    (decoder.into_reply(), read)
}

#[test]
fn a_document_and_a_stream_give_the_same_reply_however_they_are_split() {
    let (expect, read) = decode(document().as_bytes(), usize::MAX, Ending::Closed);
    assert_eq!(read, Ok(()));
    assert_eq!(expect.content, "Lookíng");
    assert_eq!(expect.thinking.as_deref(), Some("hm"));
    assert_eq!(expect.calls, [call("a", "read_file", "{\"path\": \"x\"}")]);
    assert_eq!(expect.finish, FinishReason::ToolCalls);
    assert_eq!(
        (expect.usage.input_tokens, expect.usage.cached_tokens),
        (10, 4)
    );
    for body in [document(), stream(true), stream(false)] {
        for chunk in 1..200 {
            let (reply, read) = decode(body.as_bytes(), chunk, Ending::Closed);
            assert_eq!((&reply, read), (&expect, Ok(())), "{chunk} bytes of {body}");
        }
        for cut in 0..body.len() {
            let (reply, read) = decode(&body.as_bytes()[..cut], usize::MAX, Ending::BrokeOff);
            assert_eq!(read, Err(Problem::Unfinished), "{cut} bytes of {body}");
            assert!(
                expect.content.starts_with(&reply.content)
                    && expect.calls.starts_with(&reply.calls)
            );
        }
    }
}

#[test]
fn how_a_reply_may_end() {
    let message = |part: Value| json!([{ "type": "message", "content": [part] }]);
    let text = message(json!({ "type": "output_text", "text": "I" }));
    let mut cut = response("incomplete", text.clone());
    cut["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    let mut filtered = response("incomplete", text);
    filtered["incomplete_details"] = json!({ "reason": "content_filter" });
    let refused = response(
        "completed",
        message(json!({ "type": "refusal", "refusal": "No." })),
    );
    for (body, finish) in [
        (cut, FinishReason::Length),
        (filtered, FinishReason::Filter),
        (refused, FinishReason::Refusal),
    ] {
        let (reply, read) = decode(body.to_string().as_bytes(), usize::MAX, Ending::Closed);
        assert_eq!((read, &reply.finish), (Ok(()), &finish), "{body}");
        assert_eq!(reply.refusal.is_some(), finish == FinishReason::Refusal);
    }
}

/// Returns the call of a stream with these events of one call, and these items at its end.
fn streamed_call(events: &[Value], output: Value) -> Vec<(String, String, String)> {
    let mut body = String::new();
    for event in events {
        body += &format!("data: {event}\n\n");
    }
    let last = json!({ "type": "response.completed", "response": response("completed", output) });
    body += &format!("data: {last}\n\n");
    let (reply, read) = decode(body.as_bytes(), usize::MAX, Ending::Closed);
    assert_eq!(read, Ok(()), "{body}");
    for chunk in [1, 7] {
        assert_eq!(decode(body.as_bytes(), chunk, Ending::Closed).0, reply);
    }
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    let calls = reply.calls.into_iter();
    calls
        .map(|call| (call.id, call.name, call.arguments))
        .collect()
}

#[test]
fn the_parts_of_a_call_agree() {
    let item = |args: &str| json!({ "type": "function_call", "id": "fc_1", "call_id": "a", "name": "read_file", "arguments": args });
    let added =
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item("") });
    let delta = |text: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc_1", "delta": text });
    let set = |args: &str| json!({ "type": "response.function_call_arguments.done", "output_index": 0, "item_id": "fc_1", "arguments": args });
    let done = |args: &str| json!({ "type": "response.output_item.done", "output_index": 0, "item": item(args) });
    let (args, none) = (r#"{"path":"x"}"#, json!([]));
    let expect = [("a".to_owned(), "read_file".to_owned(), args.to_owned())];
    let (first, rest) = args.split_at(5);
    let mut unnamed = delta(args);
    unnamed.as_object_mut().unwrap().remove("item_id");
    unnamed.as_object_mut().unwrap().remove("output_index");
    for (events, output) in [
        // The item says nothing, or less.
        (
            vec![added.clone(), delta(first), delta(rest), done("{}")],
            json!([item("{}")]),
        ),
        (vec![added.clone(), set(args), done("")], json!([item("")])),
        (
            vec![added.clone(), delta(first), set(args), done("{}")],
            none.clone(),
        ),
        (
            vec![added.clone(), delta(args), set("{}"), done(first)],
            none.clone(),
        ),
        (vec![added.clone(), unnamed], none.clone()),
        // The item never arrives as a whole.
        (vec![added.clone(), delta(args)], none.clone()),
        (vec![added.clone(), set(args)], none.clone()),
        (
            vec![json!({ "type": "response.output_item.added", "item": item(args) })],
            none.clone(),
        ),
        // The item begins twice.
        (
            vec![added.clone(), added.clone(), delta(args), done("{}")],
            none.clone(),
        ),
        // The fragments come before the item, or the item alone.
        (vec![delta(args), done("{}")], none.clone()),
        (vec![done(args)], none.clone()),
        (
            vec![added.clone(), delta("{"), done(args)],
            json!([item(args)]),
        ),
        (vec![], json!([item(args)])),
    ] {
        assert_eq!(streamed_call(&events, output), expect, "{events:?}");
    }
    // Two calls at once, of which one has no item at the end.
    let other = json!({ "type": "function_call", "id": "fc_2", "call_id": "b", "name": "now", "arguments": "{}" });
    let begun = json!({ "type": "response.output_item.added", "output_index": 1, "item": other });
    let events = [added, begun, delta(args)];
    let found = streamed_call(&events, json!([other]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&expect[0]), "{found:?}");
}

#[test]
fn errors_within_a_reply() {
    let mut failed = response("failed", json!([]));
    failed["error"] = json!({ "code": "server_error", "message": "it failed" });
    let event = json!({ "type": "response.failed", "response": failed });
    let error = json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow down" });
    for (body, kind, message) in [
        (failed.to_string(), ModelErrorKind::Interrupted, "it failed"),
        (
            format!("data: {event}\n\n"),
            ModelErrorKind::Interrupted,
            "it failed",
        ),
        (
            format!("data: {error}\n\n"),
            ModelErrorKind::Overloaded,
            "slow down",
        ),
    ] {
        let (_, read) = decode(body.as_bytes(), usize::MAX, Ending::Closed);
        let expect = Problem::Reported {
            kind,
            message: message.to_owned(),
        };
        assert_eq!(read, Err(expect), "{body}");
    }
    for body in [
        "{}",
        "<html>",
        "data: [DONE]\n\n",
        "{\"status\": \"queued\"}",
    ] {
        assert!(
            decode(body.as_bytes(), usize::MAX, Ending::Closed)
                .1
                .is_err(),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_conversation_with_reasoning_calls_and_images() {
    let server = Server::plays([
        Answer::pieces([stream(true)]),
        Answer::json(200, &document()),
    ])
    .await;
    let model = client(&server)
        .responses()
        .max_tokens(100)
        .reasoning_effort("low");
    let image = Media::bytes("image/png", b"PNG").unwrap();
    let question = Content::from("What is this?").with(image.clone());
    let tools = tools();
    let mut history = History::from(vec![
        Message::System {
            content: "Be brief.".into(),
        },
        Message::User { content: question },
    ]);
    let (reply, heard) = listen(&model, Request::new(&history).with_tools(&tools)).await;
    let reply = reply.unwrap();
    assert_eq!(heard, ["(hm)", "Look", "íng"]);
    history.push(Message::Assistant {
        content: reply.content,
        thinking: reply.thinking,
        calls: reply.calls,
    });
    history.push(Message::Tool {
        tool_call_id: "a".into(),
        name: "read_file".into(),
        content: Content::from("text").with(image),
    });
    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();

    assert!(
        server.seen()[0]
            .head
            .starts_with("POST /v1/responses HTTP/1.1")
    );
    let sent = bodies(&server);
    for (field, value) in [
        ("stream", json!(true)),
        ("store", json!(false)),
        ("include", json!(["reasoning.encrypted_content"])),
        ("max_output_tokens", json!(100)),
        ("reasoning", json!({ "effort": "low" })),
    ] {
        assert_eq!(sent[0][field], value, "{field}");
    }
    let tool = &sent[0]["tools"][0];
    assert_eq!(
        (&tool["type"], &tool["name"], &tool["strict"]),
        (&json!("function"), &json!("read_file"), &json!(false))
    );
    assert_eq!(tool["parameters"]["required"], json!(["path"]));
    let png = json!({ "type": "input_image", "image_url": "data:image/png;base64,UE5H" });
    assert_eq!(
        sent[1]["input"],
        json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": [{ "type": "input_text", "text": "What is this?" }, png] },
            items()[0],
            { "role": "assistant", "content": "Lookíng" },
            { "type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{\"path\": \"x\"}" },
            items()[3],
            { "type": "function_call_output", "call_id": "a", "output": [{ "type": "input_text", "text": "text" }, png] },
        ])
    );
}

#[tokio::test]
async fn reasoning_of_another_provider_stays_away_and_a_schema_is_sent() {
    let server = replies(Answer::json(200, &document())).await;
    let model = client(&server).responses();
    let thinking = agents_core::model::Thinking::from("hm").with_opaque("anthropic", "[\"sig\"]");
    let calls = [call("a", "read_file", "{}")];
    let history = History::from(vec![
        user("hi"),
        Message::Assistant {
            content: "Wait.".into(),
            thinking: Some(thinking),
            calls: calls.to_vec(),
        },
        result("a", "read_file", "text"),
        said("Done.", &[]),
    ]);
    let schema = json!({ "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"] });
    model
        .chat(Request::new(&history).with_format(&schema))
        .await
        .unwrap();
    let body = &bodies(&server)[0];
    assert_eq!(
        body["input"],
        json!([
            { "role": "user", "content": "hi" },
            { "role": "assistant", "content": "Wait." },
            { "type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "a", "output": "text" },
            { "role": "assistant", "content": "Done." },
        ])
    );
    assert_eq!(
        (
            &body["text"]["format"]["type"],
            &body["text"]["format"]["strict"]
        ),
        (&json!("json_schema"), &json!(true))
    );
}
