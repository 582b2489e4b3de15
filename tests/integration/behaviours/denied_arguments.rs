//! Replacement arguments that are denied: they count as an attempt, and the original failure stays.

use super::*;
use crate::world::schema_of_n;
use ::agents::{
    Effects,
    policy::{Action, Verdict},
    recovery::*,
    run::Approval,
    run::RepairKind,
    tool::{FnTool, ToolSpec},
};

const SENT: &str = r#"{"n":50}"#;
const GIVEN: &str = r#"{"n":5}"#;

/// Runs a call of a tool that fails halfway, with arms that give other arguments, which are denied.
async fn booked(sent: &str, asks: bool) -> (Outcome<String>, String, Vec<String>) {
    let ran: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ran.clone();
    let schema = schema_of_n();
    let spec = ToolSpec::new("book", "Books.", Effects::Writes, schema);
    let tool = FnTool::with_spec(spec, move |args, _| {
        log.lock().unwrap().push(args.to_string());
        async { Err::<String, _>(io::Error::other("half of it was written")) }
    });
    let (model, handle) = ScriptedModel::new([Script::call("book", sent), Script::text("end")]);
    let agent: Plain = AgentBuilder::new("desk")
        .tool(tool)
        .on_error(
            |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
                CallError::Execution(_) => {
                    Some(fix::<Execution>(GIVEN).or(feedback("ask the desk")).into())
                }
                CallError::InvalidArgs(..) => Some(fix::<InvalidArgs>(GIVEN).into()),
                _ => None,
            },
        )
        .model(model)
        .build();
    let rule = move |action: &Action<'_>| match action {
        Action::Tool(call) if call.args.is_some_and(|args| args.as_str() == GIVEN) => match asks {
            true => Verdict::Confirm,
            false => Verdict::deny("nothing for 5"),
        },
        _ => Verdict::Allow,
    };
    let run = agent.run("go").policy(rule);
    let run = run.approver(|_| async { Approval::deny("nothing for 5") });
    let outcome = run.outcome().await.unwrap();
    let told = handle.requests()[1].last().to_owned();
    let ran = ran.lock().unwrap().clone();
    (outcome, told, ran)
}

fn tried(receipt: &ToolEnvelope) -> &str {
    assert_eq!(receipt.repairs.len(), 1, "{}", receipt.repairs);
    let change = receipt.repairs.iter().next().unwrap();
    assert_eq!(change.kind, RepairKind::Tried);
    &change.note
}

#[tokio::test]
async fn for_a_failed_execution_the_execution_is_told() {
    for (asks, why) in [
        (false, "nothing for 5"),
        (true, "not approved: nothing for 5"),
    ] {
        let (outcome, told, ran) = booked(SENT, asks).await;
        assert_eq!(ran, [SENT], "what was denied did not run");
        assert!(
            told.starts_with("ERROR UNKNOWN (Terminal) in `book`: half of it was written")
                && told.ends_with("; ask the desk"),
            "the plan goes on: {told}"
        );
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.input.as_str(), SENT);
        let error = receipt.error.as_ref().unwrap();
        assert_eq!(error.message, "half of it was written");
        assert_eq!(receipt.attempts.len(), 1);
        let note = tried(receipt);
        assert!(
            note.starts_with(&format!("`fix` tried `{GIVEN}` in vain: ")) && note.contains(why),
            "{note}"
        );
    }
}

#[tokio::test]
async fn for_a_text_that_cannot_be_read_the_text_is_told() {
    for asks in [false, true] {
        let (outcome, told, ran) = booked("five, please", asks).await;
        assert!(ran.is_empty());
        assert!(told.contains("no JSON found"), "{told}");
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.error.as_ref().unwrap().kind, "InvalidArgs");
        assert!(receipt.attempts.is_empty());
        assert!(tried(receipt).contains("nothing for 5"));
    }
}

/// A denied call with the model's own arguments is not repaired by an arm.
#[tokio::test]
async fn for_the_model_s_own_arguments_the_denial_is_told() {
    for asks in [false, true] {
        let (outcome, told, ran) = booked(GIVEN, asks).await;
        assert!(ran.is_empty());
        let reason = if asks { ", APPROVAL_DENIED" } else { "" };
        let told_as = format!("ERROR POLICY_DENIED (Policy{reason})");
        assert!(told.starts_with(&told_as), "{told}");
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert!(receipt.repairs.is_empty() && receipt.attempts.is_empty());
    }
}
