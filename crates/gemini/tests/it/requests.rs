//! Requests on the wire.

use crate::{
    HELLO, HELLO_STREAM, ask, at, bodies, call, client, decoding, kept, listen, replies, result,
    said, system, tools, user,
};
use agents_core::model::{
    Capabilities, Content, History, Media, Message, Model, Reply, Request, Thinking, ToolCall,
};
use agents_gemini::gemini;
use agents_http::testing::{Answer, Server, check_schemas, check_streaming};
use serde_json::{Value, json};
use std::time::Duration;

async fn sent(request: Request<'_>) -> Value {
    let server = replies(Answer::json(200, HELLO)).await;
    client(&server).chat(request).await.unwrap();
    bodies(&server).remove(0)
}

async fn contents(messages: Vec<Message>) -> Value {
    let history = History::from(messages);
    sent(Request::new(&history)).await["contents"].clone()
}

fn response(name: &str, response: Value) -> Value {
    json!({ "functionResponse": { "name": name, "response": response } })
}

#[tokio::test]
async fn a_simple_request() {
    let server = replies(Answer::json(200, HELLO)).await;
    let reply = ask(&client(&server).api_key("hunter2")).await.unwrap();
    assert_eq!(reply.content, "hello");
    let seen = server.seen().remove(0);
    let line = "POST /v1beta/models/gemini-2.5-flash:generateContent HTTP/1.1\r\n";
    assert!(seen.head.starts_with(line), "{}", seen.head);
    assert!(
        seen.head.contains("x-goog-api-key: hunter2"),
        "{}",
        seen.head
    );
    let expect = json!({ "contents": [{ "role": "user", "parts": [{ "text": "hi" }] }] });
    assert_eq!(serde_json::from_str::<Value>(&seen.body).unwrap(), expect);
}

#[tokio::test]
async fn a_stream_gives_the_same_reply_and_its_pieces() {
    check_streaming(HELLO, HELLO_STREAM, &["hel", "lo"], at).await;
    let server = replies(Answer::pieces([decoding::stream(&decoding::TWO_CALLS)])).await;
    let history = History::from(vec![user("hi")]);
    let (_, heard) = listen(&client(&server), Request::new(&history)).await;
    assert_eq!(heard, ["(h…)", "(m)", "Look", "íng"]);
    let head = &server.seen()[0].head;
    assert!(head.contains(":streamGenerateContent?alt=sse "), "{head}");
}

#[tokio::test]
async fn settings_of_a_model() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server)
        .temperature(0.5)
        .max_tokens(100)
        .thinking_level("low")
        .show_thoughts()
        .seed(7)
        .stop(["END"])
        .header("x-title", "mine")
        .body("generationConfig", json!({ "topP": 0.9 }))
        .body("cachedContent", "cachedContents/1");
    ask(&model).await.unwrap();
    let expect = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "hi" }] }],
        "generationConfig": {
            "temperature": 0.5, "maxOutputTokens": 100, "seed": 7, "stopSequences": ["END"], "topP": 0.9,
            "thinkingConfig": { "thinkingLevel": "low", "includeThoughts": true },
        },
        "cachedContent": "cachedContents/1",
    });
    assert_eq!(bodies(&server)[0], expect);
    assert!(server.seen()[0].head.contains("x-title: mine"));
}

