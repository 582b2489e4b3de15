//! The context of a call, as its tool sees it.

use crate::world::scripted_agent;
use agents::{
    Agent, AgentBuilder, Budget, Effects, ToolContext,
    run::Approval,
    testing::{Script, ScriptedModel},
    tool::{self, FnTool, Scope, ToolSpec},
};
use serde_json::{Value, json};
use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Returns the content of its context.
#[agents::tool(none, timeout = Duration::from_secs(7))]
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
async fn t3_a_tool_knows_its_call_and_tells_no_secret() {
    let agent = scripted_agent("curious", [Script::call("echo", "{}"), Script::text("end")])
        .tool(Echo)
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
    let key = echoed["idempotency_key"].as_str().unwrap();
    let of_call = key.strip_prefix(&format!("{}:", outcome.run_id));
    assert!(of_call.is_some_and(|key| key.len() == 32), "{key}");
    assert!(
        !key.contains(&*receipt.call_id),
        "it tells nothing of the arguments"
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

#[tokio::test(start_paused = true)]
async fn the_time_left_does_not_get_less_while_a_person_is_asked() {
    let spec = ToolSpec::new("send", "Sends.", Effects::Writes, json!({"type": "object"}));
    let send = FnTool::with_spec(spec.approval(tool::NeedsApproval::Always), |_, _| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok::<_, io::Error>("sent")
    });
    let (model, _) = ScriptedModel::new([Script::call("send", "{}"), Script::text("done")]);
    let colleague = AgentBuilder::<String, String>::new("colleague").tool(send);
    let colleague = Arc::new(colleague.model(model).build());
    let left: Arc<Mutex<Vec<Option<u64>>>> = Arc::default();
    let (note, meanwhile) = (left.clone(), Arc::<Mutex<Option<ToolContext>>>::default());
    let kept = meanwhile.clone();
    let ask = FnTool::new(
        "ask",
        "Asks.",
        Effects::None,
        json!({"type": "object"}),
        move |_, cx| {
            let (colleague, note) = (colleague.clone(), note.clone());
            *kept.lock().unwrap() = Some(cx.clone());
            async move {
                let tell = || note.lock().unwrap().push(seconds(&cx));
                tell();
                let answer = colleague.run_in(cx.run(), "go".into()).await;
                tell();
                answer
            }
        },
    );
    let told = left.clone();
    let slowly = move |_| {
        let (cx, told) = (meanwhile.clone(), told.clone());
        async move {
            tokio::time::sleep(Duration::from_secs(600)).await;
            let cx = cx.lock().unwrap().take().unwrap();
            told.lock().unwrap().push(seconds(&cx));
            Approval::Approve
        }
    };
    let (model, _) = ScriptedModel::new([Script::call("ask", "{}"), Script::text("end")]);
    let boss = AgentBuilder::<String, String>::new("boss").tool(ask);
    let run = boss.model(model).build();
    let run = run.run("go").tool_timeout(Duration::from_secs(10));
    assert_eq!(run.approver(slowly).await.unwrap(), "end");
    // Before, while the person thinks, and after the second that the colleague's tool has taken.
    assert_eq!(*left.lock().unwrap(), [Some(10), Some(10), Some(9)]);
}

fn seconds(cx: &ToolContext) -> Option<u64> {
    cx.time_left().map(|left| left.as_secs())
}

#[tokio::test]
async fn t1_a_function_that_takes_the_context_is_tested_as_one() {
    let cx = ToolContext::detached("echo");
    let said = echo(&cx).await;
    assert_eq!(said["run_id"], cx.run_id());
    assert_eq!((cx.tool(), cx.attempt()), ("echo", 1));
    assert!(cx.time_left().is_none() && !cx.cancellation().is_cancelled());
    assert!(cx.secret("bank").await.is_err());
}

/// An arm gets the scope of the run, its id and its remaining time.
#[tokio::test(start_paused = true)]
async fn an_arm_knows_the_run_around_the_call() {
    let fetch = FnTool::new(
        "fetch",
        "Fetches.",
        Effects::Reads,
        json!({"type": "object"}),
        |_, _| async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            Err::<(), _>(io::Error::other("gone"))
        },
    );
    type Seen = (String, Option<String>, Option<u64>);
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let told = seen.clone();
    let agent = scripted_agent("scout", [Script::call("fetch", "{}"), Script::text("done")])
        .tool(fetch)
        .budget(Budget::new().time(Duration::from_secs(60)))
        .on_error(move |_, cx| {
            told.lock().unwrap().push((
                cx.run_id().to_owned(),
                cx.scope().user_id.clone(),
                cx.time_left().map(|left| left.as_secs()),
            ));
            None
        })
        .build();
    let run = agent.run("go").scope(Scope::from("acme").user("ada"));
    let hurried = Budget::new().time(Duration::from_secs(30));
    let outcome = run.budget(hurried).outcome().await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [(outcome.run_id, Some("ada".to_owned()), Some(26))],
        "of the agent's minute and the run's half, the run's is the tighter"
    );
}
