//! Marks for the prompt cache, and tools that stay in it.

use crate::{HELLO, bodies, call, client, replies, result, said, system, tools, user};
use agents_anthropic::PromptCache;
use agents_core::model::{History, Model, Request};
use agents_http::testing::Answer;
use serde_json::{Value, json};

#[tokio::test]
async fn tools_that_are_offered_no_more_stay_in_the_cache() {
    let mut history = History::from(vec![user("hi")]);
    let tools = tools();
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server);
    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    history.push(said("", &[]));
    history.push(user("Answer now."));
    model.chat(Request::new(&history)).await.unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies[1]["tools"][0]["name"], bodies[0]["tools"][0]["name"]);
    assert_eq!(bodies[1]["tool_choice"], json!({ "type": "none" }));
}

/// Returns the pointers to all places that are marked for the cache.
fn marks(body: &Value) -> Vec<String> {
    fn find(value: &Value, at: String, marks: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (key, inner) in fields {
                    match &**key {
                        "cache_control" => marks.push(format!("{at} {inner}")),
                        key => find(inner, format!("{at}/{key}"), marks),
                    }
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter().enumerate() {
                    find(inner, format!("{at}/{index}"), marks);
                }
            }
            _ => {}
        }
    }
    let mut marks = Vec::new();
    find(body, String::new(), &mut marks);
    marks
}

#[tokio::test]
async fn a_conversation_that_goes_on_is_marked_for_the_cache() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server);
    let tools = tools();
    let five = r#"{"type":"ephemeral"}"#;

    // A single question would be written into the cache and never read.
    let mut history = History::from(vec![user("hi")]);
    model.chat(Request::new(&history)).await.unwrap();
    assert_eq!(marks(&bodies(&server)[0]), Vec::<String>::new());

    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    let expect = [
        format!("/messages/0/content/0 {five}"),
        format!("/tools/0 {five}"),
    ];
    assert_eq!(marks(&bodies(&server)[1]), expect);

    history = History::from(vec![system("Be brief."), user("hi")]);
    let hour = model.clone().prompt_cache(PromptCache::OneHour);
    hour.chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    let one = r#"{"ttl":"1h","type":"ephemeral"}"#;
    let expect = [
        format!("/messages/0/content/0 {one}"),
        format!("/system/0 {one}"),
    ];
    assert_eq!(marks(&bodies(&server)[2]), expect);

    // The mark moves on with the conversation.
    history.push(said(
        "",
        &[call("a", "read_file", "{}"), call("b", "read_file", "{}")],
    ));
    history.push(result("a", "read_file", "x"));
    history.push(result("b", "read_file", "y"));
    model
        .chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    let expect = [
        format!("/messages/2/content/1 {five}"),
        format!("/system/0 {five}"),
    ];
    assert_eq!(marks(&bodies(&server)[3]), expect);

    let off = model.prompt_cache(PromptCache::Off);
    off.chat(Request::new(&history).with_tools(&tools))
        .await
        .unwrap();
    assert_eq!(marks(&bodies(&server)[4]), Vec::<String>::new());
}
