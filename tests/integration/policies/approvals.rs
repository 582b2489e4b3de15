use crate::world::{WRITES, worker};
use agents::{
    Agent, Code,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
};
use std::sync::atomic::Ordering::SeqCst;

fn script() -> [Script; 2] {
    [
        Script::call("write_file", r#"{"path":"a"}"#),
        Script::text("done"),
    ]
}

// One test: the counter of writes is shared.
#[tokio::test]
async fn a_gated_tool_runs_only_when_somebody_says_so() {
    let (model, handle) = ScriptedModel::new(script());
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .outcome()
        .await
        .unwrap();
    assert_eq!(WRITES.load(SeqCst), 0, "nobody is there: the answer is no");
    assert_eq!(
        outcome
            .outputs
            .receipts()
            .next()
            .unwrap()
            .error
            .as_ref()
            .unwrap()
            .code,
        Code::PolicyDenied
    );
    assert!(
        handle.requests()[1]
            .last()
            .contains("the run has no approver")
    );

    let (model, handle) = ScriptedModel::new(script());
    let no = |request: ApprovalRequest| async move {
        assert_eq!(
            (request.tool_name.as_str(), request.args.as_str()),
            ("write_file", r#"{"path":"a"}"#)
        );
        Approval::deny("not on a Friday")
    };
    worker::<String>()
        .run("go")
        .model(model)
        .approver(no)
        .await
        .unwrap();
    assert_eq!(WRITES.load(SeqCst), 0);
    assert!(
        handle.requests()[1]
            .last()
            .contains("not approved: not on a Friday")
    );

    let (model, handle) = ScriptedModel::new(script());
    let at_the_terminal = |request: ApprovalRequest| async move {
        agents::approve::ask(&request, &mut "use b instead\n".as_bytes(), &mut Vec::new())
    };
    worker::<String>()
        .run("go")
        .model(model)
        .approver(at_the_terminal)
        .await
        .unwrap();
    assert_eq!(WRITES.load(SeqCst), 0);
    assert!(
        handle.requests()[1]
            .last()
            .contains("not approved as it is: use b instead; change the call and make it again")
    );

    let (model, _) = ScriptedModel::new(script());
    let yes = |_| async { Approval::Approve };
    worker::<String>()
        .run("go")
        .model(model)
        .approver(yes)
        .await
        .unwrap();
    assert_eq!(WRITES.load(SeqCst), 1);
}
