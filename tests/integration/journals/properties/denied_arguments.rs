//! Arguments that a person has denied never run, even after a resumption.

use agents::{
    Agent, AgentBuilder, Effects,
    recovery::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval as Asks, ToolSpec},
};
use serde_json::json;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn a_retry_behind_a_fix_that_a_person_denied_runs_with_the_arguments_of_the_model() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let spec = ToolSpec::new("sign", "Signs.", Effects::Writes, schema).idempotent();
    let log = ran.clone();
    let sign = FnTool::with_spec(spec.approval(Asks::Always), move |args, _| {
        log.lock().unwrap().push(args["n"].as_u64());
        async { Err::<String, _>("the pen is empty") }
    });
    let (model, _) = ScriptedModel::new([Script::call("sign", r#"{"n":24}"#), Script::text("no")]);
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(sign)
        .on_error(|error, _| match error {
            CallError::Execution(_) => {
                let again = retry().max_attempts(2).backoff(none());
                Some(fix::<Execution>(r#"{"n":2}"#.to_owned()).or(again).into())
            }
            _ => None,
        })
        .model(model)
        .build();
    let run = agent.run("Sign.").approver(|request: ApprovalRequest| {
        let is_fix = request.args.as_str().contains(":2}");
        async move {
            match is_fix {
                true => Approval::deny("not that one"),
                false => Approval::Approve,
            }
        }
    });
    run.await.unwrap();
    assert_eq!(*ran.lock().unwrap(), [Some(24), Some(24)]);
}
