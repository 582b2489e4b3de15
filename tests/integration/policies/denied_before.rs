//! A call like one that was denied says so to whoever is asked next, or is refused by itself.

use agents::{
    Agent, AgentBuilder, Effects,
    agent::ModelAgent,
    journal::MemoryJournal,
    run::{Approval, ApprovalReason, ApprovalRequest, EarlierDenial},
    team::Member,
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, ToolSpec},
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn cashier() -> AgentBuilder<'static, String, String> {
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, json!({"type": "object"}))
        .approval(NeedsApproval::Always);
    let pay = FnTool::with_spec(spec, |_: Value, _| async {
        Ok::<_, std::io::Error>("paid")
    });
    AgentBuilder::<String, String>::new("cashier").tool(pay)
}

fn pay(arguments: &str) -> Script {
    Script::call("pay", arguments)
}

type Asked = Arc<Mutex<Vec<Vec<ApprovalReason>>>>;

/// Returns an approver who denies everything in this name, and keeps the reasons of each request.
fn denies(
    asked: &Asked,
    name: &'static str,
) -> impl Fn(ApprovalRequest) -> std::future::Ready<agents::run::ApprovalDecision> + Send + Sync + 'static
{
    let asked = asked.clone();
    move |request| {
        asked.lock().unwrap().push(request.reasons);
        std::future::ready(Approval::deny("no refund, fraud").by(name))
    }
}

fn denials(reasons: &[ApprovalReason]) -> Vec<&EarlierDenial> {
    let denials = reasons.iter().filter_map(|reason| match reason {
        ApprovalReason::DeniedBefore(denial) => Some(denial),
        _ => None,
    });
    denials.collect()
}

async fn requests(
    cashier: &ModelAgent<'_, String, String>,
    script: impl IntoIterator<Item = Script>,
) -> Vec<Vec<ApprovalReason>> {
    let asked = Asked::default();
    let (model, _) = ScriptedModel::new(script);
    let run = cashier
        .run("Pay.")
        .model(model)
        .approver(denies(&asked, "ada"));
    run.await.unwrap();
    let asked = asked.lock().unwrap();
    asked.clone()
}

#[tokio::test]
async fn whoever_is_asked_next_is_told_of_the_denial() {
    let script = [
        pay(r#"{"cents": 5, "to": "bob"}"#),
        pay(r#"{"to":"bob","cents":5}"#),
        pay(r#"{"cents": 6, "to": "bob"}"#),
        Script::text("done"),
    ];
    let asked = requests(&cashier().build(), script).await;
    let [first, second, other] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert!(denials(first).is_empty() && denials(other).is_empty());
    let [denial] = denials(second)[..] else {
        panic!("{second:?}");
    };
    assert_eq!(
        (denial.by.as_deref(), &*denial.reason),
        (Some("ada"), "no refund, fraud")
    );
    let told = second.last().unwrap().to_string();
    assert!(
        told.starts_with("the same call was denied before: no refund, fraud (by ada, 20"),
        "{told}"
    );
}

#[tokio::test]
async fn a_change_that_was_asked_for_is_told_as_well() {
    let asked = Asked::default();
    let seen = asked.clone();
    let (model, _) = ScriptedModel::new([pay("{}"), pay("{}"), Script::text("done")]);
    let run = cashier().build();
    let run = run
        .run("Pay.")
        .model(model)
        .approver(move |request: ApprovalRequest| {
            seen.lock().unwrap().push(request.reasons);
            std::future::ready(Approval::Revise {
                note: "in euros".to_owned(),
            })
        });
    run.await.unwrap();
    assert_eq!(denials(&asked.lock().unwrap()[1])[0].reason, "in euros");
}

#[tokio::test]
async fn a_denied_call_is_refused_by_itself_where_that_is_set() {
    let script = || [pay("{}"), pay("{}"), pay("{}"), Script::text("done")];
    for (cashier, by_the_run) in [
        (cashier().refuse_denied().build(), false),
        (cashier().build(), true),
    ] {
        let asked = Asked::default();
        let (model, handle) = ScriptedModel::new(script());
        let run = cashier
            .run("Pay.")
            .model(model)
            .approver(denies(&asked, "ada"));
        let run = match by_the_run {
            true => run.refuse_denied(),
            false => run,
        };
        let outcome = run.outcome().await.unwrap();
        assert_eq!(asked.lock().unwrap().len(), 1);
        let refused = outcome.outputs.receipts().nth(1).unwrap();
        let error = refused.error.as_ref().unwrap();
        assert_eq!(error.reason.as_deref(), Some("APPROVAL_DENIED"));
        let told = handle.requests()[2].last().to_owned();
        assert!(
            told.contains("was denied before: no refund, fraud (by ada"),
            "{told}"
        );
    }
}

/// The delegate asks for what its lead was denied: the approver is told.
#[tokio::test]
async fn a_denial_holds_for_the_runs_within_as_well() {
    let lead = cashier().build();
    let clerk = {
        let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, json!({"type": "object"}))
            .approval(NeedsApproval::Always);
        let pay = FnTool::with_spec(spec, |_: Value, _| async {
            Ok::<_, std::io::Error>("paid")
        });
        AgentBuilder::<String, String>::new("clerk")
            .tool(pay)
            .build()
    };
    let team = Member::new(lead).delegate(clerk).build();
    let (model, _) = ScriptedModel::new([
        pay("{}"),
        Script::call("clerk", r#"{"input": "Pay it."}"#),
        pay("{}"),
        Script::text("not paid"),
        Script::text("done"),
    ]);
    let asked = Asked::default();
    let run = team
        .run("Pay.")
        .model(model)
        .approver(denies(&asked, "ada"));
    run.await.unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!(denials(asked.last().unwrap()).len(), 1, "{asked:?}");
}

/// Another approver, in another process: the denial is in the journal.
#[tokio::test]
async fn a_run_that_goes_on_knows_the_denials() {
    let script = || [pay("{}"), pay("{}"), Script::text("done")];
    let whole = MemoryJournal::new();
    let asked = Asked::default();
    let cashier = cashier().build();
    let (model, _) = ScriptedModel::new(script());
    let run = cashier
        .run("Pay.")
        .model(model)
        .approver(denies(&asked, "ada"));
    run.journal(whole.clone()).await.unwrap();
    let mut seen = 0;
    for at in crate::world::put_down(&whole) {
        let asked = Asked::default();
        let (model, _) = ScriptedModel::new(script().into_iter().skip(at.replies()));
        let run = cashier
            .run("Pay.")
            .model(model)
            .approver(denies(&asked, "grace"));
        run.journal(at.journal()).await.unwrap();
        let asked = asked.lock().unwrap();
        let told: Vec<_> = asked.iter().flat_map(|reasons| denials(reasons)).collect();
        seen += told
            .iter()
            .filter(|denial| denial.by.as_deref() == Some("ada"))
            .count();
    }
    assert!(seen > 0);
}
