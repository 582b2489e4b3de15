//! Contents of runs: other keys, erasure, and what was restored from a copy.

use crate::office::*;
use agents::testing::Script;
use agents_runtime::{
    Approval, FileKeyring, Keyring, Principal, Progress, RunRef, Runtime, RuntimeErrorKind,
    SqliteStore,
};
use agents_store::{ErrorKind as Kind, RunFilter, RunStatus, Store};
use std::time::Duration;

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
    let text = std::fs::read_to_string(files.keys()).unwrap();
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
    let error = client.erase(run.id(), &grace()).await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Store(Kind::NotOver));
    assert!(error.to_string().contains("cancel it"), "{error}");
    let error = client.erase_tenant("acme", &grace()).await.unwrap_err();
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
    assert_eq!(client.erase_after(none, &stranger).await.unwrap(), 0);
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
    std::fs::copy(files.keys(), copy.keys()).unwrap();
    // Meanwhile the payment is made, and then the store is lost.
    let restored = SqliteStore::open(copy.db()).await.unwrap();
    let client = Runtime::client(restored.clone());
    let refused = client.hold_all("restored", &grace()).await.unwrap_err();
    assert_eq!(refused.kind(), RuntimeErrorKind::Forbidden);
    assert_eq!(client.hold_all("restored", &operator()).await.unwrap(), 1);
    let office = office_on(restored, [Script::text("Done.")]);
    let _worker = Worker::start(&office.runtime);
    let run = client.run::<String>(run.id());
    let request = client.approvals().pending().await.unwrap().remove(0);
    let approvals = client.approvals();
    approvals
        .decide(&request.id, Approval::Approve, &grace())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    match run.progress().await.unwrap() {
        Progress::Held(why) => assert_eq!(why, "restored"),
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

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_that_is_used_too_late_is_asked_for_again() {
    let files = Files::new("late");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [pays(100), pays(100), Script::text("Done.")]);
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let first = waiting(&run).await.remove(0);
    worker.stop().await;
    let approvals = office.runtime.approvals();
    let brief = approvals.clone().use_within(Duration::from_millis(20));
    brief
        .decide(&first.id, Approval::Approve, &grace())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    let worker = Worker::start(&office.runtime);
    let second = waiting(&run).await.remove(0);
    assert_ne!(second.id, first.id);
    assert!(office.ran.lock().unwrap().is_empty());
    approvals
        .decide(&second.id, Approval::Approve, &grace())
        .await
        .unwrap();
    done(&run).await;
    worker.stop().await;
    assert_eq!(office.ran.lock().unwrap().len(), 1);
    let told = format!("{:?}", office.model.requests());
    assert!(told.contains("APPROVAL_EXPIRED"), "{told}");
}
