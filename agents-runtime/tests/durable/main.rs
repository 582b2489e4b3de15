//! Durable runs: started, waited for, decided, cancelled, held, and what a stranger in the database cannot do.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod audit;
mod contents;
mod office;
mod undo;

use office::*;

use agents::{
    AgentBuilder, Effects, Error, ErrorKind,
    journal::Follower,
    run::EventKind,
    testing::{Script, ScriptedModel},
    tool::{FnTool, Risk, Scope},
};
use agents_runtime::{
    Approval, FileKeyring, Keyring, Principal, Request, RunRef, Runtime, RuntimeErrorKind,
    SqliteStore,
};
use agents_store::{
    ApprovalFilter, ApprovalStatus, ErrorKind as Kind, RunFilter, RunStatus, Store,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

#[tokio::test]
async fn a_run_waits_without_a_worker_and_is_approved_from_elsewhere() {
    let office = office([pays(1200), Script::text("Paid.")]).await;
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let requests = waiting(&run).await;
    worker.stop().await;
    let [request] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(
        (
            &*request.tool_name,
            &*request.agent_name,
            request.risk_level
        ),
        ("pay", "payer", Risk::High)
    );
    assert_eq!(request.args_summary, "cents: 1200, to: [email]");
    assert_eq!(request.effect_description, "Pays 1200 cents to [email].");
    assert_eq!(
        (&*request.tenant_id, request.status),
        ("acme", ApprovalStatus::Pending)
    );
    let day = request.expires_at.since(request.requested_at);
    assert_eq!(day, Duration::from_secs(24 * 60 * 60));

    // Whoever may see it gets the exact arguments.
    let approvals = office.runtime.approvals();
    let detail = approvals.detail(&request.id, &grace()).await.unwrap();
    assert_eq!(
        detail.request.args.as_str(),
        r#"{"cents":1200,"to":"ada@example.com"}"#
    );
    assert!(detail.schema.is_some());

    let decided = office.decide(request, Approval::Approve).await.unwrap();
    assert_eq!(decided.decided_by.as_deref(), Some("grace"));
    assert!(office.ran.lock().unwrap().is_empty(), "nobody works");
    let _worker = Worker::start(&office.runtime);
    let outcome = done(&run).await;
    assert_eq!(outcome.result.as_ref().unwrap(), "Paid.");
    assert_eq!(outcome.run_id, run.id());
    assert_eq!(*office.ran.lock().unwrap(), [json!(1200)]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.attempts[0].approved_by.as_deref(), Some("grace"));
    let found = approvals.list(&ApprovalFilter::default()).await.unwrap();
    assert_eq!(found[0].status, ApprovalStatus::Consumed);
}

#[tokio::test]
async fn awaiting_a_run_works_it_here() {
    let office = office([Script::text("Nothing to pay.")]).await;
    let answer = office.payer.run("Pay the bills.").await.unwrap();
    assert_eq!(answer, "Nothing to pay.");
}

#[tokio::test]
async fn a_key_stands_for_one_run() {
    let office = office([Script::text("Paid."), Script::text("Paid.")]).await;
    let start = |input: &str| office.payer.run(input).scope("acme").key("october").start();
    let first = start("Pay.").await.unwrap();
    let again = start("Pay.").await.unwrap();
    assert_eq!(first.id(), again.id());
    let error = start("Pay more.").await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Invalid);
    assert!(error.to_string().contains("another input"), "{error}");
    let other = office.payer.run("Pay.").scope("other").key("october");
    assert_ne!(other.start().await.unwrap().id(), first.id());
    let _worker = Worker::start(&office.runtime);
    done(&first).await.result.unwrap();
    assert_eq!(
        done(&start("Pay.").await.unwrap()).await.result.unwrap(),
        "Paid."
    );
    assert_eq!(
        office.model.requests().len(),
        2,
        "one for each of the two runs"
    );
}

