//! Requests on the wire.

use crate::{
    HELLO, HELLO_STREAM, ask, at, bodies, call, client, decoding, listen, messages, replies,
    result, said, sent, system, text, tool_use, tools, user,
};
use agents_anthropic::{PromptCache, anthropic};
use agents_core::model::{Capabilities, Content, History, Media, Message, Model, Request};
use agents_http::testing::{Answer, Server, check_schemas, check_streaming};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_simple_request() {
    let server = replies(Answer::json(200, HELLO)).await;
    let reply = ask(&client(&server).api_key("hunter2")).await.unwrap();
    assert_eq!(reply.content, "hello");
    let seen = server.seen().remove(0);
    assert!(
        seen.head.starts_with("POST /v1/messages HTTP/1.1\r\n"),
        "{}",
        seen.head
    );
    for header in [
        "x-api-key: hunter2",
        "anthropic-version: 2023-06-01",
        "content-type: application/json",
    ] {
        assert!(seen.head.contains(header), "{header} in {}", seen.head);
    }
    let expect = json!({
        "model": "claude-sonnet-5", "max_tokens": 32_000,
        "messages": [{ "role": "user", "content": [text("hi")] }],
    });
    assert_eq!(serde_json::from_str::<Value>(&seen.body).unwrap(), expect);
}

#[tokio::test]
async fn a_stream_gives_the_same_reply_and_its_pieces() {
    check_streaming(HELLO, HELLO_STREAM, &["hel", "lo"], at).await;
    let server = replies(Answer::pieces([decoding::two_calls()])).await;
    let history = History::from(vec![user("hi")]);
    let (_, heard) = listen(&client(&server), Request::new(&history)).await;
    assert_eq!(heard, ["(h…)", "(m)", "Lookíng"]);
    assert_eq!(bodies(&server)[0]["stream"], true);
}

#[tokio::test]
async fn settings_of_a_model() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server)
        .auth_token("hunter2")
        .version("2024-01-01")
        .beta("one")
        .beta("two")
        .temperature(0.5)
        .max_tokens(100)
        .stop(["END"])
        .adaptive_thinking()
        .effort("low")
        .header("x-title", "mine")
        .body("top_p", 0.9)
        .body("top_p", 0.8);
    ask(&model).await.unwrap();
    let expect = json!({
        "model": "claude-sonnet-5", "max_tokens": 100, "temperature": 0.5, "stop_sequences": ["END"], "top_p": 0.8,
        "thinking": { "type": "adaptive" }, "output_config": { "effort": "low" },
        "messages": [{ "role": "user", "content": [text("hi")] }],
    });
    assert_eq!(bodies(&server)[0], expect);
    let head = &server.seen()[0].head;
    for header in [
        "authorization: Bearer hunter2",
        "anthropic-version: 2024-01-01",
        "anthropic-beta: one,two",
        "x-title: mine",
    ] {
        assert!(head.contains(header), "{header} in {head}");
    }
}

#[tokio::test]
async fn the_results_of_one_reply_go_back_in_one_message() {
    let calls = [
        call("a", "read_file", r#"{"path": "x"}"#),
        call("functions.b:1", "read file!", "{\"path"),
        call("c", "now", ""),
    ];
    let conversation = vec![
        system("Be brief."),
        user("hi"),
        said("", &calls),
        result("a", "read_file", "text"),
        result("functions.b:1", "read file!", "ERROR invalid arguments"),
        result("c", "now", ""),
        user("Go on."),
        said("Done.", &[]),
        said("", &[]),
        user(" "),
    ];
    let history = History::from(conversation);
    let body = sent(Request::new(&history)).await;
    assert_eq!(body["system"], json!([text("Be brief.")]));
    let expect = json!([
        { "role": "user", "content": [text("hi")] },
        { "role": "assistant", "content": [
            tool_use("a", "read_file", json!({ "path": "x" })),
            // The server refuses input that is no object, and names and ids with other characters.
            tool_use("functions_b_1", "read_file_", json!({ "malformed_arguments": "{\"path" })),
            tool_use("c", "now", json!({})),
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "a", "content": [text("text")] },
            { "type": "tool_result", "tool_use_id": "functions_b_1", "content": [text("ERROR invalid arguments")], "is_error": true },
            { "type": "tool_result", "tool_use_id": "c", "content": [] },
            text("Go on."),
        ] },
        { "role": "assistant", "content": [text("Done.")] },
        { "role": "user", "content": [text("(nothing)")] },
    ]);
    assert_eq!(body["messages"], expect);
}

#[tokio::test]
async fn t8_tools_and_one_call_at_a_time() {
    let history = History::from(vec![user("hi")]);
    let tools = tools();
    let body = sent(Request::new(&history).with_tools(&tools)).await;
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let expect = json!([{ "name": "read_file", "description": "Read a file's contents.", "input_schema": schema }]);
    assert_eq!(body["tools"], expect);
    assert_eq!(body.get("tool_choice"), None);

    let server = replies(Answer::json(200, HELLO)).await;
    let able = Capabilities {
        parallel_calls: false,
        ..Capabilities::default()
    };
    let search = json!({ "type": "web_search_20250305", "name": "web_search" });
    let model = client(&server)
        .capable_of(able)
        .prompt_cache(PromptCache::Off)
        .body("tools", json!([search]));
    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    let body = &bodies(&server)[0];
    assert_eq!(
        body["tool_choice"],
        json!({ "type": "auto", "disable_parallel_tool_use": true })
    );
    assert_eq!(body["tools"][1], search);
    ask(&model).await.unwrap();
    assert_eq!(bodies(&server)[1]["tools"], json!([search]));
}

