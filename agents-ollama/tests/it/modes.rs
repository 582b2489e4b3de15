//! Tool modes: native, by prompt, and constrained by a grammar.

use crate::{HELLO, call, history, listen, result, said, server::*, system, tools, user};
use agents_core::model::{History, Model, ModelErrorKind, Request, prompted};
use agents_ollama::{ToolMode, ollama};
use serde_json::{Value, json};

const NO_TOOLS: &str = r#"{"error":"registry.ollama.ai/library/m:latest does not support tools"}"#;

fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

#[tokio::test]
async fn a_refusal_of_tools_is_noticed_once() {
    let server = Server::plays([Answer::json(400, NO_TOOLS), Answer::json(200, HELLO)]).await;
    // A model name of its own, since refused tools are remembered for the process.
    let (model, tools) = (ollama("without-tools").url(&server.url), tools());
    let clone = model.clone().temperature(0.0);
    let mut history = history([system("You help.  "), user("hi")]);
    assert_eq!(
        model
            .chat(Request::new(&history).with_tools(&tools))
            .await
            .unwrap()
            .content,
        "hello"
    );
    history.push(said("", &[call("c1", "add", r#"{"left":1}"#)]));
    history.push(result("c1", "add", "ERROR `right` is missing"));
    clone
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();

    let bodies = server.bodies();
    assert_eq!(
        bodies.len(),
        3,
        "native, the same again by prompt, and the clone knows"
    );
    assert!(parsed(&bodies[0])["tools"].is_array());
    let (second, third) = (parsed(&bodies[1]), parsed(&bodies[2]));
    assert_eq!(second["tools"], Value::Null);

    let mut expect = vec![json!({
        "role": "system",
        "content": format!("You help.\n\n{}", prompted::instructions(tools.specs())),
    })];
    for example in prompted::examples(tools.specs()) {
        let (role, content) = prompted::plain(&example);
        expect.push(json!({ "role": role, "content": content }));
    }
    expect.push(json!({ "role": "user", "content": "hi" }));
    assert_eq!(second["messages"], json!(expect));
    expect.push(
        json!({ "role": "assistant", "content": r#"{"name": "add", "arguments": {"left":1}}"# }),
    );
    expect.push(json!({ "role": "user", "content": "Result of add: ERROR `right` is missing" }));
    assert_eq!(third["messages"], json!(expect));
}

#[tokio::test]
async fn refused_tools_are_remembered_across_clients() {
    let server = Server::plays([Answer::json(400, NO_TOOLS), Answer::json(200, HELLO)]).await;
    let (history, tools) = (history([user("hi")]), tools());
    for _ in 0..3 {
        let model = ollama("made-anew").url(&server.url);
        let request = Request::new(&history).with_tools(&tools);
        model.chat(request).await.unwrap();
    }
    assert_eq!(server.seen().len(), 4, "one refusal, three answers");
    let other = ollama("another").url(&server.url);
    let request = Request::new(&history).with_tools(&tools);
    other.chat(request).await.unwrap();
    let bodies = server.bodies();
    assert!(
        parsed(&bodies[4])["tools"].is_array(),
        "of another nothing is known"
    );
}

#[tokio::test]
async fn native_mode_never_falls_back() {
    let server = Server::plays([Answer::json(400, NO_TOOLS)]).await;
    let (history, tools) = (history([user("hi")]), tools());
    let model = server.model().tools(ToolMode::Native);
    let error = model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (ModelErrorKind::Refused, Some(400))
    );
    assert_eq!(
        error.to_string(),
        "model `m` cannot call tools: use `.tools(ToolMode::Prompted)`, or leave it on `ToolMode::Auto`"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_prompted_history_is_only_appended_to() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (model, tools) = (server.model().tools(ToolMode::Prompted), tools());
    let mut history = history([user("hi")]);
    for turn in 0..5 {
        model
            .chat(Request::new(&history).with_tools(&tools))
            .await
            .unwrap();
        history.push(said(
            "",
            &[call("c", "add", &format!(r#"{{"left":{turn}}}"#))],
        ));
        history.push(result("c", "add", "1"));
    }
    let bodies = server.bodies();
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        assert!(after.starts_with(before.strip_suffix("]}").unwrap()));
    }
    // The instructions become the system prompt.
    assert_eq!(parsed(&bodies[0])["messages"][0]["role"], "system");
    // The last turn of a run has no tools, but perhaps a format.
    let schema = json!({ "type": "object" });
    model
        .chat(Request::new(&history).with_format(&schema))
        .await
        .unwrap();
    let last = parsed(server.bodies().last().unwrap());
    assert_eq!(
        last["messages"][0],
        json!({ "role": "user", "content": "hi" })
    );
    assert_eq!(last["format"], schema);
}

#[tokio::test]
async fn a_reply_says_whether_the_tools_were_offered_by_prompt() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (history, tools) = (history([user("hi")]), tools());
    let bare = Request::new(&history);
    for (mode, request, prompted) in [
        (ToolMode::Prompted, bare.with_tools(&tools), true),
        (ToolMode::Prompted, bare, false),
        (ToolMode::Native, bare.with_tools(&tools), false),
    ] {
        let reply = server.model().tools(mode).chat(request).await.unwrap();
        assert_eq!(reply.prompted, prompted, "{mode:?}");
    }
}

#[tokio::test]
async fn one_history_is_encoded_for_each_mode() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (history, tools) = (
        history([
            user("hi"),
            said("", &[call("c", "add", "{}")]),
            result("c", "add", "1"),
        ]),
        tools(),
    );
    let request = Request::new(&history).with_tools(&tools);
    for mode in [
        ToolMode::Native,
        ToolMode::Prompted,
        ToolMode::Constrained,
        ToolMode::Native,
    ] {
        server.model().tools(mode).chat(request).await.unwrap();
        let fresh = History::from(history.messages().to_vec());
        server
            .model()
            .tools(mode)
            .chat(Request::new(&fresh).with_tools(&tools))
            .await
            .unwrap();
    }
    let bodies = server.bodies();
    for pair in bodies.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
    assert_eq!(bodies[0], bodies[6]);
    assert_ne!(bodies[2], bodies[4]);
}

fn speaking(content: &str) -> Answer {
    Answer::json(
        200,
        &json!({ "message": { "content": content }, "done": true }).to_string(),
    )
}

#[tokio::test]
async fn constrained_replies_are_a_call_or_an_answer() {
    let server = Server::plays([
        speaking(r#"{"name": "add", "arguments": {"left": 1, "right": 90071992547409931}}"#),
        speaking(r#"{"answer": "It is done."}"#),
        speaking(r#"{"answer": "It is cut"#),
    ])
    .await;
    let (model, tools) = (server.model().tools(ToolMode::Constrained), tools());
    let history = history([user("hi"), said("earlier", &[])]);
    let request = Request::new(&history).with_tools(&tools);

    let (reply, heard) = listen(&model, request).await;
    let reply = reply.unwrap();
    assert_eq!(
        reply.calls,
        [call(
            "",
            "add",
            r#"{"left": 1, "right": 90071992547409931}"#
        )]
    );
    assert_eq!(
        (reply.content.as_str(), heard.len()),
        ("", 0),
        "nobody wants to read the JSON around it"
    );

    let (reply, heard) = listen(&model, request).await;
    assert_eq!(reply.unwrap().content, "It is done.");
    assert_eq!(heard, ["It is done."]);
    assert_eq!(
        model.chat(request).await.unwrap().content,
        r#"{"answer": "It is cut"#
    );

    let body = parsed(&server.bodies()[0]);
    assert_eq!(
        body["format"],
        parsed(&prompted::constrained(tools.specs(), None))
    );
    assert_eq!(body["tools"], Value::Null);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(
        messages[4]["content"], r#"{"answer": "The result is done"}"#,
        "the examples keep to it, too"
    );
    assert_eq!(
        messages.last().unwrap()["content"],
        r#"{"answer": "earlier"}"#
    );
}