#[tokio::test]
async fn a_denial_and_a_revision_are_told_to_the_model() {
    let office = office([
        pays(900),
        pays(90),
        pays(9),
        Script::text("Nine were paid."),
    ])
    .await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let first = waiting(&run).await.remove(0);
    let revise = Approval::Revise {
        note: "at most 100".into(),
    };
    office.decide(&first, revise).await.unwrap();
    let second = loop {
        let request = waiting(&run).await.remove(0);
        if request.id != first.id {
            break request;
        }
    };
    assert_eq!(second.correlation_id, first.correlation_id);
    office
        .decide(&second, Approval::deny("not to her"))
        .await
        .unwrap();
    let third = loop {
        let request = waiting(&run).await.remove(0);
        if request.id != second.id {
            break request;
        }
    };
    office.decide(&third, Approval::Approve).await.unwrap();
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap(), "Nine were paid.");
    assert_eq!(*office.ran.lock().unwrap(), [json!(9)]);
    let told = format!("{:?}", office.model.requests()[3].messages);
    assert!(
        told.contains("at most 100") && told.contains("not to her"),
        "{told}"
    );
}

#[tokio::test]
async fn siblings_are_decided_one_by_one_and_run_once() {
    let calls = (1..=3).map(|n| ("pay", json!({ "cents": n }).to_string()));
    let office = office([Script::calls(calls), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let requests = waiting(&run).await;
    assert_eq!(requests.len(), 3);
    office
        .decide(&requests[1], Approval::Approve)
        .await
        .unwrap();
    while office.ran.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(
        *office.ran.lock().unwrap(),
        [json!(2)],
        "it does not wait for the others"
    );
    assert_eq!(office.model.requests().len(), 1, "the model does");
    for at in [2, 0] {
        office
            .decide(&requests[at], Approval::Approve)
            .await
            .unwrap();
    }
    done(&run).await.result.unwrap();
    let mut ran = office.ran.lock().unwrap().clone();
    ran.sort_by_key(Value::as_i64);
    assert_eq!(ran, [json!(1), json!(2), json!(3)]);
}

#[tokio::test]
async fn edited_arguments_run_and_those_that_do_not_fit_are_refused() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    for bad in [json!({"cents": "90"}), json!({}), json!([90]), json!(null)] {
        let error = office.decide(&request, Approval::approve_with(bad)).await;
        assert_eq!(error.unwrap_err().kind(), RuntimeErrorKind::Invalid);
    }
    let less = Approval::approve_with(json!({"cents": 90}));
    office.decide(&request, less).await.unwrap();
    let outcome = done(&run).await;
    assert_eq!(*office.ran.lock().unwrap(), [json!(90)]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.input.as_str(), r#"{"cents":90}"#);
    outcome.result.unwrap();
}

#[tokio::test]
async fn only_others_of_the_tenant_with_the_role_decide() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let worker = Worker::start(&office.runtime);
    let scope = Scope::from("acme").user("berta");
    let run = office.payer.run("Pay.").scope(scope).by(&ada());
    let run = run.start().await.unwrap();
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    let approvals = office.runtime.approvals().role_for(Risk::High, "treasurer");
    let decide = async |by: Principal| {
        let decided = approvals.decide(&request.id, Approval::Approve, &by).await;
        decided.map_err(|error| error.kind())
    };
    let treasurer = |id: &str, tenant: &str| Principal::new(id, tenant).role("treasurer");
    let forbidden = Err(RuntimeErrorKind::Forbidden);
    let none = Err(RuntimeErrorKind::Store(Kind::NotFound));
    let kind = |result: Result<Request, RuntimeErrorKind>| result.map(drop);
    assert_eq!(
        kind(decide(treasurer("ada", "acme")).await),
        forbidden,
        "she started it"
    );
    assert_eq!(
        kind(decide(treasurer("berta", "acme")).await),
        forbidden,
        "it works for her"
    );
    assert_eq!(
        kind(decide(grace()).await),
        forbidden,
        "she has not the role"
    );
    assert_eq!(kind(decide(treasurer("grace", "other")).await), none);
    let detail = approvals
        .detail(&request.id, &Principal::new("eve", "other"))
        .await;
    assert!(detail.is_err());
    decide(treasurer("grace", "acme")).await.unwrap();
    let again = decide(Principal::operator()).await;
    assert_eq!(kind(again), Err(RuntimeErrorKind::Store(Kind::Settled)));
}

#[tokio::test]
async fn a_request_that_nobody_decides_expires_and_the_model_is_told() {
    let set = |runtime: Runtime| runtime.requests_expire_after(Duration::from_millis(300));
    let office = office_with([pays(900), Script::text("Nobody was there.")], set).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    assert_eq!(done(&run).await.result.unwrap(), "Nobody was there.");
    assert!(office.ran.lock().unwrap().is_empty());
    let told = format!("{:?}", office.model.requests()[1].messages.last());
    assert!(told.contains("APPROVAL_EXPIRED"), "{told}");
    let late = office
        .decide(&request, Approval::Approve)
        .await
        .unwrap_err();
    assert_eq!(late.kind(), RuntimeErrorKind::Store(Kind::Settled));
}

#[tokio::test]
async fn a_waiting_run_is_cancelled() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    run.cancel(&ada()).await.unwrap();
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(office.ran.lock().unwrap().is_empty());
    let late = office
        .decide(&request, Approval::Approve)
        .await
        .unwrap_err();
    assert_eq!(late.kind(), RuntimeErrorKind::Store(Kind::Settled));
    let ends = RunFilter {
        status: Some(RunStatus::Done),
        ..RunFilter::default()
    };
    let runs = office.store.runs(&ends).await.unwrap();
    assert_eq!(runs[0].cancelled_by.as_deref(), Some("ada"));
}

