//! Approvals on receipts: the person who decided, and the time that the decision took.

use crate::world::{Plain, agent_with, counted, recorded, scripted_agent, spec, tells_the_same};
use agents::{
    Agent, Effects, Outcome, console,
    recovery::{CallError, Execution, fix},
    run::{Approval, ApprovalDecision, ApprovalRequest, EventKind, ToolEnvelope},
    testing::Script,
    timeline,
    tool::{self, FnTool},
};
use std::sync::{Arc, Mutex};

/// Pays three times.
fn payer() -> Plain {
    let pay = spec("pay", Effects::Writes).approval(tool::NeedsApproval::Always);
    let call = |sum: u32| ("pay", format!(r#"{{"sum":{sum}}}"#));
    let script = [
        Script::calls([call(1), call(2), call(3)]),
        Script::text("done"),
    ];
    agent_with([counted(pay).0], script).0
}

/// Ada approves the first call, Grace denies the second, and the third is sent back without a name.
async fn on_duty(request: ApprovalRequest) -> ApprovalDecision {
    match request.args.as_str() {
        r#"{"sum":1}"# => Approval::Approve.by("Ada"),
        r#"{"sum":2}"# => Approval::deny("too much").by("Grace"),
        _ => Approval::Revise {
            note: "less".into(),
        }
        .into(),
    }
}

const FIELDS: [&str; 12] = [
    "call_id",
    "name",
    "version",
    "input",
    "output",
    "error",
    "t_start",
    "t_end",
    "cached",
    "truncated",
    "attachments",
    "attempts",
];

/// Returns, for each call, the person who approved or denied it.
fn names(outcome: &Outcome<String>) -> Vec<Option<&str>> {
    fn by(receipt: &ToolEnvelope) -> Option<&str> {
        match &receipt.error {
            Some(error) => error.decided_by(),
            None => receipt.attempts.first()?.approved_by.as_deref(),
        }
    }
    outcome.outputs.receipts().map(by).collect()
}

#[tokio::test]
async fn who_decided_is_on_receipts_in_journals_events_and_in_the_pictures() {
    let decided = Arc::<Mutex<Vec<_>>>::default();
    let noted = decided.clone();
    let agent = payer();
    let run = agent.run("go").approver(on_duty).on_event(move |event| {
        if let EventKind::ApprovalDecided { by, .. } = &event.kind {
            let line = console::line(event, false).unwrap();
            noted
                .lock()
                .unwrap()
                .push((by.clone(), line.trim().to_owned()));
        }
    });
    let (outcome, recorded) = recorded(run).await;
    assert_eq!(names(&outcome), [Some("Ada"), Some("Grace"), None]);
    let told = decided.lock().unwrap().clone();
    for (by, said) in [
        (Some("Ada"), "approved by Ada"),
        (Some("Grace"), "denied by Grace"),
        (None, "to be changed"),
    ] {
        let found = told
            .iter()
            .any(|(name, line)| name.as_deref() == by && line.contains(said));
        assert!(found, "{said}: {told:?}");
    }
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    // The names are in `attempts` and in the details of errors; a receipt has no further fields.
    for receipt in &receipts {
        let json = serde_json::to_value(receipt).unwrap();
        for field in json.as_object().unwrap().keys() {
            let field = field.as_str();
            assert!(FIELDS.contains(&field), "{field}");
        }
    }
    assert!(receipts[1].attempts.is_empty());
    let drawn = timeline::of(&outcome).width(200).to_string();
    for said in ["approved by Ada after ", "denied by Grace"] {
        assert!(drawn.contains(said), "{drawn}");
    }
    assert!(console::receipt(receipts[1], false).contains("denied by Grace"));
    tells_the_same(&recorded, &outcome);
}

/// Each execution is approved separately. The console's line has the number of approvals, and the last approver.
#[tokio::test]
async fn the_line_of_a_call_tells_the_last_of_several_approvals() {
    let look = FnTool::with_spec(
        spec("look", Effects::Reads).approval(tool::NeedsApproval::Always),
        |args, _| async move {
            match args["n"].as_u64() {
                Some(3) => Ok("found"),
                _ => Err("nothing there"),
            }
        },
    );
    let script = [Script::call("look", r#"{"n":1}"#), Script::text("done")];
    let agent = scripted_agent("a", script)
        .tool(look)
        .on_error(|error, _| match error {
            CallError::Execution(_) => {
                Some(fix::<Execution>(r#"{"n":2}"#).or(fix(r#"{"n":3}"#)).into())
            }
            _ => None,
        })
        .build();
    let on_duty = |request: ApprovalRequest| async move {
        match request.args.as_str() {
            r#"{"n":3}"# => Approval::Approve.by("Grace"),
            _ => Approval::Approve.by("Ada"),
        }
    };
    let outcome = agent.run("go").approver(on_duty).outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    let line = console::receipt(receipt, false);
    assert!(
        line.contains("(approved 3 times, last by Grace after "),
        "{line}"
    );
}

/// The event and the console's line of a call agree.
#[tokio::test]
async fn a_call_that_is_to_be_changed_was_not_denied() {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let log = lines.clone();
    let outcome = payer()
        .run("go")
        .approver(|request: ApprovalRequest| async move {
            match request.args.as_str() {
                r#"{"sum":1}"# => Approval::deny("too much").by("Grace"),
                _ => {
                    let note = "less".into();
                    Approval::Revise { note }.by("Ada")
                }
            }
        })
        .on_event(move |event| log.lock().unwrap().extend(console::line(event, false)))
        .outcome()
        .await
        .unwrap();
    let lines = lines.lock().unwrap().join("\n");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let errors: Vec<_> = receipts.iter().flat_map(|receipt| &receipt.error).collect();
    let said: Vec<_> = errors.iter().map(|error| error.is_revised()).collect();
    assert_eq!(said, [false, true, true]);
    assert!(console::receipt(receipts[0], false).contains("(denied by Grace, "));
    assert!(console::receipt(receipts[1], false).contains("(to be changed by Ada, "));
    assert!(!lines.contains("denied by Ada"), "{lines}");
    assert!(
        timeline::of(&outcome)
            .width(200)
            .to_string()
            .contains("to be changed by Ada")
    );
}
