//! Fields that the client does not know, tools of the server, and replies as they arrive.

use crate::{HELLO, ask, client};
use agents_core::model::{Model, ModelErrorKind as Kind};
use agents_http::testing::{Answer, Server};
use agents_openai::RawReply;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn a_field_for_one_request_is_sent_with_it_alone() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let model = client(&server);
    ask(&model.clone().body("service_tier", "flex"))
        .await
        .unwrap();
    ask(&model).await.unwrap();
    let bodies = server.bodies();
    assert!(
        bodies[0].contains(r#""service_tier":"flex""#),
        "{}",
        bodies[0]
    );
    assert!(!bodies[1].contains("service_tier"));
}

#[tokio::test]
async fn a_field_of_the_client_is_refused_with_the_name_of_what_sets_it() {
    for (field, by) in [
        ("model", "`openai(..)`"),
        ("messages", "the conversation"),
        ("temperature", "`.temperature(..)`"),
        ("max_completion_tokens", "`.max_tokens(..)`"),
        ("response_format", "the type of the answer"),
    ] {
        let server = Server::plays([Answer::json(200, HELLO)]).await;
        let error = ask(&client(&server).body(field, json!(1)))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), Kind::Setup, "{field}");
        let text = format!(
            "the field `{field}` of a request is set by {by}: leave out `.body(\"{field}\", ..)`"
        );
        assert_eq!(error.to_string(), text);
        assert_eq!(server.seen().len(), 0, "nothing is sent");
    }
}

#[tokio::test]
async fn tools_of_the_server_join_those_of_the_agent_in_responses() {
    const DONE: &str = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Oslo"}]}]}"#;
    let search = json!({ "type": "web_search" });
    let server = Server::plays([Answer::json(200, DONE)]).await;
    let model = client(&server).body("tools", json!([search]));
    ask(&model.clone().responses()).await.unwrap();
    let body: Value = serde_json::from_str(&server.bodies()[0]).unwrap();
    assert_eq!(body["tools"], json!([search]));
    let error = ask(&model).await.unwrap_err();
    assert!(error.to_string().contains("`.responses()`"), "{error}");
}

#[tokio::test]
async fn each_reply_is_shown_as_it_arrived_without_keys() {
    let heard: Arc<Mutex<Vec<RawReply>>> = Arc::default();
    let hook = |heard: &Arc<Mutex<Vec<RawReply>>>| {
        let heard = heard.clone();
        move |reply: &RawReply| heard.lock().unwrap().push(reply.clone())
    };
    let refusal = r#"{"error":{"message":"the key sk-hunter2 is not valid"}}"#;
    let server = Server::plays([
        Answer::with_head(200, "x-request-id: req_1\r\n", HELLO),
        Answer::with_head(401, "x-request-id: req_2\r\n", refusal),
    ])
    .await;
    let model = client(&server)
        .api_key("sk-hunter2")
        .on_raw_reply(hook(&heard));
    ask(&model).await.unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.request_id(), Some("req_2"));
    assert!(error.to_string().ends_with("(request req_2)"), "{error}");
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    assert_eq!(
        (heard[0].status, heard[0].request_id.as_deref()),
        (200, Some("req_1"))
    );
    assert_eq!(heard[0].body, HELLO);
    assert_eq!(heard[1].status, 401);
    assert_eq!(heard[1].body, refusal.replace("sk-hunter2", "***"));
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_shown_up_to_there_and_a_panic_of_the_hook_is_none_of_the_run() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = heard.clone();
    let server = Server::plays([Answer::begun().piece("{\"choices\":").cut()]).await;
    let model = client(&server).on_raw_reply(move |reply| {
        kept.lock().unwrap().push(reply.body.clone());
        panic!("a hook that fails")
    });
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Interrupted);
    assert_eq!(model.id(), "openai/m");
    assert_eq!(
        heard.lock().map(|heard| heard.clone()).unwrap_or_default(),
        ["{\"choices\":"]
    );
}
