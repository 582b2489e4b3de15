//! Requests on the wire.

use crate::{
    HELLO, HELLO_STREAM, ask, at, bodies, call, client, listen, replies, result, said, tools, user,
};
use agents_core::model::{
    Capabilities, Content, History, Media, Message, Model, Request, Thinking,
};
use agents_http::testing::{Answer, Server, check_schemas, check_streaming};
use agents_http::{Dialect, References};
use serde_json::{Value, json};
use std::time::Duration;

async fn sent(request: Request<'_>) -> Value {
    let server = replies(Answer::json(200, HELLO)).await;
    client(&server).chat(request).await.unwrap();
    bodies(&server).remove(0)
}

async fn messages(messages: Vec<Message>) -> Value {
    let history = History::from(messages);
    sent(Request::new(&history)).await["messages"].clone()
}

#[tokio::test]
async fn a_simple_request() {
    let server = replies(Answer::json(200, HELLO)).await;
    let reply = ask(&client(&server).api_key("hunter2")).await.unwrap();
    assert_eq!(reply.content, "hello");
    let seen = server.seen().remove(0);
    assert!(
        seen.head
            .starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{}",
        seen.head
    );
    assert!(
        seen.head.contains("authorization: Bearer hunter2"),
        "{}",
        seen.head
    );
    let expect =
        json!({ "model": "m", "stream": false, "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(serde_json::from_str::<Value>(&seen.body).unwrap(), expect);
}

#[tokio::test]
async fn a_stream_gives_the_same_reply_and_its_pieces() {
    check_streaming(HELLO, HELLO_STREAM, &["hel", "lo"], at).await;
    let server = replies(Answer::pieces([HELLO_STREAM])).await;
    let history = History::from(vec![user("hi")]);
    let (reply, _) = listen(&client(&server), Request::new(&history)).await;
    reply.unwrap();
    let body = &bodies(&server)[0];
    assert_eq!(
        (&body["stream"], &body["stream_options"]),
        (&json!(true), &json!({ "include_usage": true }))
    );
}

#[tokio::test]
async fn settings_of_a_model() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server)
        .temperature(0.5)
        .max_tokens(100)
        .reasoning_effort("low")
        .seed(7)
        .stop(["END"])
        .organization("org-1")
        .header("x-title", "mine")
        .body("top_p", 0.9)
        .seed(8);
    ask(&model).await.unwrap();
    let expect = json!({
        "model": "m", "stream": false, "max_tokens": 100, "temperature": 0.5, "reasoning_effort": "low", "seed": 8,
        "stop": ["END"], "top_p": 0.9, "messages": [{ "role": "user", "content": "hi" }],
    });
    assert_eq!(bodies(&server)[0], expect);
    let head = &server.seen()[0].head;
    assert!(
        head.contains("openai-organization: org-1") && head.contains("x-title: mine"),
        "{head}"
    );
}

#[tokio::test]
async fn a_field_that_a_server_does_not_know_can_be_left_out() {
    let server = replies(Answer::pieces([HELLO_STREAM])).await;
    let history = History::from(vec![user("hi")]);
    let model = client(&server).body("stream_options", Value::Null);
    listen(&model, Request::new(&history)).await.0.unwrap();
    assert_eq!(bodies(&server)[0].get("stream_options"), None);
}

#[tokio::test]
async fn a_conversation_with_calls() {
    let calls = [
        call("a", "read_file", r#"{"path": "x"}"#),
        call("b", "read file!", "{\"path"),
    ];
    let conversation = vec![
        Message::System {
            content: "Be brief.".into(),
        },
        user("hi"),
        said("", &calls),
        result("a", "read_file", "text"),
        result("b", "read file!", "ERROR"),
        said("Done.", &[]),
    ];
    let expect = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "a", "type": "function", "function": { "name": "read_file", "arguments": "{\"path\": \"x\"}" } },
            // Most servers refuse arguments that are no object, and names with other characters.
            { "id": "b", "type": "function", "function": { "name": "read_file_", "arguments": "{\"malformed_arguments\":\"{\\\"path\"}" } },
        ] },
        { "role": "tool", "content": "text", "tool_call_id": "a" },
        { "role": "tool", "content": "ERROR", "tool_call_id": "b" },
        { "role": "assistant", "content": "Done." },
    ]);
    assert_eq!(messages(conversation).await, expect);
}

