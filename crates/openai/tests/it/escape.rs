//! Fields that the client does not know, tools of the server, and replies as they arrive.

use crate::{HELLO, HELLO_STREAM, ask, at, bodies, client, listen, replies, user};
use agents_core::model::{History, Model, Request};
use agents_http::testing::{Answer, Server, check_fields, check_raw_replies};
use agents_openai::OpenAi;
use serde_json::{Value, json};

/// A complete reply of Responses in one document.
const DONE: &str = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Oslo"}]}]}"#;

/// Stream of Responses with that reply.
const DONE_STREAM: &str = concat!(
    "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Oslo\"}\n\n",
    "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Oslo\"}]}]}}\n\n",
);

#[tokio::test]
async fn a_field_of_the_client_is_refused_with_the_name_of_what_sets_it() {
    let own = [
        ("model", "`openai(..)`"),
        ("messages", "the conversation"),
        ("input", "the conversation"),
        ("temperature", "`.temperature(..)`"),
        ("max_completion_tokens", "`.max_tokens(..)`"),
        ("response_format", "the type of the answer"),
        ("text.format", "the type of the answer"),
        ("reasoning_effort", "`.reasoning_effort(..)`"),
        ("reasoning.effort", "`.reasoning_effort(..)`"),
    ];
    check_fields(HELLO, &own, |url, fields| with(at(url), fields)).await;
    let responses = |url: &str| at(url).responses();
    check_fields(DONE, &own, |url, fields| with(responses(url), fields)).await;
}

fn with(model: OpenAi, fields: &[(&str, Value)]) -> OpenAi {
    fields.iter().fold(model, |model, (name, value)| {
        model.body(*name, value.clone())
    })
}

#[tokio::test]
async fn fields_join_what_the_client_writes_into_an_object() {
    let server = replies(Answer::json(200, DONE)).await;
    let model = client(&server)
        .responses()
        .reasoning_effort("high")
        .body("text", json!({ "verbosity": "low" }))
        .body("reasoning", json!({ "summary": "auto" }));
    let history = History::from(vec![user("hi")]);
    let schema = json!({
        "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
    });
    let asked = Request::new(&history).with_format(&schema);
    model.chat(asked).await.unwrap();
    ask(&model).await.unwrap();
    // What was not set is not sent.
    ask(&client(&server).responses()).await.unwrap();
    let sent = bodies(&server);
    assert_eq!(sent[0]["text"]["verbosity"], "low", "{}", sent[0]);
    assert_eq!(sent[0]["text"]["format"]["name"], "answer", "{}", sent[0]);
    assert_eq!(sent[1]["text"], json!({ "verbosity": "low" }));
    for body in &sent[..2] {
        assert_eq!(
            body["reasoning"],
            json!({ "effort": "high", "summary": "auto" })
        );
    }
    assert_eq!(
        (sent[2].get("text"), sent[2].get("reasoning")),
        (None, None)
    );
}

#[tokio::test]
async fn options_of_a_stream_keep_the_count_of_tokens_and_are_sent_with_streams_alone() {
    let server = replies(Answer::pieces([HELLO_STREAM])).await;
    let history = History::from(vec![user("hi")]);
    let model = client(&server).body("stream_options", json!({ "include_obfuscation": false }));
    listen(&model, Request::new(&history)).await.0.unwrap();
    ask(&model).await.unwrap();
    let sent = bodies(&server);
    let expected = json!({ "include_usage": true, "include_obfuscation": false });
    assert_eq!(sent[0]["stream_options"], expected);
    assert_eq!(sent[1].get("stream_options"), None);
}

#[tokio::test]
async fn tools_of_the_server_join_those_of_the_agent_in_responses() {
    let search = json!({ "type": "web_search" });
    let server = Server::plays([Answer::json(200, DONE)]).await;
    let model = client(&server).body("tools", json!([search]));
    ask(&model.clone().responses()).await.unwrap();
    assert_eq!(bodies(&server)[0]["tools"], json!([search]));
    let error = ask(&model).await.unwrap_err();
    assert!(error.to_string().contains("`.responses()`"), "{error}");
    let error = ask(&client(&server).responses().body("tools", search)).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("give a list of them"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn each_reply_is_shown_as_it_arrived_without_keys() {
    check_raw_replies("x-request-id", HELLO, HELLO_STREAM, |url, key, hook| {
        at(url).api_key(key).on_raw_reply(hook)
    })
    .await;
    check_raw_replies("x-request-id", DONE, DONE_STREAM, |url, key, hook| {
        at(url).responses().api_key(key).on_raw_reply(hook)
    })
    .await;
}