#[tokio::test]
async fn a_call_of_another_version_holds_the_run_until_the_version_is_back() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    office.decide(&request, Approval::Approve).await.unwrap();

    let ran = Ran::default();
    let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
    let deployed = Runtime::open(office.store.clone()).model(model);
    deployed.agent(payer(pay_of(&ran, "2.0.0")));
    let worker = Worker::start(&deployed);
    let why = held(&run).await;
    assert!(
        why.contains("version 1.0.0") && why.contains("version 2.0.0"),
        "{why}"
    );
    worker.stop().await;
    assert!(ran.lock().unwrap().is_empty());

    let _worker = Worker::start(&office.runtime);
    let client = office.runtime.as_client();
    client.release(run.id(), &grace()).await.unwrap();
    done(&run).await.result.unwrap();
    assert_eq!(*office.ran.lock().unwrap(), [json!(900)]);
}

#[tokio::test]
async fn events_come_from_the_store_in_order_and_from_a_number() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let run = office.start().await;
    let following = tokio::spawn(run.events().stream().collect::<Vec<_>>());
    let _worker = Worker::start(&office.runtime);
    let request = waiting(&run).await.remove(0);
    office.decide(&request, Approval::Approve).await.unwrap();
    done(&run).await;
    let events: Vec<_> = following.await.unwrap();
    let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
    assert!(events.is_sorted_by_key(|event| event.seq));
    assert!(matches!(events[0].kind, EventKind::RunStarted { .. }));
    assert!(matches!(
        events.last().unwrap().kind,
        EventKind::RunEnded { ok: true, .. }
    ));
    let middle = events[events.len() / 2].seq;
    let rest = run
        .events()
        .after(middle)
        .stream()
        .collect::<Vec<_>>()
        .await;
    let expected = events.iter().filter(|event| event.seq > middle).count();
    assert_eq!(rest.len(), expected);
}

