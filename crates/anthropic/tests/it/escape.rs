//! Fields that the client does not know, and replies as they arrive.

use crate::{HELLO, HELLO_STREAM, ask, at, bodies, client, replies, tools, user};
use agents_anthropic::Anthropic;
use agents_core::model::{Capabilities, History, Model, Request};
use agents_http::testing::{Answer, check_fields, check_raw_replies};
use serde_json::{Value, json};

fn with(url: &str, fields: &[(&str, Value)]) -> Anthropic {
    fields.iter().fold(at(url), |model, (name, value)| {
        model.body(*name, value.clone())
    })
}

#[tokio::test]
async fn a_field_of_the_client_is_refused_with_the_name_of_what_sets_it() {
    let own = [
        ("model", "`anthropic(..)`"),
        ("messages", "the conversation"),
        ("system", "the prompt of the agent"),
        ("max_tokens", "`.max_tokens(..)`"),
        ("stop_sequences", "`.stop(..)`"),
        ("output_config.format", "the type of the answer"),
        ("output_config.effort", "`.effort(..)`"),
    ];
    check_fields(HELLO, &own, with).await;
}

#[tokio::test]
async fn fields_join_what_the_client_writes_into_an_object() {
    let server = replies(Answer::json(200, HELLO)).await;
    let able = Capabilities {
        parallel_calls: false,
        ..Capabilities::default()
    };
    let model = client(&server)
        .capable_of(able)
        .effort("low")
        .body("output_config", json!({ "task_budget": { "total": 9 } }))
        .body("tool_choice", json!({ "type": "any" }));
    let history = History::from(vec![user("hi")]);
    let tools = tools();
    let asked = Request::new(&history).with_tools(&tools);
    model.chat(asked).await.unwrap();
    ask(&model).await.unwrap();
    let sent = bodies(&server);
    assert_eq!(
        sent[0]["output_config"],
        json!({ "effort": "low", "task_budget": { "total": 9 } })
    );
    assert_eq!(
        sent[0]["tool_choice"],
        json!({ "type": "any", "disable_parallel_tool_use": true })
    );
    // The server takes no choice without tools.
    assert_eq!(sent[1].get("tool_choice"), None);
}

/// A body with two fields of one name is read in either way.
#[tokio::test]
async fn what_is_set_last_about_thinking_is_sent_alone() {
    let server = replies(Answer::json(200, HELLO)).await;
    let off = json!({ "type": "disabled" });
    let model = client(&server)
        .thinking_budget(2_000)
        .body("thinking", off.clone());
    ask(&model).await.unwrap();
    ask(&model.thinking_budget(3_000)).await.unwrap();
    let sent: Vec<String> = server.bodies();
    for body in &sent {
        assert_eq!(body.matches("\"thinking\":").count(), 1, "{body}");
    }
    assert_eq!(bodies(&server)[0]["thinking"], off);
    assert_eq!(bodies(&server)[1]["thinking"]["budget_tokens"], 3_000);
}

#[tokio::test]
async fn each_reply_is_shown_as_it_arrived_without_keys() {
    check_raw_replies("request-id", HELLO, HELLO_STREAM, |url, key, hook| {
        at(url).api_key(key).on_raw_reply(hook)
    })
    .await;
}
