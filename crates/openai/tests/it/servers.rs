//! Agents on the client: the run gives calls ids, and a refusal ends the agent.

use crate::{client, replies};
use agents_core::{Agent, AgentBuilder, Effects, ErrorKind, tool::FnTool};
use agents_http::testing::{Answer, Server};
use serde_json::json;

fn document(message: &str, finish: &str) -> Answer {
    let body = format!(
        r#"{{"choices":[{{"message":{message},"finish_reason":"{finish}"}}],"usage":{{"prompt_tokens":5,"completion_tokens":3}}}}"#
    );
    Answer::json(200, &body)
}

#[tokio::test]
async fn an_agent_calls_tools_whose_calls_have_no_ids() {
    let call = r#"{"function":{"name":"now","arguments":"{}"}}"#;
    let calls = format!(r#"{{"content":null,"tool_calls":[{call},{call}]}}"#);
    let answers = [
        document(&calls, "tool_calls"),
        document(r#"{"content":"noon"}"#, "stop"),
    ];
    let server = Server::plays(answers).await;
    let now = FnTool::new(
        "now",
        "The time.",
        Effects::Reads,
        json!({ "type": "object" }),
        |_, _| async { Ok::<_, std::io::Error>("noon") },
    );
    let clock = AgentBuilder::<String, String>::new("clock")
        .tool(now)
        .model(client(&server))
        .build();
    assert_eq!(clock.run("What time is it?").await.unwrap(), "noon");
    let body = &crate::bodies(&server)[1]["messages"];
    let ids: Vec<_> = body[1]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["id"].clone())
        .collect();
    assert!(ids[0] != ids[1] && ids[0].is_string(), "{body}");
    assert_eq!(
        (&body[2]["tool_call_id"], &body[3]["tool_call_id"]),
        (&ids[0], &ids[1])
    );
}

#[tokio::test]
async fn a_refusal_ends_the_agent_and_counts_its_tokens() {
    let server = replies(document(
        r#"{"content":null,"refusal":"I cannot help with that"}"#,
        "stop",
    ))
    .await;
    let agent = AgentBuilder::<String, String>::new("helper")
        .model(client(&server))
        .build();
    let outcome = agent.run("Do it").outcome().await.unwrap();
    assert_eq!(outcome.usage.tokens(), 8);
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    let text = error.to_string();
    assert!(
        text.contains("the model declined to answer: I cannot help with that"),
        "{text}"
    );
    assert_eq!(server.seen().len(), 1);
}
