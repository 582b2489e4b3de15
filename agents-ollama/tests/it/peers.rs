//! Regression tests for defects of other clients. The numbers are issues of those projects.

use crate::{HELLO, ask, call, history, listen, result, said, server::*, tools, user};
use agents_core::{
    Effects,
    model::{Model, ModelErrorKind, Request},
    tool::{ToolSet, ToolSpec},
};
use agents_ollama::ollama;
use serde_json::{Value, json};

/// rig 579, 581, 582: all but the first of several results were lost.
#[tokio::test]
async fn every_result_is_sent_as_text_and_names_its_tool() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let calls = [
        call("a", "add", "{}"),
        call("b", "add", "{}"),
        call("c", "now", "{}"),
    ];
    let history = history([
        user("hi"),
        said("", &calls),
        result("a", "add", "1"),
        result("b", "add", r#"{"sum":2}"#),
        result("c", "now", "noon"),
    ]);
    server.model().chat(Request::new(&history)).await.unwrap();
    let body: Value = serde_json::from_str(&server.bodies()[0]).unwrap();
    assert_eq!(
        body["messages"].as_array().unwrap()[2..],
        [
            json!({ "role": "tool", "content": "1", "tool_name": "add", "tool_call_id": "a" }),
            json!({ "role": "tool", "content": "{\"sum\":2}", "tool_name": "add", "tool_call_id": "b" }),
            json!({ "role": "tool", "content": "noon", "tool_name": "now", "tool_call_id": "c" }),
        ]
    );
}

/// rig 1928, AutoAgents: a schema on every turn keeps the model from calling.
#[tokio::test]
async fn no_format_beside_tools() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (history, tools, schema) = (history([user("hi")]), tools(), json!({ "type": "object" }));
    server
        .model()
        .chat(
            Request::new(&history)
                .with_tools(&tools)
                .with_format(&schema),
        )
        .await
        .unwrap();
    assert!(!server.bodies()[0].contains("\"format\""));
}

/// AutoAgents: `keep_alive` of 0 unloads the model after every call.
#[tokio::test]
async fn keep_alive_is_not_sent_by_default() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    ask(&server.model()).await.unwrap();
    assert!(!server.bodies()[0].contains("keep_alive"));
}

/// AutoAgents: the model's thinking was dropped.
#[tokio::test]
async fn thinking_is_kept() {
    let body = r#"{"message":{"role":"assistant","content":"4","thinking":"2+2"},"done":true}"#;
    let server = Server::plays([Answer::json(200, body)]).await;
    assert_eq!(
        ask(&server.model()).await.unwrap().thinking.as_deref(),
        Some("2+2")
    );
}

/// genai: calls beside text were dropped, and all but the first of several.
#[tokio::test]
async fn calls_beside_text_and_several_in_a_line() {
    let line = r#"{"message":{"content":"both","tool_calls":[{"function":{"name":"a","arguments":{}}},{"function":{"name":"b","arguments":{}}}]},"done":true}"#;
    let server = Server::plays([Answer::pieces([line])]).await;
    let history = history([user("hi")]);
    let reply = listen(&server.model(), Request::new(&history))
        .await
        .0
        .unwrap();
    assert_eq!(
        (reply.content.as_str(), reply.calls),
        ("both", vec![call("", "a", "{}"), call("", "b", "{}")])
    );
}

/// genai: an `{"error"}` line was read as an empty answer.
#[tokio::test]
async fn an_error_line_is_an_error() {
    let server = Server::plays([Answer::pieces(["{\"error\":\"boom\"}\n"])]).await;
    let history = history([user("hi")]);
    let error = listen(&server.model(), Request::new(&history))
        .await
        .0
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Refused);
}