#[tokio::test]
async fn results_stand_in_the_order_of_their_calls() {
    let calls = [
        call("a", "read_file", r#"{"path": "x"}"#),
        call("b", "read_file", "{\"path"),
        call("c", "2 now!", ""),
    ];
    let results = [
        result("c", "2 now!", r#"{"time": "noon"}"#),
        result("b", "read_file", "ERROR invalid arguments"),
        result("a", "read_file", "text"),
    ];
    let mut conversation = vec![system("Be brief."), user("hi"), said("", &calls)];
    conversation.extend(results.clone());
    conversation.extend([user("Go on."), said("Done.", &[]), said("", &[]), user(" ")]);
    let history = History::from(conversation);
    let body = sent(Request::new(&history)).await;
    assert_eq!(
        body["systemInstruction"],
        json!({ "parts": [{ "text": "Be brief." }] })
    );
    let expect = json!([
        { "role": "user", "parts": [{ "text": "hi" }] },
        { "role": "model", "parts": [
            { "functionCall": { "name": "read_file", "args": { "path": "x" } } },
            // The server takes nothing but objects, and names without other characters.
            { "functionCall": { "name": "read_file", "args": { "malformed_arguments": "{\"path" } } },
            { "functionCall": { "name": "_2_now_", "args": {} } },
        ] },
        { "role": "user", "parts": [
            response("read_file", json!({ "output": "text" })),
            response("read_file", json!({ "error": "ERROR invalid arguments" })),
            response("_2_now_", json!({ "output": { "time": "noon" } })),
            { "text": "Go on." },
        ] },
        { "role": "model", "parts": [{ "text": "Done." }] },
        { "role": "user", "parts": [{ "text": "(nothing)" }] },
    ]);
    assert_eq!(body["contents"], expect);
}

#[tokio::test]
async fn results_that_come_in_one_by_one_are_never_taken_for_each_other() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server);
    let calls: Vec<ToolCall> = ["a", "b", "c"]
        .iter()
        .map(|id| call(id, "now", "{}"))
        .collect();
    let mut history = History::from(vec![user("hi"), said("", &calls)]);
    for id in ["c", "a", "stray", "b"] {
        history.push(result(id, "now", id));
        model.chat(Request::new(&history)).await.unwrap();
    }
    let missing = json!({ "error": "ERROR there is no result" });
    let output = |id: &str| json!({ "output": id });
    let stray = json!({ "text": "Result of now: stray\nAnswer now, or call again." });
    let expect = [
        vec![missing.clone(), missing.clone(), output("c")],
        vec![output("a"), missing.clone(), output("c")],
        vec![output("a"), missing, output("c")],
        vec![output("a"), output("b"), output("c")],
    ];
    for (number, (body, expect)) in bodies(&server).iter().zip(expect).enumerate() {
        let contents = body["contents"].as_array().unwrap();
        assert_eq!(contents.len(), 3);
        let mut parts: Vec<_> = expect
            .into_iter()
            .map(|output| response("now", output))
            .collect();
        if number > 1 {
            parts.push(stray.clone());
        }
        assert_eq!(contents[2]["parts"], json!(parts), "request {number}");
    }
}

#[tokio::test]
async fn t8_tools_are_function_declarations() {
    let history = History::from(vec![user("hi")]);
    let tools = tools();
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let declared = json!({ "functionDeclarations": [{
        "name": "read_file", "description": "Read a file's contents.", "parametersJsonSchema": schema,
    }] });
    let body = sent(Request::new(&history).with_tools(&tools)).await;
    assert_eq!(body["tools"], json!([declared]));

    let server = replies(Answer::json(200, HELLO)).await;
    let search = json!({ "googleSearch": {} });
    let model = client(&server).body("tools", json!([search]));
    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    model.chat(Request::new(&history)).await.unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies[0]["tools"], json!([declared, search]));
    assert_eq!(bodies[1]["tools"], json!([search]));
}