#[tokio::test]
async fn t8_tools_are_function_declarations() {
    let history = History::from(vec![user("hi")]);
    let tools = tools();
    let body = sent(Request::new(&history).with_tools(&tools)).await;
    assert_eq!(body["tools"][0]["type"], "function");
    assert_eq!(body["tools"][0]["function"]["name"], "read_file");
    assert_eq!(body.get("parallel_tool_calls"), None);

    let server = replies(Answer::json(200, HELLO)).await;
    let able = Capabilities {
        parallel_calls: false,
        ..Capabilities::default()
    };
    let model = client(&server).capable_of(able);
    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    assert_eq!(bodies(&server)[0]["parallel_tool_calls"], false);
}

#[tokio::test]
async fn images_and_files() {
    let image = Media::bytes("image/png", b"PNG").unwrap();
    let page = Media::url("application/pdf", "https://example.com/a.pdf").named("a.pdf");
    let content = Content::from("What is this?")
        .with(image.clone())
        .with(page);
    let shown = Message::Tool {
        tool_call_id: "a".into(),
        name: "look".into(),
        content: Content::from("a picture").with(image),
    };
    let calls = [call("a", "look", "{}"), call("b", "look", "{}")];
    let conversation = vec![
        Message::User { content },
        said("", &calls),
        shown,
        result("b", "look", "nothing"),
    ];
    let messages = messages(conversation).await;
    let png = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,UE5H" } });
    assert_eq!(
        messages[0]["content"],
        json!([
            { "type": "text", "text": "What is this?" },
            png,
            { "type": "file", "file": { "filename": "a.pdf", "file_data": "https://example.com/a.pdf" } },
        ])
    );
    // Results are texts alone; their images follow behind the last one.
    assert_eq!(messages[2]["content"], "a picture");
    assert_eq!(messages[3]["content"], "nothing");
    assert_eq!(messages[4]["role"], "user");
    assert_eq!(messages[4]["content"][1], png);
}

#[tokio::test]
async fn structured_output() {
    let history = History::from(vec![user("hi")]);
    let schema = json!({ "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"] });
    let body = sent(Request::new(&history).with_format(&schema)).await;
    let format = &body["response_format"];
    assert_eq!(
        (&format["type"], &format["json_schema"]["strict"]),
        (&json!("json_schema"), &json!(true))
    );
    // No server holds a model to an answer that is no object.
    let number = json!({ "type": "integer" });
    let body = sent(Request::new(&history).with_format(&number)).await;
    assert_eq!(body.get("response_format"), None);
}