/// adk: malformed arguments became `{}` on their way.
#[tokio::test]
async fn malformed_arguments_never_become_an_empty_object() {
    let body = r#"{"message":{"tool_calls":[{"function":{"name":"add","arguments":"{left: 1"}}]},"done":true}"#;
    let server = Server::plays([Answer::json(200, body), Answer::json(200, HELLO)]).await;
    let reply = ask(&server.model()).await.unwrap();
    assert_eq!(reply.calls, [call("", "add", "{left: 1")]);
    let history = history([user("hi"), said("", &reply.calls)]);
    server.model().chat(Request::new(&history)).await.unwrap();
    assert!(server.bodies()[1].contains(r#"{left: 1"#));
    assert!(!server.bodies()[1].contains("tool_calls"));
}

/// rig 2015: a timeout could not be told from a 404 without reading the text.
#[tokio::test]
async fn failures_have_kinds() {
    let server = Server::plays([
        Answer::json(404, r#"{"error":"model 'm' not found"}"#),
        Answer::nothing().wait(2_000),
    ])
    .await;
    let model = server
        .model()
        .timeout(std::time::Duration::from_millis(100));
    assert_eq!(
        ask(&model).await.unwrap_err().kind(),
        ModelErrorKind::NotFound
    );
    assert_eq!(
        ask(&model).await.unwrap_err().kind(),
        ModelErrorKind::TimedOut
    );
    assert_eq!(
        ask(&ollama("m").url("127.0.0.1:9"))
            .await
            .unwrap_err()
            .kind(),
        ModelErrorKind::Unreachable
    );
}

/// ollama 11704, 12064, 12884, 17638: the server cannot parse its model's call and fails the request. The client
/// returns the call for repair.
#[tokio::test]
async fn a_call_that_ollama_could_not_read() {
    let tools = tools();
    let complaint = |raw: &str| {
        format!("error parsing tool call: raw='{raw}', err=invalid character '}}' after object key")
    };
    for (raw, expect) in [
        // no name, but only one tool has these parameters
        (
            r#"{"path": "a.txt"}]"#,
            call("", "read_file", r#"{"path": "a.txt"}]"#),
        ),
        (
            r#"{"left": 1, "right": }"#,
            call("", "add", r#"{"left": 1, "right": }"#),
        ),
        // the name is in the text
        (
            r#"{"name":"add","parameters":{"left": 1,"right":2}}]"#,
            call("", "add", r#"{"left": 1,"right":2}"#),
        ),
        // neither name nor parameters identify the tool
        ("ls -R\n', err=", call("", "", "ls -R\n', err=")),
    ] {
        let error = json!({ "error": complaint(raw) }).to_string();
        let begun =
            "{\"message\":{\"content\":\"\",\"thinking\":\"hm\"},\"done\":false}\n".to_owned();
        let server = Server::plays([
            Answer::json(500, &error),
            Answer::json(200, &error),
            Answer::pieces([begun, format!("{error}\n")]),
        ])
        .await;
        let history = history([user("hi")]);
        let request = Request::new(&history).with_tools(&tools);
        let reply = server.model().chat(request).await.unwrap();
        assert_eq!(reply.calls, std::slice::from_ref(&expect));
        assert_eq!(reply.usage.requests, 1);
        assert_eq!(server.model().chat(request).await.unwrap(), reply);
        let streamed = listen(&server.model(), request).await.0.unwrap();
        assert_eq!(
            (streamed.calls, streamed.thinking.as_deref()),
            (vec![expect], Some("hm"))
        );
    }
    // Without tools there is no call to repair, so the message is an error.
    let server = Server::plays([Answer::json(
        500,
        &json!({ "error": complaint("{") }).to_string(),
    )])
    .await;
    assert_eq!(ask(&server.model()).await.unwrap_err().status(), Some(500));
}

/// A server that could not read its model's call may name neither the call nor the tool; the model is asked again.
#[tokio::test]
async fn what_ollama_could_not_read_is_asked_for_again() {
    for words in [
        "invalid character ']' after object key:value pair",
        "failed to parse JSON: unexpected end of JSON input",
        "XML syntax error on line 3: element <parameter> closed by </function>",
    ] {
        let error = json!({ "error": words }).to_string();
        let server = Server::plays([Answer::json(500, &error), Answer::json(200, HELLO)]).await;
        let model = server.model().retry(2);
        assert_eq!(ask(&model).await.unwrap().content, "hello", "{words}");
        assert_eq!(server.seen().len(), 2);
        let server = Server::plays([Answer::pieces([format!("{error}\n")])]).await;
        let history = history([user("hi")]);
        let failed = listen(&server.model(), Request::new(&history)).await.0;
        assert!(failed.unwrap_err().is_transient(), "{words}");
    }
}

/// A broken call without a name goes to no tool that writes, whatever fits.
#[tokio::test]
async fn a_guess_is_no_ground_for_an_effect() {
    let schema = |required: &[&str]| json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": required });
    let spec = |name: &'static str, effects, required: &[&str]| {
        ToolSpec::new(name, "", effects, schema(required))
    };
    let delete = || spec("delete_file", Effects::Writes, &["path"]);
    let list = || spec("list_files", Effects::Reads, &[]);
    let read = || spec("read_file", Effects::Reads, &["path"]);
    let now = || ToolSpec::new("now", "", Effects::Reads, json!({ "type": "object" }));
    let raw = r#"{"path":"notes.md",}"#;
    for (specs, raw, expect) in [
        (vec![delete()], raw, ""),
        (vec![delete(), now()], raw, ""),
        (vec![delete(), list()], raw, ""),
        (vec![read(), list()], raw, ""),
        (vec![list(), now()], raw, "list_files"),
        (vec![read(), now()], raw, "read_file"),
        (vec![delete(), now()], "{", "now"),
        (vec![list()], "ls", "list_files"),
    ] {
        let complaint = format!("error parsing tool call: raw='{raw}', err=..");
        let error = json!({ "error": complaint }).to_string();
        let server = Server::plays([Answer::json(500, &error)]).await;
        let names: Vec<_> = specs.iter().map(|spec| spec.name.to_string()).collect();
        let tools = specs.into_iter().map(crate::tool);
        let tools = tools.fold(ToolSet::new(), ToolSet::with);
        let history = history([user("hi")]);
        let request = Request::new(&history).with_tools(&tools);
        let reply = server.model().chat(request).await.unwrap();
        assert_eq!(reply.calls, [call("", expect, raw)], "{names:?} {raw}");
    }
}

/// The agent is told that there is no such tool, and asks its model again.
#[tokio::test]
async fn a_broken_call_without_a_name_is_made_anew() {
    let complaint = "error parsing tool call: raw='{\"to\":\"Ada\",\"cents\":900,}', err=..";
    let named = r#"{"message":{"content":"","tool_calls":[{"function":{"name":"pay","arguments":{"to":"Ada","cents":900}}}]},"done":true}"#;
    let answers = [
        Answer::json(500, &json!({ "error": complaint }).to_string()),
        Answer::json(200, named),
        Answer::json(200, HELLO),
    ];
    let model = |url: &str| ollama("m").url(url);
    let paid = agents_http::testing::pays(model, answers, false).await;
    assert_eq!(paid.answer.unwrap(), "hello");
    assert_eq!(paid.payments.len(), 1);
    assert_eq!(paid.bodies.len(), 3);
    let told = paid.bodies[1].to_string();
    assert!(told.contains("there is no tool"), "{told}");
}

/// The last line may have a reason and no `done`, and a wait may be a fraction of a second.
#[tokio::test]
async fn lines_and_headers_in_other_forms() {
    let begun = "{\"message\":{\"content\":\"hel\"},\"done\":false}\n";
    for last in [
        "{\"message\":{\"content\":\"lo\"},\"done_reason\":\"stop\"}\n",
        "{\"message\":{\"content\":\"lo\"},\"done_reason\":\"stop\",\"done\":true}",
        "{\"message\":{\"content\":\"lo\"},\"done_reason\":\"length\"}",
    ] {
        let server = Server::plays([Answer::pieces([begun, last])]).await;
        let history = history([user("hi")]);
        let reply = listen(&server.model(), Request::new(&history)).await.0;
        assert_eq!(reply.unwrap().content, "hello", "{last}");
    }
    let server = Server::plays([Answer::pieces([begun, "{\"detail\":\"gone\"}\n"])]).await;
    let history = history([user("hi")]);
    let failed = listen(&server.model(), Request::new(&history)).await.0;
    assert!(failed.unwrap_err().to_string().contains("reported: gone"));
    for (head, millis) in [
        ("retry-after: 1.5\r\n", 1_500),
        ("retry-after-ms: 20\r\n", 20),
        ("retry-after: 2\r\n", 2_000),
    ] {
        let server = Server::plays([Answer::with_head(429, head, "{}")]).await;
        let wait = ask(&server.model()).await.unwrap_err().retry_after();
        assert_eq!(
            wait,
            Some(std::time::Duration::from_millis(millis)),
            "{head}"
        );
    }
}

/// Comments, or anything else, behind the end of an answer are not waited for.
#[tokio::test]
async fn an_answer_ends_with_its_last_line() {
    let mut answer = Answer::begun().piece("{\"message\":{\"content\":\"hello\"},\"done\":true}\n");
    for _ in 0..200 {
        answer = answer.wait(100).piece("\n");
    }
    let server = Server::plays([answer]).await;
    let history = history([user("hi")]);
    let begun = std::time::Instant::now();
    let reply = listen(&server.model(), Request::new(&history)).await.0;
    assert_eq!(reply.unwrap().content, "hello");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
}