#[tokio::test]
async fn thought_signatures_go_back_on_their_parts() {
    let reply = decoding::whole(&decoding::stream(&decoding::TWO_CALLS));
    let mut calls = reply.calls.clone();
    calls[0].id = "call_1_0".into();
    calls[1].id = "call_1_1".into();
    let message = kept(&Reply { calls, ..reply });
    // A stored conversation keeps them.
    let message: Message = serde_json::from_str(&serde_json::to_string(&message).unwrap()).unwrap();
    let contents = contents(vec![
        user("hi"),
        message,
        result("call_1_1", "now", "x"),
        result("call_1_0", "read_file", "y"),
    ])
    .await;
    let expect = json!([
        { "text": "Lookíng" },
        { "functionCall": { "name": "read_file", "args": { "path": "é" } }, "thoughtSignature": "c2ln" },
        { "functionCall": { "name": "now", "args": {} } },
        { "text": "", "thoughtSignature": "ZW5k" },
    ]);
    assert_eq!(contents[1]["parts"], expect);
    let expect = json!([
        response("read_file", json!({ "output": "y" })),
        response("now", json!({ "output": "x" }))
    ]);
    assert_eq!(contents[2]["parts"], expect);

    // Parts that are signed stay apart, and parts that only the server understands go back whole.
    let parts = [
        r#"{"text":"a","thought":true,"thoughtSignature":"MQ=="}"#,
        r#"{"text":"b","thoughtSignature":"Mg=="}"#,
        r#"{"text":"c"}"#,
        r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#,
        r#"{"text":"d"}"#,
    ];
    let reply = decoding::whole(&decoding::stream(&parts));
    assert_eq!(
        (reply.thinking.as_deref(), &*reply.content),
        (Some("a"), "bcd")
    );
    let sent = self::contents(vec![user("hi"), kept(&reply)]).await;
    let expect: Vec<Value> = parts
        .iter()
        .map(|part| serde_json::from_str(part).unwrap())
        .collect();
    assert_eq!(sent[1]["parts"], json!(expect));
}

#[tokio::test]
async fn the_servers_own_ids_go_back() {
    let part = r#"{"functionCall":{"id":"fc_1","name":"now","args":{}}}"#;
    let reply = decoding::whole(&decoding::stream(&[part]));
    assert_eq!(reply.calls, [call("fc_1", "now", "{}")]);
    let contents = contents(vec![
        user("hi"),
        kept(&reply),
        result("fc_1", "now", "noon"),
    ])
    .await;
    assert_eq!(contents[1]["parts"][0]["functionCall"]["id"], "fc_1");
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["id"], "fc_1");
}

#[tokio::test]
async fn calls_of_another_model_are_marked_for_models_that_demand_signatures() {
    let foreign = Some(Thinking::from("hm").with_opaque("anthropic", "[]"));
    let calls = vec![call("a", "now", "{}"), call("b", "now", "{}")];
    let message = Message::Assistant {
        content: String::new(),
        thinking: foreign,
        calls,
    };
    let history = History::from(vec![
        user("hi"),
        message,
        result("a", "now", "x"),
        result("b", "now", "y"),
    ]);
    let server = replies(Answer::json(200, HELLO)).await;
    for (name, mark) in [
        ("gemini-2.5-flash", None),
        (
            "gemini-3-pro-preview",
            Some("skip_thought_signature_validator"),
        ),
    ] {
        gemini(name)
            .base_url(&server.url)
            .chat(Request::new(&history))
            .await
            .unwrap();
        let body = bodies(&server).pop().unwrap();
        let parts = &body["contents"][1]["parts"];
        assert_eq!(
            parts[0].get("thoughtSignature").and_then(Value::as_str),
            mark,
            "{name}"
        );
        assert_eq!(parts[1].get("thoughtSignature"), None);
    }
}

#[tokio::test]
async fn images_and_files() {
    let image = Media::bytes("image/png", b"PNG").unwrap();
    let page = Media::url("application/pdf", "https://example.com/a.pdf");
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
    let contents = contents(conversation.clone()).await;
    let png = json!({ "inlineData": { "mimeType": "image/png", "data": "UE5H" } });
    let expect = json!([
        { "text": "What is this?" },
        png,
        { "fileData": { "mimeType": "application/pdf", "fileUri": "https://example.com/a.pdf" } },
    ]);
    assert_eq!(contents[0]["parts"], expect);
    // Images of results follow behind the last result, unless the model sees them within.
    let expect = json!([
        response("look", json!({ "output": "a picture" })),
        response("look", json!({ "output": "nothing" })),
        png,
    ]);
    assert_eq!(contents[2]["parts"], expect);
    let server = replies(Answer::json(200, HELLO)).await;
    let history = History::from(conversation);
    let model = gemini("gemini-3-flash").base_url(&server.url);
    model.chat(Request::new(&history)).await.unwrap();
    let parts = &bodies(&server)[0]["contents"][2]["parts"];
    assert_eq!(parts[0]["functionResponse"]["parts"], json!([png]));
    assert_eq!(parts[1], expect[1]);
}

