//! Runs whose process ends, and the guarantees of their journals.

mod approvals;
mod files;
mod secrets;
mod terms;
mod unknown_effects;

use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, Outcome, ToolContext,
    agent::ModelAgent,
    async_trait,
    journal::{Entry, FileJournal, Journal, JournalError, Key, MemoryJournal},
    policy::{confirm_writes, read_only},
    recovery::*,
    run::{Approval, ApprovalRequest, Stopped, ToolEnvelope, hours},
    testing::{Script, ScriptedModel},
    tool::{FnTool, InDoubt, NeedsApproval as Asks, ToolSpec, done, not_done},
};
use serde_json::{Value, json};
use std::{
    fs, io,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Arguments with which a tool has run.
type Ran = Arc<Mutex<Vec<String>>>;

fn spec(effects: Effects) -> ToolSpec {
    let schema =
        json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    ToolSpec::new("pay", "Pays.", effects, schema)
}

fn pay(ran: &Ran, spec: ToolSpec) -> FnTool {
    let ran = ran.clone();
    FnTool::with_spec(spec, move |args: Value, cx: ToolContext| {
        let line = format!("{} {}", cx.idempotency_key(), args["sum"]);
        ran.lock().unwrap().push(line);
        async { Ok::<_, io::Error>("paid") }
    })
}

fn clerk(pay: FnTool) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("clerk")
        .prompt("Pay.")
        .tool(pay)
        .build()
}

fn pays(times: usize) -> Vec<Script> {
    let calls = (1..=times).map(|sum| Script::call("pay", json!({ "sum": sum }).to_string()));
    calls.chain([Script::text("done")]).collect()
}

async fn yes(_: ApprovalRequest) -> Approval {
    Approval::Approve
}

/// The journal up to and with the nth entry of this kind, from 1.
fn up_to(journal: &MemoryJournal, kind: &str, nth: usize) -> MemoryJournal {
    let entries = journal.entries();
    let mut of_kind = entries.iter().filter(|entry| entry.kind() == kind);
    let last = of_kind.nth(nth - 1).expect("there are so many").seq() as usize;
    MemoryJournal::of(entries[..last].to_vec())
}

fn model(scripts: Vec<Script>) -> ScriptedModel {
    ScriptedModel::new(scripts).0
}

#[tokio::test]
async fn a_run_of_its_own_in_a_tool_is_stored_with_the_run_around_it() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let inner = Arc::new(clerk(pay(
        &ran,
        spec(Effects::Writes).approval(Asks::Always),
    )));
    let office = FnTool::new(
        "office",
        "Pays there.",
        Effects::Reads,
        json!({"type": "object"}),
        move |_, _| {
            let inner = inner.clone();
            async move {
                let outcome = inner.run("inside").scope("acme").outcome().await.unwrap();
                outcome
                    .result
                    .map_err(|error| io::Error::other(error.to_string()))
            }
        },
    );
    let agent = AgentBuilder::<String, String>::new("boss")
        .tool(office)
        .build();
    let script = || {
        vec![
            Script::call("office", "{}"),
            Script::call("pay", r#"{"sum": 1}"#),
            Script::text("inside is done"),
            Script::text("all is done"),
        ]
    };
    let run = agent
        .run("go")
        .model(model(script()))
        .approver(yes)
        .journal(journal.clone());
    assert_eq!(run.await.unwrap(), "all is done");
    assert_eq!(
        ran.lock().unwrap().len(),
        1,
        "the approver of the run around decides"
    );

    // The process ended after the inner run had paid; the resumed run does not pay again.
    let cut = up_to(&journal, "ended", 1);
    let rest = model(script().into_iter().skip(2).collect());
    let run = agent.run("go").model(rest).approver(yes).journal(cut);
    assert_eq!(run.await.unwrap(), "all is done");
    assert_eq!(ran.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_panic_whose_payload_panics_too_is_a_failure_of_the_call() {
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("and again");
            }
        }
    }

    let bomb = FnTool::new(
        "bomb",
        "Goes off.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async {
            if true {
                std::panic::panic_any(Bomb)
            } else {
                Ok::<_, io::Error>(())
            }
        },
    );
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(bomb)
        .build();
    let script = vec![Script::call("bomb", "{}"), Script::text("it went off")];
    let outcome = agent
        .run("go")
        .model(model(script))
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "it went off");
    let receipt = outcome.outputs.receipts().next().unwrap();
    let error = receipt.error.as_ref().unwrap();
    assert_eq!(error.message, "it panicked: it did not say why");
}

#[tokio::test]
async fn a_run_that_is_dropped_gives_up_no_call_and_goes_on() {
    let runs = Arc::new(tokio::sync::Notify::new());
    let waits = |first: bool| {
        let runs = runs.clone();
        FnTool::with_spec(spec(Effects::Reads), move |_, _| {
            let runs = runs.clone();
            async move {
                runs.notify_one();
                match first {
                    true => std::future::pending().await,
                    false => Ok::<_, std::io::Error>("paid"),
                }
            }
        })
    };
    let team = |first: bool, script: Vec<Script>| {
        let boss = AgentBuilder::<String, String>::new("boss").model(model(script));
        agents::team::Member::new(boss.build())
            .delegate(
                AgentBuilder::<String, String>::new("clerk")
                    .tool(waits(first))
                    .build(),
            )
            .build()
    };
    let script = vec![
        Script::call("clerk", r#"{"input": "go"}"#),
        Script::call("pay", r#"{"sum": 1}"#),
    ];
    let journal = MemoryJournal::new();
    let agent = team(true, script);
    let run = agent.run("go").journal(journal.clone());
    tokio::select! {
        outcome = run.into_future() => panic!("{outcome:?}"),
        () = runs.notified() => {}
    }
    // A separate task stores the rest.
    let begun = || {
        journal
            .entries()
            .last()
            .is_some_and(|one| one.kind() == "begun")
    };
    for _ in 0..1000 {
        if begun() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let kinds: Vec<_> = journal
        .entries()
        .iter()
        .map(|one| one.kind().to_owned())
        .collect();
    assert_eq!(kinds.last().unwrap(), "begun", "{kinds:?}");

    let rest = vec![Script::text("it is paid"), Script::text("done")];
    let agent = team(false, rest);
    let outcome = agent.run("go").journal(journal).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts.len(), 2, "{receipts:?}");
    assert!(receipts.iter().all(|receipt| receipt.is_ok()));
}
