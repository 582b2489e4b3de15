//! Requests: their fields, in a stable order.

use crate::{HELLO, ask, call, history, result, said, server::*, system, tools, user};
use agents_core::{
    Agent, AgentBuilder,
    model::{Content, History, Media, Message, Model, Request},
};
use agents_ollama::{Dialect, Keywords, Ollama, References, ToolMode, ollama};
use serde_json::{Value, json};
use std::time::Duration;

async fn sent(
    set: impl FnOnce(Ollama) -> Ollama,
    messages: impl IntoIterator<Item = Message>,
) -> String {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let history = history(messages);
    set(server.model())
        .chat(Request::new(&history))
        .await
        .unwrap();
    server.bodies().remove(0)
}

#[tokio::test]
async fn a_minimal_request() {
    let body = sent(|model| model, [user("hi")]).await;
    assert_eq!(
        body,
        r#"{"model":"m","stream":false,"truncate":false,"shift":false,"messages":[{"role":"user","content":"hi"}]}"#
    );
}

#[tokio::test]
async fn every_setting_is_sent() {
    let all = |model: Ollama| {
        model
            .temperature(0.0)
            .option("top_p", 0.9)
            .option("top_k", 40)
            .option("min_p", 0.05)
            .seed(7)
            .window(8192)
            .num_predict(-1)
            .option("repeat_penalty", 1.1)
            .stop(["\n\n", "END"])
            .option("mirostat", 2)
            .option("seed", 8)
            .keep_alive(Duration::from_secs(600))
            .think("low")
    };
    let body = sent(all, [user("hi")]).await;
    assert_eq!(
        body,
        concat!(
            r#"{"model":"m","stream":false,"truncate":false,"shift":false,"#,
            r#""options":{"temperature":0.0,"top_p":0.9,"top_k":40,"min_p":0.05,"seed":8,"num_ctx":8192,"#,
            r#""num_predict":-1,"repeat_penalty":1.1,"stop":["\n\n","END"],"mirostat":2},"#,
            r#""keep_alive":"600s","think":"low","messages":[{"role":"user","content":"hi"}]}"#,
        )
    );
}