#[tokio::test]
async fn structured_output() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server).temperature(0.0);
    let history = History::from(vec![user("hi")]);
    for schema in [
        json!({ "type": "integer", "minimum": 0 }),
        json!({ "type": "object", "properties": { "x": { "type": "integer" } } }),
    ] {
        model
            .chat(Request::new(&history).with_format(&schema))
            .await
            .unwrap();
        let body = bodies(&server).pop().unwrap();
        let expect = json!({ "temperature": 0.0, "responseMimeType": "application/json", "responseJsonSchema": schema });
        assert_eq!(body["generationConfig"], expect);
    }
}

#[tokio::test]
async fn a_model_without_tools_is_offered_them_by_prompt() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = gemini("gemma-3-27b-it").base_url(&server.url);
    assert_eq!(
        model.capabilities(),
        Capabilities {
            tools: false,
            structured_output: false,
            images: true,
            ..Capabilities::default()
        }
    );
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
    let described = bodies[0]["systemInstruction"]["parts"][0]["text"]
        .as_str()
        .unwrap();
    assert!(
        described.starts_with("Be brief.\n\n## read_file"),
        "{described}"
    );
    let (first, second) = (
        bodies[0]["contents"].as_array().unwrap(),
        bodies[1]["contents"].as_array().unwrap(),
    );
    assert_eq!(&second[..first.len()], &first[..]);
    let last = &second.last().unwrap()["parts"][0]["text"];
    assert_eq!(
        last,
        "Result of read_file: text\nAnswer now, or call again."
    );
}

#[tokio::test]
async fn messages_are_encoded_once_and_connections_are_kept() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let model = client(&server);
    let mut history = History::from(vec![system("Be brief."), user("one")]);
    model.chat(Request::new(&history)).await.unwrap();
    history.push(said("hello", &[]));
    history.push(user("two"));
    model.chat(Request::new(&history)).await.unwrap();
    // Another client continues where this one was.
    client(&server).chat(Request::new(&history)).await.unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies[1]["contents"].as_array().unwrap().len(), 3);
    assert_eq!(bodies[1]["contents"][0], bodies[0]["contents"][0]);
    assert_eq!(bodies[2], bodies[1]);
    assert!(server.seen().iter().all(|seen| seen.connection == 0));
}

#[tokio::test]
async fn a_tuned_model_has_a_path_of_its_own() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = gemini("tunedModels/mine").base_url(&server.url);
    ask(&model).await.unwrap();
    let head = &server.seen()[0].head;
    assert!(
        head.starts_with("POST /tunedModels/mine:generateContent "),
        "{head}"
    );
    assert_eq!(
        (model.id(), Model::provider(&model)),
        ("gemini/mine", "gcp.gemini")
    );
}

#[test]
fn debug_shows_the_settings_and_no_secrets() {
    let model = gemini("m")
        .base_url("https://me:hunter2@example.com/v1beta?key=hunter2")
        .api_key("hunter2")
        .header("x-key", "hunter2")
        .temperature(0.5)
        .timeout(Duration::from_secs(9));
    let shown = format!("{model:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    for part in [
        "gemini/m",
        "https://example.com/v1beta",
        "temperature: 0.5",
        "timeout: 9s",
        "x-goog-api-key: ***",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[tokio::test]
async fn schemas_of_tools_and_answers_in_a_dialect_that_the_program_sets() {
    let (tool, answer) = (
        "/tools/0/functionDeclarations/0/parametersJsonSchema",
        "/generationConfig/responseJsonSchema",
    );
    check_schemas(HELLO, tool, answer, |url, dialect| match dialect {
        Some(dialect) => at(url).schemas(dialect),
        None => at(url),
    })
    .await;
}
