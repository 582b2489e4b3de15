//! Fields that the client does not know, and replies as they arrive.

use crate::{HELLO, HELLO_STREAM, ask, at, bodies, client, replies, user};
use agents_core::model::{History, Model, Request};
use agents_http::testing::{Answer, check_fields, check_raw_replies};
use serde_json::{Value, json};

#[tokio::test]
async fn a_field_of_the_client_is_refused_with_the_name_of_what_sets_it() {
    let own = [
        ("contents", "the conversation"),
        ("systemInstruction", "the prompt of the agent"),
        ("generationConfig.temperature", "`.temperature(..)`"),
        (
            "generationConfig.responseJsonSchema",
            "the type of the answer",
        ),
        (
            "generationConfig.thinkingConfig.thinkingLevel",
            "`.thinking_level(..)`",
        ),
    ];
    check_fields(HELLO, &own, |url, fields: &[(&str, Value)]| {
        fields.iter().fold(at(url), |model, (name, value)| {
            model.body(*name, value.clone())
        })
    })
    .await;
}

#[tokio::test]
async fn fields_join_what_the_client_writes_into_an_object() {
    let server = replies(Answer::json(200, HELLO)).await;
    let more = json!({ "topP": 0.9, "thinkingConfig": { "x": 1 } });
    let model = client(&server)
        .show_thoughts()
        .body("generationConfig", more)
        .body("generationConfig", json!({ "topK": 3 }));
    ask(&model).await.unwrap();
    let history = History::from(vec![user("hi")]);
    let schema = json!({ "type": "object", "properties": {} });
    let asked = Request::new(&history).with_format(&schema);
    model.chat(asked).await.unwrap();
    let sent = bodies(&server);
    let expected =
        json!({ "topP": 0.9, "topK": 3, "thinkingConfig": { "includeThoughts": true, "x": 1 } });
    assert_eq!(sent[0]["generationConfig"], expected);
    let config = &sent[1]["generationConfig"];
    assert_eq!((&config["topP"], &config["topK"]), (&json!(0.9), &json!(3)));
    assert_eq!(config["thinkingConfig"], expected["thinkingConfig"]);
    assert_eq!(config["responseMimeType"], "application/json");
}

#[tokio::test]
async fn each_reply_is_shown_as_it_arrived_without_keys() {
    check_raw_replies(
        "x-goog-request-id",
        HELLO,
        HELLO_STREAM,
        |url, key, hook| at(url).api_key(key).on_raw_reply(hook),
    )
    .await;
}
