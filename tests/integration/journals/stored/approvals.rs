//! Questions to a person, in runs whose process ends before the decision.

use agents::{
    Agent, AgentBuilder, Effects, Error,
    agent::ModelAgent,
    async_trait,
    journal::{Entry, Journal, JournalError, MemoryJournal},
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, ToolSpec},
};
use serde_json::json;
use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::Notify;

/// Journal that takes a while to store anything.
struct Slow(MemoryJournal);

#[async_trait]
impl Journal for Slow {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        self.0.read().await
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.0.append(entries).await
    }
}

/// Asks for 50, and for 20 if told to.
fn clerk() -> ModelAgent<'static, String, String> {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.last() {
        "Pay." => Script::call("pay", r#"{"amount": 50}"#),
        told if told.contains("only 20") => Script::call("pay", r#"{"amount": 20}"#),
        told => Script::text(told),
    });
    let schema = json!({"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]});
    let spec =
        ToolSpec::new("pay", "Pays.", Effects::Writes, schema).approval(NeedsApproval::Always);
    let pay = FnTool::with_spec(spec, |args, _| async move {
        Ok::<_, Error>(format!("paid {}", args["amount"]))
    });
    AgentBuilder::new("clerk").tool(pay).model(model).build()
}

/// Runs until somebody is asked a question that gets none of these decisions. Returns the arguments of all questions.
async fn until_asked(journal: &MemoryJournal, decisions: Vec<Approval>) -> Vec<String> {
    let (asked, left) = (
        Arc::new(Mutex::new(Vec::new())),
        Mutex::new(decisions.into_iter()),
    );
    let parked = Arc::new(Notify::new());
    let (seen, waits) = (asked.clone(), parked.clone());
    let clerk = clerk();
    let run = clerk.run("Pay.").journal(Slow(journal.clone())).approver(
        move |request: ApprovalRequest| {
            seen.lock().unwrap().push(request.args.to_string());
            let decision = left.lock().unwrap().next();
            let waits = waits.clone();
            async move {
                match decision {
                    Some(decision) => decision,
                    None => {
                        waits.notify_one();
                        pending().await
                    }
                }
            }
        },
    );
    tokio::select! {
        outcome = run.outcome() => panic!("{:?}", outcome.unwrap().result),
        // The process ends at once: what the journal does not have now is lost.
        () = parked.notified() => {}
    }
    let asked = asked.lock().unwrap();
    asked.clone()
}

#[tokio::test]
async fn a_later_process_asks_the_very_question_that_a_person_saw() {
    let journal = MemoryJournal::new();
    let (fifty, twenty) = (r#"{"amount": 50}"#, r#"{"amount": 20}"#);
    assert_eq!(until_asked(&journal, Vec::new()).await, [fifty]);
    let change = Approval::Revise {
        note: "only 20".into(),
    };
    assert_eq!(until_asked(&journal, vec![change]).await, [fifty, twenty]);
    assert_eq!(until_asked(&journal, Vec::new()).await, [twenty]);
    let yes = |_: ApprovalRequest| async { Approval::Approve };
    let outcome = clerk()
        .run("Pay.")
        .journal(journal)
        .approver(yes)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "paid 20");
}
