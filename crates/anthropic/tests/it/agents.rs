//! Agents on the client: tools end to end, and a refusal ends the agent.

use crate::{bodies, client, decoding, replies};
use agents_core::{Agent, AgentBuilder, Effects, ErrorKind, tool::FnTool};
use agents_http::testing::{Answer, Server};
use serde_json::json;

fn document(content: &str, stop_reason: &str) -> Answer {
    let body = format!(
        r#"{{"type":"message","content":{content},"stop_reason":"{stop_reason}","usage":{{"input_tokens":5,"output_tokens":3}}}}"#
    );
    Answer::json(200, &body)
}

fn clock() -> FnTool {
    FnTool::new(
        "now",
        "The time.",
        Effects::Reads,
        json!({ "type": "object" }),
        |_, _| async { Ok::<_, std::io::Error>("noon") },
    )
}

#[tokio::test]
async fn an_agent_calls_tools_whose_calls_have_no_ids() {
    let call = r#"{"type":"tool_use","name":"now","input":{}}"#;
    let answers = [
        document(&format!("[{call},{call}]"), "tool_use"),
        document(r#"[{"type":"text","text":"noon"}]"#, "end_turn"),
    ];
    let server = Server::plays(answers).await;
    let clock = AgentBuilder::<String, String>::new("clock")
        .tool(clock())
        .model(client(&server))
        .build();
    assert_eq!(clock.run("What time is it?").await.unwrap(), "noon");
    let body = &bodies(&server)[1]["messages"];
    let ids: Vec<_> = (0..2)
        .map(|index| body[1]["content"][index]["id"].clone())
        .collect();
    assert!(ids[0] != ids[1] && ids[0].is_string(), "{body}");
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(&body[2]["content"][index]["tool_use_id"], id);
    }
}

#[tokio::test]
async fn an_agent_thinks_on_between_its_calls() {
    let thinking: (&str, &[&str]) = (
        r#"{"type":"thinking","thinking":"hm","signature":"EqQB"}"#,
        &[],
    );
    let call: (&str, &[&str]) = (
        r#"{"type":"tool_use","id":"toolu_1","name":"now","input":{}}"#,
        &[],
    );
    let answer: (&str, &[&str]) = (r#"{"type":"text","text":"noon"}"#, &[]);
    let answers = [
        Answer::pieces([decoding::blocks(&[thinking, call], "tool_use")]),
        Answer::pieces([decoding::blocks(&[thinking, answer], "end_turn")]),
    ];
    let server = Server::plays(answers).await;
    let agent = AgentBuilder::<String, String>::new("clock")
        .tool(clock())
        .model(client(&server))
        .build();
    let outcome = agent
        .run("What time is it?")
        .on_event(|_| ())
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "noon");
    assert_eq!(outcome.usage.tokens(), 32);
    let body = &bodies(&server)[1];
    let expect = json!({ "type": "thinking", "thinking": "hm", "signature": "EqQB" });
    assert_eq!(body["messages"][1]["content"][0], expect);
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
}

#[tokio::test]
async fn a_refusal_ends_the_agent_and_counts_its_tokens() {
    let body = r#"{"content":[],"stop_reason":"refusal","stop_details":{"explanation":"It is forbidden."},"usage":{"input_tokens":5,"output_tokens":3}}"#;
    let server = replies(Answer::json(200, body)).await;
    let agent = AgentBuilder::<String, String>::new("helper")
        .model(client(&server))
        .build();
    let outcome = agent.run("Do it").outcome().await.unwrap();
    assert_eq!(outcome.usage.tokens(), 8);
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    let text = error.to_string();
    assert!(
        text.contains("the model declined to answer: It is forbidden."),
        "{text}"
    );
    assert_eq!(server.seen().len(), 1);
}