#[tokio::test]
async fn images_and_documents() {
    let image = Media::bytes("image/png", b"PNG").unwrap();
    let page = Media::url("application/pdf", "https://example.com/a.pdf").named("a.pdf");
    let notes = Media::bytes("text/markdown", "# é".as_bytes()).unwrap();
    let content = Content::from("What is this?")
        .with(image.clone())
        .with(page)
        .with(notes);
    let shown = Message::Tool {
        tool_call_id: "a".into(),
        name: "look".into(),
        content: Content::from("").with(image),
    };
    let conversation = vec![
        Message::User { content },
        said("", &[call("a", "look", "{}")]),
        shown,
    ];
    let messages = messages(conversation).await;
    let png = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "UE5H" } });
    let expect = json!([
        text("What is this?"),
        png,
        { "type": "document", "title": "a.pdf", "source": { "type": "url", "url": "https://example.com/a.pdf" } },
        { "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "# é" } },
    ]);
    assert_eq!(messages[0]["content"], expect);
    assert_eq!(messages[2]["content"][0]["content"], json!([png]));
}

#[tokio::test]
async fn structured_output() {
    let history = History::from(vec![user("hi")]);
    let schema = json!({ "type": "object", "properties": { "x": { "type": "integer", "minimum": 0 } }, "required": ["x"] });
    let body = sent(Request::new(&history).with_format(&schema)).await;
    let closed = json!({
        "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"], "additionalProperties": false,
    });
    assert_eq!(
        body["output_config"],
        json!({ "format": { "type": "json_schema", "schema": closed } })
    );
    // The prompt alone has to do for an answer that is no object, and for a model that follows no schema.
    let number = json!({ "type": "integer" });
    let body = sent(Request::new(&history).with_format(&number)).await;
    assert_eq!(body.get("output_config"), None);
    let server = replies(Answer::json(200, HELLO)).await;
    let old = anthropic("claude-sonnet-4-20250514").base_url(&server.url);
    old.chat(Request::new(&history).with_format(&schema))
        .await
        .unwrap();
    assert_eq!(bodies(&server)[0].get("output_config"), None);
}

#[tokio::test]
async fn a_model_without_tools_is_offered_them_by_prompt() {
    let server = replies(Answer::json(200, HELLO)).await;
    let able = Capabilities {
        tools: false,
        ..Capabilities::default()
    };
    let model = client(&server)
        .capable_of(able)
        .prompt_cache(PromptCache::Off);
    let tools = tools();
    let mut history = History::from(vec![system("Be brief."), user("hi")]);
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
    let described = bodies[0]["system"][0]["text"].as_str().unwrap();
    assert!(
        described.starts_with("Be brief.\n\n## read_file"),
        "{described}"
    );
    let (first, second) = (
        bodies[0]["messages"].as_array().unwrap(),
        bodies[1]["messages"].as_array().unwrap(),
    );
    assert_eq!(&second[..first.len()], &first[..]);
    let last = &second.last().unwrap()["content"][0]["text"];
    assert_eq!(
        last,
        "Result of read_file: text\nAnswer now, or call again."
    );
}

#[tokio::test]
async fn messages_are_encoded_once_and_connections_are_kept() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server).prompt_cache(PromptCache::Off);
    let mut history = History::from(vec![system("Be brief."), user("one")]);
    model.chat(Request::new(&history)).await.unwrap();
    history.push(said("hello", &[]));
    history.push(user("two"));
    model.chat(Request::new(&history)).await.unwrap();
    // Another client continues where this one was.
    client(&server)
        .prompt_cache(PromptCache::Off)
        .chat(Request::new(&history))
        .await
        .unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies[1]["messages"].as_array().unwrap().len(), 3);
    assert_eq!(bodies[1]["messages"][0], bodies[0]["messages"][0]);
    assert_eq!(bodies[2], bodies[1]);
    assert!(server.seen().iter().all(|seen| seen.connection == 0));
}

#[tokio::test]
async fn rate_limits_of_a_reply() {
    let head = "anthropic-ratelimit-requests-remaining: 59\r\nanthropic-ratelimit-input-tokens-remaining: 9\r\n\
                anthropic-ratelimit-tokens-remaining: 149984\r\nanthropic-ratelimit-output-tokens-remaining: 8\r\n";
    let server = Server::plays([Answer::with_head(200, head, HELLO)]).await;
    let limits = ask(&client(&server)).await.unwrap().rate_limits.unwrap();
    assert_eq!(
        (limits.requests_left, limits.tokens_left),
        (Some(59), Some(149_984))
    );
}

#[tokio::test]
async fn an_address_may_end_with_its_version() {
    let server = replies(Answer::json(200, HELLO)).await;
    ask(&anthropic("m").base_url(format!("{}/api/v1/", server.url)))
        .await
        .unwrap();
    assert!(
        server.seen()[0].head.starts_with("POST /api/v1/messages "),
        "{}",
        server.seen()[0].head
    );
}

#[test]
fn debug_shows_the_settings_and_no_secrets() {
    let model = anthropic("m")
        .base_url("https://me:hunter2@example.com?key=hunter2")
        .api_key("hunter2")
        .auth_token("hunter2")
        .header("x-key", "hunter2")
        .temperature(0.5)
        .timeout(Duration::from_secs(9));
    let shown = format!("{model:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    for part in [
        "anthropic/m",
        "https://example.com",
        "temperature: 0.5",
        "timeout: 9s",
        "x-api-key: ***",
        "FiveMinutes",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[tokio::test]
async fn schemas_of_tools_and_answers_in_a_dialect_that_the_program_sets() {
    let (tool, answer) = ("/tools/0/input_schema", "/output_config/format/schema");
    check_schemas(HELLO, tool, answer, |url, dialect| match dialect {
        Some(dialect) => at(url).schemas(dialect),
        None => at(url),
    })
    .await;
}
