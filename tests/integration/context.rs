//! What a tool may know about the call it serves.

use agents::{
    Agent, AgentBuilder, ToolContext,
    testing::{Script, ScriptedModel},
    tool,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Tells what it knows.
#[tool(none, timeout = Duration::from_secs(7))]
async fn echo(cx: &ToolContext) -> Value {
    json!({
        "run_id": cx.run_id(),
        "call_id": cx.call_id(),
        "tool": cx.tool(),
        "attempt": cx.attempt(),
        "time_left": cx.time_left().is_some_and(|left| left <= Duration::from_secs(7)),
        "cancelled": cx.cancellation().is_cancelled(),
        "idempotency_key": cx.idempotency_key(),
        "tenant": cx.tenant_id(),
        "user": cx.scope().user_id,
        "has_key": cx.secret("crm").await.is_ok_and(|secret| secret.expose_secret().len() == 11),
        "has_other": cx.find_secret("erp").await.is_ok_and(|secret| secret.is_some()),
        "debug": format!("{cx:?}"),
    })
}

#[tokio::test]
async fn a_tool_knows_its_call_and_tells_no_secret() {
    let (model, _) = ScriptedModel::new([Script::call("echo", "{}"), Script::text("end")]);
    let agent = AgentBuilder::<String, String>::new("curious")
        .tool(Echo)
        .model(model)
        .build();
    let outcome = agent
        .run("go")
        .scope(agents::tool::Scope::from("acme").user("ada"))
        .secret("crm", "hunter2-key".to_owned())
        .outcome()
        .await
        .unwrap();
    let receipt = outcome.outputs.last_tool.as_ref().unwrap();
    let echoed: Value = receipt.output.as_ref().unwrap().to().unwrap();
    assert_eq!(echoed["run_id"], json!(outcome.run_id));
    assert_eq!(echoed["call_id"], json!(receipt.call_id));
    assert_eq!(
        echoed["idempotency_key"],
        json!(format!("{}:{}", outcome.run_id, receipt.call_id))
    );
    assert_eq!(
        (&echoed["tool"], &echoed["attempt"]),
        (&json!("echo"), &json!(1))
    );
    assert_eq!(
        (&echoed["tenant"], &echoed["user"]),
        (&json!("acme"), &json!("ada"))
    );
    assert_eq!(
        (&echoed["time_left"], &echoed["cancelled"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        (&echoed["has_key"], &echoed["has_other"]),
        (&json!(true), &json!(false))
    );
    assert!(
        !serde_json::to_string(&outcome.outputs)
            .unwrap()
            .contains("hunter2")
    );
}