#[tokio::test]
async fn a_model_without_tools_is_offered_them_by_prompt() {
    let server = replies(Answer::json(200, HELLO)).await;
    let able = Capabilities {
        tools: false,
        ..Capabilities::default()
    };
    let model = client(&server).capable_of(able);
    let tools = tools();
    let mut history = History::from(vec![
        Message::System {
            content: "Be brief.".into(),
        },
        user("hi"),
    ]);
    let reply = model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    assert!(reply.prompted);
    history.push(said("", &[call("", "read_file", r#"{"path": "x"}"#)]));
    history.push(result("", "read_file", "text"));
    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies[1].get("tools"), None);
    let (first, second) = (
        &bodies[0]["messages"],
        bodies[1]["messages"].as_array().unwrap(),
    );
    let system = first[0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n## read_file"), "{system}");
    assert_eq!(
        &second[..first.as_array().unwrap().len()],
        &first.as_array().unwrap()[..]
    );
    let last = second.last().unwrap();
    assert_eq!(
        last["content"],
        "Result of read_file: text\nAnswer now, or call again."
    );
}

#[tokio::test]
async fn reasoning_goes_back_with_the_calls_that_it_led_to() {
    let thinking = |body: &str| {
        let mut decoder = agents_http::Decoder::new(agents_openai::ChatReply::default());
        decoder.on(body.as_bytes(), None).unwrap();
        decoder.end(agents_http::Ending::Closed, None).unwrap();
        decoder.into_reply().thinking
    };
    let text =
        thinking(r#"{"choices":[{"message":{"reasoning_content":"hm"},"finish_reason":"stop"}]}"#);
    let signed = thinking(concat!(
        "data: {\"choices\":[{\"delta\":{\"reasoning\":\"h\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"h\"}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"reasoning\":\"m\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"m\",\"signature\":\"s\"}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    ));
    let foreign = Some(Thinking::from("hm").with_opaque("anthropic", "sig"));
    let message = |thinking: &Option<Thinking>, calls: &[_]| Message::Assistant {
        content: String::new(),
        thinking: thinking.clone(),
        calls: calls.to_vec(),
    };
    let calls = [call("a", "read_file", "{}")];
    let sent = messages(vec![
        message(&text, &calls),
        message(&signed, &calls),
        message(&foreign, &calls),
        message(&text, &[]),
    ])
    .await;
    assert_eq!(sent[0]["reasoning_content"], "hm");
    let details = json!([{ "type": "reasoning.text", "index": 0, "text": "hm", "signature": "s" }]);
    assert_eq!(sent[1]["reasoning_details"], details);
    // Reasoning of another provider stays away, and so does reasoning that led to no call.
    for message in [&sent[2], &sent[3]] {
        assert!(!message.to_string().contains("hm"), "{message}");
    }
}

#[tokio::test]
async fn messages_are_encoded_once() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let model = client(&server);
    let mut history = History::from(vec![user("one")]);
    model.chat(Request::new(&history)).await.unwrap();
    history.push(said("hello", &[]));
    history.push(user("two"));
    model.chat(Request::new(&history)).await.unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies[1]["messages"].as_array().unwrap().len(), 3);
    assert_eq!(bodies[1]["messages"][0], bodies[0]["messages"][0]);
    // All requests take the same connection.
    assert!(server.seen().iter().all(|seen| seen.connection == 0));
}

#[tokio::test]
async fn names_of_models() {
    let server = replies(Answer::json(
        200,
        r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#,
    ))
    .await;
    assert_eq!(client(&server).models().await.unwrap(), ["a", "b"]);
    assert!(server.seen()[0].head.starts_with("GET /v1/models HTTP/1.1"));
}

#[tokio::test]
async fn rate_limits_of_a_reply() {
    let head = "x-ratelimit-remaining-requests: 59\r\nx-ratelimit-remaining-tokens: 149984\r\nx-ratelimit-limit-requests: 60\r\n";
    let server = replies(Answer::with_head(200, head, HELLO)).await;
    let limits = ask(&client(&server)).await.unwrap().rate_limits.unwrap();
    assert_eq!(
        (limits.requests_left, limits.tokens_left),
        (Some(59), Some(149_984))
    );
}

#[tokio::test(start_paused = true)]
async fn debug_shows_the_settings_and_no_secrets() {
    let model = agents_openai::openai("m")
        .base_url("https://me:hunter2@example.com/v1?key=hunter2")
        .api_key("hunter2")
        .header("x-key", "hunter2")
        .temperature(0.5)
        .timeout(Duration::from_secs(9));
    let shown = format!("{model:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    for part in [
        "openai/m",
        "https://example.com/v1",
        "temperature: 0.5",
        "timeout: 9s",
        "authorization: ***",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[tokio::test]
async fn schemas_of_tools_and_answers_in_a_dialect_that_the_program_sets() {
    let (tool, answer) = (
        "/tools/0/function/parameters",
        "/response_format/json_schema/schema",
    );
    check_schemas(HELLO, tool, answer, |url, dialect| match dialect {
        Some(dialect) => at(url).schemas(dialect),
        None => at(url),
    })
    .await;

    // The other protocol, with strict schemas in which no reference is left.
    let (history, tools) = (History::from(vec![user("hi")]), tools());
    let strict = Dialect {
        references: References::Inlined,
        ..Dialect::OPENAI
    };
    let schema = json!({
        "type": "object", "properties": { "x": { "$ref": "#/$defs/Size" } }, "required": ["x"],
        "$defs": { "Size": { "type": "integer" } },
    });
    let request = Request::new(&history)
        .with_tools(&tools)
        .with_format(&schema);
    let server = replies(Answer::json(200, &crate::responses::document())).await;
    let model = client(&server).responses().schemas(strict);
    model.chat(request).await.unwrap();
    let body = crate::bodies(&server).remove(0);
    assert_eq!(
        body["tools"][0]["parameters"]["additionalProperties"],
        false
    );
    let format = &body["text"]["format"];
    assert_eq!(format["strict"], true);
    assert_eq!(
        format["schema"],
        json!({
            "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"],
            "additionalProperties": false,
        })
    );
}