#[tokio::test]
async fn keep_alive_and_think_in_their_other_forms() {
    for (model, expect) in [
        (ollama("m").keep_alive(-1), r#""keep_alive":-1"#),
        (ollama("m").keep_alive("10m"), r#""keep_alive":"10m""#),
        (
            ollama("m").keep_alive(Duration::from_millis(1500)),
            r#""keep_alive":"1500ms""#,
        ),
        (ollama("m").think(true), r#""think":true"#),
        (ollama("m").think(false), r#""think":false"#),
    ] {
        let server = Server::plays([Answer::json(200, HELLO)]).await;
        ask(&model.url(&server.url)).await.unwrap();
        assert!(
            server.bodies()[0].contains(expect),
            "{}",
            server.bodies()[0]
        );
    }
}

#[tokio::test]
async fn a_conversation_with_calls() {
    let mut thinking = said(
        "",
        &[
            call("c1", "add", r#"{"left": 1,  "right": 90071992547409931}"#),
            call("", "now", "{}"),
        ],
    );
    if let Message::Assistant { thinking, .. } = &mut thinking {
        *thinking = Some("two calls".into());
    }
    let body = sent(
        |model| model,
        [
            system("You add."),
            user("1 + 90071992547409931, \"now\"?\n"),
            thinking,
            result("c1", "add", "90071992547409932"),
            result("", "now", "noon"),
        ],
    )
    .await;
    assert_eq!(
        body,
        concat!(
            r#"{"model":"m","stream":false,"truncate":false,"shift":false,"messages":["#,
            r#"{"role":"system","content":"You add."},"#,
            r#"{"role":"user","content":"1 + 90071992547409931, \"now\"?\n"},"#,
            r#"{"role":"assistant","content":"","thinking":"two calls","tool_calls":["#,
            r#"{"id":"c1","function":{"name":"add","arguments":{"left": 1,  "right": 90071992547409931}}},"#,
            r#"{"function":{"name":"now","arguments":{}}}]},"#,
            r#"{"role":"tool","content":"90071992547409932","tool_name":"add","tool_call_id":"c1"},"#,
            r#"{"role":"tool","content":"noon","tool_name":"now"}]}"#,
        )
    );
}

#[tokio::test]
async fn a_call_that_is_no_object_goes_back_as_text() {
    let calls = [
        call("c1", "add", r#"{"left": 1, "right":"#),
        call("c2", "add", r#"{"left": 1, "right": 2}"#),
        call("c3", "add", "[1, 2]"),
        call("c4", "add", ""),
    ];
    let body = sent(
        |model| model,
        [
            user("hi"),
            said("Let me see.", &calls),
            result("c1", "add", "no"),
        ],
    )
    .await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        body["messages"][1],
        json!({
            "role": "assistant",
            "content": "Let me see.\n\
                {\"name\": \"add\", \"arguments\": {\"left\": 1, \"right\":}\n\
                {\"name\": \"add\", \"arguments\": [1, 2]}\n\
                {\"name\": \"add\", \"arguments\": \"\"}",
            "tool_calls": [{ "id": "c2", "function": { "name": "add", "arguments": { "left": 1, "right": 2 } } }],
        })
    );
}

#[tokio::test]
async fn t8_tools_as_declared_and_no_format_beside_them() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (tools, schema) = (tools(), json!({ "type": "object" }));
    let history = history([user("hi")]);
    let request = Request::new(&history).with_tools(&tools);
    server
        .model()
        .chat(request.with_format(&schema))
        .await
        .unwrap();
    server
        .model()
        .chat(Request::new(&history).with_format(&schema))
        .await
        .unwrap();
    let offer = Request::new(&history).with_tools(&tools);
    let declared = offer.tools_json().unwrap();
    assert_eq!(
        server.bodies(),
        [
            format!(r#"{{"model":"m","stream":false,"truncate":false,"shift":false,"tools":{declared},"messages":[{{"role":"user","content":"hi"}}]}}"#),
            r#"{"model":"m","stream":false,"truncate":false,"shift":false,"messages":[{"role":"user","content":"hi"}],"format":{"type":"object"}}"#.into(),
        ]
    );
}

#[tokio::test]
async fn each_turn_continues_the_bytes_of_the_last() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (model, tools) = (server.model().temperature(0.0), tools());
    let mut history = History::new();
    history.push(system("You add."));
    history.push(user("hi"));
    for turn in 0..20 {
        model
            .chat(Request::new(&history).with_tools(&tools))
            .await
            .unwrap();
        let id = format!("c{turn}");
        history.push(said(
            "",
            &[call(&id, "add", &format!(r#"{{"left":{turn},"right":1}}"#))],
        ));
        history.push(result(&id, "add", &(turn + 1).to_string()));
    }
    let bodies = server.bodies();
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        let common = before.strip_suffix("]}").unwrap();
        assert!(after.starts_with(common), "{before}\n{after}");
    }
    // The body is the same without the kept bytes.
    let fresh = Server::plays([Answer::json(200, HELLO)]).await;
    let whole = History::from(history.messages()[..history.messages().len() - 2].to_vec());
    fresh
        .model()
        .temperature(0.0)
        .chat(Request::new(&whole).with_tools(&tools))
        .await
        .unwrap();
    assert_eq!(fresh.bodies()[0], bodies[19]);
}

#[tokio::test]
async fn one_history_serves_clients_of_other_settings() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let history = history([user("hi")]);
    for model in [
        server.model(),
        server.model().seed(1),
        server.model().think(true),
    ] {
        model.chat(Request::new(&history)).await.unwrap();
    }
    assert_eq!(
        server.bodies(),
        [
            r#"{"model":"m","stream":false,"truncate":false,"shift":false,"messages":[{"role":"user","content":"hi"}]}"#,
            r#"{"model":"m","stream":false,"truncate":false,"shift":false,"options":{"seed":1},"messages":[{"role":"user","content":"hi"}]}"#,
            r#"{"model":"m","stream":false,"truncate":false,"shift":false,"think":true,"messages":[{"role":"user","content":"hi"}]}"#,
        ]
    );
}

#[tokio::test]
async fn the_head_of_a_request() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let model = server
        .model()
        .header("X-Team", "blue")
        .header("x-team", "red")
        .bearer("s3cret");
    ask(&model).await.unwrap();
    ask(&model).await.unwrap();
    let seen = server.seen();
    let head = seen[0].head.to_ascii_lowercase();
    for line in [
        "post /api/chat http/1.1",
        "content-type: application/json",
        "x-team: red",
        "authorization: bearer s3cret",
        &format!("host: {}", &server.url["http://".len()..]),
    ] {
        assert!(
            head.lines().any(|found| found == line),
            "`{line}` is missing in\n{head}"
        );
    }
    assert_eq!(seen[1].connection, 0, "the connection is used again");
}

#[test]
fn secrets_do_not_show() {
    let model = ollama("qwen3:4b")
        .url("http://me:hunter2@gpu-box:8080")
        .temperature(0.5)
        .bearer("s3cret")
        .keep_alive("5m");
    assert_eq!(
        format!("{model:?}"),
        "Ollama { model: \"qwen3:4b\", url: \"http://gpu-box:8080\", temperature: 0.5, keep_alive: \"5m\", \
         timeout: 300s, streaming: true, tools: Auto, headers: [authorization: ***] }"
    );
    assert_eq!(model.id(), "ollama/qwen3:4b");
    assert_eq!(model.provider(), "ollama");
}

/// The environment belongs to the process, so this test runs itself in another process.
#[test]
fn ollama_host_is_honoured() {
    if std::env::var("TELL_ADDRESS").is_ok() {
        println!("{:?}", ollama("m"));
        return;
    }
    for (host, expect) in [
        (Some("0.0.0.0:9999"), "http://127.0.0.1:9999"),
        (Some("gpu-box"), "http://gpu-box:11434"),
        (
            Some("https://example.com/ollama"),
            "https://example.com/ollama",
        ),
        (Some(""), "http://127.0.0.1:11434"),
        (None, "http://127.0.0.1:11434"),
    ] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "requests::ollama_host_is_honoured",
            "--nocapture",
        ]);
        child.env("TELL_ADDRESS", "1").env_remove("OLLAMA_HOST");
        if let Some(host) = host {
            child.env("OLLAMA_HOST", host);
        }
        let told = String::from_utf8(child.output().unwrap().stdout).unwrap();
        assert!(
            told.contains(&format!("url: {expect:?}")),
            "{host:?}: {told}"
        );
    }
}

#[tokio::test]
async fn the_models_of_a_server() {
    let server = Server::plays([Answer::json(
        200,
        r#"{"models":[{"name":"qwen3:4b","size":1},{"name":"smollm2:135m"}]}"#,
    )])
    .await;
    assert_eq!(
        server.model().models().await.unwrap(),
        ["qwen3:4b", "smollm2:135m"]
    );
    assert!(server.model().is_up().await);
    let heads: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.head.lines().next().unwrap().to_owned())
        .collect();
    assert_eq!(
        heads,
        ["GET /api/tags HTTP/1.1", "GET /api/version HTTP/1.1"]
    );

    assert!(!ollama("m").url("127.0.0.1:9").is_up().await);
    let silent = Server::plays([Answer::nothing().wait(5_000)]).await;
    let begun = std::time::Instant::now();
    assert!(!silent.model().is_up().await);
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_user_and_a_password_in_the_address_are_sent() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let url = server.url.replace("://", "://me:hunter%2F2@");
    let model = ollama("m").url(&url);
    ask(&model).await.unwrap();
    assert!(model.is_up().await);
    let keyed = model.clone().bearer("key");
    ask(&keyed).await.unwrap();
    let heads: Vec<_> = server.seen().into_iter().map(|seen| seen.head).collect();
    let basic = "authorization: Basic bWU6aHVudGVyLzI=";
    assert!(
        heads[0].contains(basic) && heads[1].contains(basic),
        "{heads:?}"
    );
    assert!(
        heads[2].contains("authorization: Bearer key"),
        "{}",
        heads[2]
    );
    assert!(
        !heads[2].contains("Basic"),
        "what is said of the header counts: {}",
        heads[2]
    );
    assert!(
        heads.iter().all(|head| !head.contains("hunter")),
        "{heads:?}"
    );
    for seen in [format!("{model:?}"), model.address()] {
        assert!(!seen.contains("hunter"), "{seen}");
    }
}

#[tokio::test]
async fn a_password_in_an_invalid_address_is_not_shown() {
    let model = ollama("m").url("http://me:hunter2@box:port");
    let error = ask(&model).await.unwrap_err();
    for seen in [error.to_string(), format!("{model:?}"), model.address()] {
        assert!(
            seen.contains("`http://box:port` is not an address"),
            "{seen}"
        );
        assert!(!seen.contains("hunter2"), "{seen}");
    }
}

#[tokio::test]
async fn images_of_messages_and_of_results_are_sent_as_bytes() {
    let image = || Media::bytes("image/png", b"png").unwrap();
    let question = Message::User {
        content: Content::from("What is it?").with(image()).with(image()),
    };
    let drawn = Message::Tool {
        tool_call_id: "1".into(),
        name: "draw".into(),
        content: Content::from("drawn").with(image()),
    };
    let calls = [call("1", "draw", "{}")];
    let messages = [question, said("", &calls), drawn];
    let sent_body = sent(|model| model, messages.clone()).await;
    let body: Value = serde_json::from_str(&sent_body).unwrap();
    let images = |index: usize| &body["messages"][index]["images"];
    assert_eq!(images(0), &json!(["cG5n", "cG5n"]));
    assert_eq!(images(2), &json!(["cG5n"]));
    // A message without images has no such field.
    assert!(images(1).is_null());
    // Offered by prompt, a result is a message of the user.
    let body = sent(|model| model.tools(ToolMode::Prompted), messages).await;
    assert_eq!(body.matches("cG5n").count(), 3, "{body}");
}

#[tokio::test]
async fn an_image_by_its_url_and_a_file_are_refused() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let link = Media::url("image/png", "https://example.com/a.png");
    let pdf = Media::bytes("application/pdf", b"%PDF").unwrap();
    for (media, why) in [
        (link, "give their bytes with `Media::bytes(..)`"),
        (pdf, "a file, which the model `ollama/m` cannot read"),
    ] {
        let content = Content::from("What is it?").with(media.clone());
        let agent = AgentBuilder::<Content, String>::new("describer");
        let agent = agent.model(server.model()).build();
        let error = agent.run(content).await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(server.bodies().is_empty());
}

#[tokio::test]
async fn schemas_of_tools_and_answers_in_a_dialect_that_the_program_sets() {
    let dialect = Dialect {
        keywords: Keywords::Without(&["required"]),
        references: References::Inlined,
        ..Dialect::ANY
    };
    let schema = json!({ "$ref": "#/$defs/Size", "$defs": { "Size": { "type": "integer" } } });
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (history, tools) = (history([user("hi")]), tools());
    let offer = || Request::new(&history).with_tools(&tools);
    let (plain, fitted) = (server.model(), server.model().schemas(dialect));
    plain.chat(offer()).await.unwrap();
    fitted.chat(offer()).await.unwrap();
    let request = Request::new(&history).with_format(&schema);
    fitted.chat(request).await.unwrap();
    let bodies = server.bodies();
    let bodies: Vec<Value> = bodies
        .iter()
        .map(|body| serde_json::from_str(body).unwrap())
        .collect();
    let arguments = |body: usize| bodies[body]["tools"][0]["function"]["parameters"].clone();
    let mut expected = arguments(0);
    assert!(
        expected
            .as_object_mut()
            .unwrap()
            .remove("required")
            .is_some()
    );
    assert_eq!(arguments(1), expected);
    assert_eq!(bodies[2]["format"], json!({ "type": "integer" }));
}