/// A file of a test, which is removed with it.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> Self {
        let name = format!("agents-durable-{name}-{}.db", std::process::id());
        let file = TempFile(std::env::temp_dir().join(name));
        file.remove();
        file
    }

    fn remove(&self) {
        for end in ["", "-wal", "-shm", ".keys", ".keys.lock"] {
            let _ = fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Starts a run in a file, and returns when it waits for its approval.
async fn stored(file: &TempFile) -> (Office, RunRef<String>, Request) {
    let store = SqliteStore::open(&file.0).await.unwrap();
    let (model, handle) = ScriptedModel::new([pays(900), Script::text("Paid.")]);
    let runtime = Runtime::open(store.clone()).model(model);
    let ran = Ran::default();
    let payer = runtime.agent(payer(pay_of(&ran, "1.0.0")));
    let office = Office {
        runtime,
        store,
        payer,
        ran,
        model: handle,
    };
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    (office, run, request)
}

/// Changes the database by hand, as somebody without the keys could.
fn by_hand(file: &TempFile, sql: &str) {
    let db = rusqlite::Connection::open(&file.0).unwrap();
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    db.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn the_database_holds_no_readable_contents() {
    let file = TempFile::new("canary");
    let (office, ..) = stored(&file).await;
    by_hand(&file, "PRAGMA wal_checkpoint(TRUNCATE)");
    let bytes = fs::read(&file.0).unwrap();
    let has = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    for text in ["ada@example.com", "Pay the bills.", "\"cents\""] {
        assert!(!has(text), "{text}");
    }
    assert!(has("payer"), "the names of agents are readable");
    drop(office);
}

#[tokio::test]
async fn a_decision_that_was_written_by_hand_runs_nothing() {
    let file = TempFile::new("forged");
    let (office, run, _) = stored(&file).await;
    by_hand(
        &file,
        "UPDATE agent_approvals SET status = 'approved', decided_by = 'grace', use_by = 9999999999999;
         UPDATE agent_runs SET status = 'ready'",
    );
    let _worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("written by hand"), "{why}");
    assert!(office.ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_proof_of_another_decision_proves_nothing() {
    let file = TempFile::new("replayed");
    let (office, run, request) = stored(&file).await;
    office.decide(&request, Approval::deny("no")).await.unwrap();
    by_hand(
        &file,
        "UPDATE agent_approvals SET status = 'approved', use_by = 9999999999999",
    );
    let _worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("written by hand"), "{why}");
    assert!(office.ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn altered_removed_and_exchanged_entries_hold_the_run() {
    for (name, sql) in [
        (
            "altered",
            "UPDATE agent_run_commits SET entries = zeroblob(length(entries)) WHERE after_seq > 0",
        ),
        (
            "removed",
            "DELETE FROM agent_run_commits WHERE after_seq = (SELECT min(after_seq) FROM agent_run_commits WHERE after_seq > 0)",
        ),
        (
            "exchanged",
            "UPDATE agent_run_commits SET entries = (SELECT entries FROM agent_run_commits WHERE after_seq = 0)
             WHERE after_seq > 0",
        ),
        ("input", "UPDATE agent_runs SET data = zeroblob(length(data))"),
        ("key", "UPDATE agent_runs SET data_key = zeroblob(length(data_key))"),
    ] {
        let file = TempFile::new(name);
        let (office, run, request) = stored(&file).await;
        by_hand(&file, &format!("{sql}; UPDATE agent_runs SET status = 'ready'"));
        let _worker = Worker::start(&office.runtime);
        held(&run).await;
        assert!(office.ran.lock().unwrap().is_empty(), "{name}");
        let _ = request;
    }
}

#[tokio::test]
async fn a_run_of_an_erased_tenant_is_held_and_says_so() {
    let file = TempFile::new("keys");
    let (office, run, _) = stored(&file).await;
    let keys = FileKeyring::open(format!("{}.keys", file.0.display())).unwrap();
    keys.erase("acme").unwrap();
    by_hand(&file, "UPDATE agent_runs SET status = 'ready'");
    let runtime = Runtime::open(office.store.clone());
    runtime.agent(payer(pay_of(&office.ran, "1.0.0")));
    let _worker = Worker::start(&runtime);
    let why = held(&run).await;
    assert!(why.contains("keyring"), "{why}");
}

#[tokio::test]
async fn a_worker_with_another_keyring_takes_no_run() {
    let file = TempFile::new("lost");
    let (_, run, _) = stored(&file).await;
    let keys = format!("{}.keys", file.0.display());
    fs::remove_file(keys).unwrap();
    by_hand(&file, "UPDATE agent_runs SET status = 'ready'");
    let runtime = Runtime::open(SqliteStore::open(&file.0).await.unwrap());
    let payer = runtime.agent(payer(pay_of(&Ran::default(), "1.0.0")));
    let worker = Worker::start(&runtime);
    let error = payer.run("Pay.").start().await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Store(Kind::OtherKey));
    let text = error.to_string();
    assert!(text.contains("open the store with that keyring"), "{text}");
    worker.stop().await;
    let store = SqliteStore::open(&file.0).await.unwrap();
    let untouched = store.run(run.id()).await.unwrap().unwrap();
    assert_eq!(untouched.status, RunStatus::Ready);
}

#[tokio::test]
async fn a_body_that_blocks_its_thread_keeps_the_lease() {
    let set = |runtime: Runtime| runtime.lease(Duration::from_millis(300));
    let office = office_with([Script::call("block", "{}"), Script::text("Done.")], set).await;
    let calls = Arc::new(Mutex::new(0));
    let count = calls.clone();
    let block = FnTool::new(
        "block",
        "Blocks.",
        Effects::Writes,
        json!({"type": "object"}),
        move |_: Value, _| {
            *count.lock().unwrap() += 1;
            // Longer than the lease, and nothing else runs in this thread.
            std::thread::sleep(Duration::from_millis(900));
            async { Ok::<_, Error>("blocked") }
        },
    );
    let blocker = AgentBuilder::<String, String>::new("blocker")
        .tool(block)
        .build();
    let blocker = office.runtime.agent(blocker);
    let run = blocker.run("Go.").start().await.unwrap();
    let _worker = Worker::start(&office.runtime);
    assert_eq!(done(&run).await.result.unwrap(), "Done.");
    assert_eq!(*calls.lock().unwrap(), 1);
}

#[tokio::test]
async fn an_agent_is_made_for_the_scope_of_its_run() {
    let store = SqliteStore::in_memory().await.unwrap();
    let runtime = Runtime::open(store);
    let clerk = runtime.agent_for("clerk", |scope: &Scope| {
        let tenant = scope.tenant_id().to_owned();
        AgentBuilder::<String, String>::new("clerk")
            .skill(agents::agent::Skill::native(
                "greet",
                "Greets.",
                move |input: String| {
                    let tenant = tenant.clone();
                    async move { Ok(format!("{input}, {tenant}")) }
                },
            ))
            .build()
    });
    let answer = clerk.run("Hello").scope("acme").await.unwrap();
    assert_eq!(answer, "Hello, acme");
}

#[test]
#[should_panic(expected = "two agents of the name `payer`")]
fn two_agents_of_one_name_are_refused() {
    let store = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(SqliteStore::in_memory())
        .unwrap();
    let runtime = Runtime::open(store);
    for _ in 0..2 {
        runtime.agent(payer(pay_of(&Ran::default(), "1.0.0")));
    }
}

/// The journal of a run says what its tables say.
#[tokio::test]
async fn executions_are_stored_with_their_ends() {
    let file = TempFile::new("executions");
    let (office, run, request) = stored(&file).await;
    office.decide(&request, Approval::Approve).await.unwrap();
    let _worker = Worker::start(&office.runtime);
    done(&run).await.result.unwrap();
    let db = rusqlite::Connection::open(&file.0).unwrap();
    let row = db
        .query_row(
            "SELECT tenant_id, agent_name, tool_name, approved, approved_by, risk_level, error, duration_ms IS NOT NULL,
                    output IS NOT NULL FROM agent_tool_executions",
            [],
            |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    (row.get::<_, bool>(3)?, row.get::<_, String>(4)?),
                    row.get::<_, String>(5)?,
                    row.get::<_, Option<String>>(6)?,
                    (row.get::<_, bool>(7)?, row.get::<_, bool>(8)?),
                ))
            },
        )
        .unwrap();
    assert_eq!(
        row,
        (
            "acme".to_owned(),
            "payer".to_owned(),
            "pay".to_owned(),
            (true, "grace".to_owned()),
            "high".to_owned(),
            None,
            (true, true)
        )
    );
    let recorded = office.runtime.as_client().recorded(run.id()).await.unwrap();
    let mut follower = Follower::new();
    for entry in recorded.unwrap().entries() {
        follower.on(entry).unwrap();
    }
    assert_eq!(follower.run_id(), run.id());
}
