//! Contents of runs: other keys, erasure, and what was restored from a copy.

use crate::office::*;
use agents::testing::Script;
use agents_runtime::{
    Action, Approval, FileKeyring, HeldKind, Keyring, Principal, Progress, Roles, RunRef, Runtime,
    RuntimeErrorKind, SqliteStore,
};
use agents_store::{ErrorKind as Kind, RunFilter, RunStatus, Store};
use std::{fs, time::Duration};

async fn over(files: &Files) -> RunRef<String> {
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [pays(100), Script::text("Done.")]);
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    office.decide(&request, Approval::Approve).await.unwrap();
    done(&run).await;
    worker.stop().await;
    run
}

fn operator() -> Principal {
    Principal::operator()
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_rotation_runs_need_only_the_new_key() {
    let files = Files::new("rotated");
    let run = over(&files).await;
    let store = SqliteStore::open(files.db()).await.unwrap();
    let client = Runtime::client(store.clone());
    let stranger = Principal::new("mallory", "beta");
    let refused = client.rotate("acme", &stranger).await.unwrap_err();
    assert_eq!(refused.kind(), RuntimeErrorKind::Forbidden);
    assert_eq!(client.rotate("acme", &operator()).await.unwrap(), 1);
    // Only the second version is left.
    let text = fs::read_to_string(files.keys()).unwrap();
    let mut keys: serde_json::Value = serde_json::from_str(&text).unwrap();
    keys["keys"]["acme"].as_object_mut().unwrap().remove("1");
    std::fs::write(files.keys(), keys.to_string()).unwrap();
    let recorded = Runtime::client(store).recorded(run.id()).await.unwrap();
    assert_eq!(recorded.unwrap().receipts().len(), 1);
    assert!(files.audit().await.verify().await.unwrap().is_intact());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_tenant_leaves_an_audit_trail_without_names() {
    let files = Files::new("erased-tenant");
    let run = over(&files).await;
    let store = SqliteStore::open(files.db()).await.unwrap();
    let client = Runtime::client(store.clone());
    // A refusal that belongs to no run names a person as well.
    assert!(client.rotate("acme", &ada()).await.is_err());
    assert_eq!(client.erase_tenant("acme", &operator()).await.unwrap(), 1);
    assert_eq!(client.erase_tenant("acme", &operator()).await.unwrap(), 0);
    let error = client.recorded(run.id()).await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Sealed);
    assert!(error.to_string().contains("was erased"), "{error}");
    let verdict = client.audit().verify().await.unwrap();
    assert!(verdict.is_intact() && verdict.erased == 1, "{verdict}");
    drop(client);
    files.sql("VACUUM");
    let bytes = std::fs::read(files.db()).unwrap();
    for name in ["ada", "grace", "ada@example.com", "100 cents"] {
        let is_there = bytes
            .windows(name.len())
            .any(|part| part == name.as_bytes());
        assert!(!is_there, "`{name}` is still in the file");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_not_over_is_not_erased() {
    let files = Files::new("erased-open");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [pays(100), Script::text("Done.")]);
    let run = office.start().await;
    let client = office.runtime.as_client();
    let error = client.erase(run.id(), &operator()).await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Store(Kind::NotOver));
    assert!(error.to_string().contains("cancel it"), "{error}");
    let error = client.erase_tenant("acme", &operator()).await.unwrap_err();
    assert!(error.to_string().contains(run.id()), "{error}");
    let keys = FileKeyring::open(files.keys()).unwrap();
    assert!(keys.version("acme", 1).unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn old_contents_are_erased() {
    let files = Files::new("retained");
    let run = over(&files).await;
    let client = Runtime::client(SqliteStore::open(files.db()).await.unwrap());
    let day = Duration::from_secs(24 * 60 * 60);
    assert_eq!(client.erase_after(day, &operator()).await.unwrap(), 0);
    let stranger = Principal::new("mallory", "beta");
    tokio::time::sleep(Duration::from_millis(20)).await;
    let none = Duration::ZERO;
    let refused = client.erase_after(none, &stranger).await.unwrap_err();
    assert_eq!(refused.kind(), RuntimeErrorKind::Forbidden);
    let roles = Roles::new().for_action(Action::Erase, "privacy");
    let ruled = client.clone().roles(roles);
    let stranger = stranger.role("privacy");
    assert_eq!(ruled.erase_after(none, &stranger).await.unwrap(), 0);
    assert_eq!(client.erase_after(none, &operator()).await.unwrap(), 1);
    assert!(client.recorded(run.id()).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_store_waits_for_its_operator() {
    let files = Files::new("restored");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store.clone(), [pays(100), Script::text("Done.")]);
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    waiting(&run).await;
    worker.stop().await;
    let copy = Files::new("restored-copy");
    files.sql(&format!("VACUUM INTO '{}'", copy.db().display()));
    fs::copy(files.keys(), copy.keys()).unwrap();
    // Meanwhile the payment is made, and then the store is lost.
    let restored = SqliteStore::open(copy.db()).await.unwrap();
    let client = Runtime::client(restored.clone());
    let refused = client.hold_all("restored", &grace()).await.unwrap_err();
    assert_eq!(refused.kind(), RuntimeErrorKind::Forbidden);
    assert_eq!(client.hold_all("restored", &operator()).await.unwrap(), 1);
    let office = office_on(restored, [Script::text("Done.")]);
    let _worker = Worker::start(&office.runtime);
    let run = client.run::<String>(run.id());
    let request = client
        .approvals()
        .pending(&operator())
        .await
        .unwrap()
        .remove(0);
    let approvals = client.approvals();
    approvals
        .decide(&request.id, Approval::Approve, &grace())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    match run.progress().await.unwrap() {
        Progress::Held(held) => {
            let told = (held.kind, &*held.why, held.by.as_deref());
            assert_eq!(told, (HeldKind::All, "restored", Some("operator")));
        }
        other => panic!("the run goes on: {other:?}"),
    }
    assert!(office.ran.lock().unwrap().is_empty());
    client.release(run.id(), &operator()).await.unwrap();
    done(&run).await;
    assert_eq!(office.ran.lock().unwrap().len(), 1);
    let held = RunFilter {
        status: Some(RunStatus::Held),
        ..RunFilter::default()
    };
    assert!(office.store.runs(&held).await.unwrap().is_empty());
}

#[tokio::test]
async fn s5_8_the_database_holds_no_readable_contents() {
    let files = Files::new("canary");
    let (office, ..) = stored(&files).await;
    files.by_hand("PRAGMA wal_checkpoint(TRUNCATE)");
    let bytes = fs::read(files.db()).unwrap();
    let has = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    for text in ["ada@example.com", "Pay the bills.", "\"cents\":1"] {
        assert!(!has(text), "{text}");
    }
    for text in ["payer", "\"cents\":{\"type\""] {
        assert!(
            has(text),
            "what code says of its agents is readable: {text}"
        );
    }
    drop(office);
}

#[tokio::test]
async fn a_run_of_an_erased_tenant_is_held_and_says_so() {
    let files = Files::new("keys");
    let (office, run, _) = stored(&files).await;
    let keys = FileKeyring::open(files.keys()).unwrap();
    keys.erase("acme").unwrap();
    files.by_hand("UPDATE agent_runs SET status = 'ready'");
    let runtime = Runtime::open(office.store.clone());
    runtime.agent(payer(pay_of(&office.ran, "1.0.0")));
    let _worker = Worker::start(&runtime);
    let why = held(&run).await;
    assert!(why.contains("keyring"), "{why}");
}

#[tokio::test]
async fn a_worker_with_another_keyring_takes_no_run() {
    let files = Files::new("lost");
    let (_, run, _) = stored(&files).await;
    fs::remove_file(files.keys()).unwrap();
    files.by_hand("UPDATE agent_runs SET status = 'ready'");
    let runtime = Runtime::open(SqliteStore::open(files.db()).await.unwrap());
    let payer = runtime.agent(payer(pay_of(&Ran::default(), "1.0.0")));
    let worker = Worker::start(&runtime);
    let error = payer.run("Pay.").start().await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Store(Kind::OtherKey));
    let text = error.to_string();
    assert!(text.contains("open the store with that keyring"), "{text}");
    worker.stop().await;
    let store = SqliteStore::open(files.db()).await.unwrap();
    let untouched = store.run(run.id()).await.unwrap().unwrap();
    assert_eq!(untouched.status, RunStatus::Ready);
}
