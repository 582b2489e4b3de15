//! Agents on the client: tools end to end, and a filter ends the agent.

use crate::{bodies, client, decoding, replies};
use agents_core::{Agent, AgentBuilder, Effects, ErrorKind, tool::FnTool};
use agents_http::testing::{Answer, Server};
use serde_json::json;

#[tokio::test]
async fn an_agent_calls_tools_and_gets_each_result_in_its_place() {
    let call = |city: &str, signature: &str| {
        format!(r#"{{"functionCall":{{"name":"weather","args":{{"city":"{city}"}}}}{signature}}}"#)
    };
    let (oslo, rome) = (
        call("Oslo", r#","thoughtSignature":"c2ln""#),
        call("Rome", ""),
    );
    let answers = [
        Answer::pieces([decoding::stream(&[&oslo, &rome])]),
        Answer::pieces([decoding::stream(&[r#"{"text":"rain, sun"}"#])]),
    ];
    let server = Server::plays(answers).await;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let weather = FnTool::new(
        "weather",
        "The weather.",
        Effects::Reads,
        schema,
        |arguments: serde_json::Value, _| async move {
            let is_oslo = arguments["city"] == "Oslo";
            // The first call ends last.
            tokio::time::sleep(std::time::Duration::from_millis(if is_oslo {
                50
            } else {
                0
            }))
            .await;
            Ok::<_, std::io::Error>(if is_oslo { "rain" } else { "sun" })
        },
    );
    let agent = AgentBuilder::<String, String>::new("forecast")
        .tool(weather)
        .model(client(&server))
        .build();
    let outcome = agent
        .run("Oslo and Rome?")
        .on_event(|_| ())
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "rain, sun");
    let contents = &bodies(&server)[1]["contents"];
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "c2ln");
    let output = |index: usize| {
        contents[2]["parts"][index]["functionResponse"]["response"]["output"].clone()
    };
    assert_eq!((output(0), output(1)), (json!("rain"), json!("sun")));
}

#[tokio::test]
async fn a_filter_ends_the_agent_and_counts_its_tokens() {
    let body =
        r#"{"candidates":[{"finishReason":"SAFETY"}],"usageMetadata":{"promptTokenCount":8}}"#;
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
        text.contains("a filter of the provider withheld the reply: SAFETY"),
        "{text}"
    );
    assert_eq!(server.seen().len(), 1);
}
