//! The audit trail: complete, and not changed unnoticed.

use crate::office::*;
use agents::testing::Script;
use agents_runtime::{
    Approval, AuditKind, FileKeyring, Head, Keyring, Principal, RunRef, Runtime, RuntimeErrorKind,
    SqliteStore,
};
use agents_store::{AuditFilter, ErrorKind as Kind, RunFilter, RunStatus};
use std::{
    fmt, fs,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};
use tracing::{
    Event, Id, Level, Metadata, Subscriber,
    field::Field,
    span::{Attributes, Record},
};

fn kinds(records: &[agents_runtime::AuditRecord]) -> Vec<AuditKind> {
    records.iter().map(|record| record.kind).collect()
}

/// Pays 100 by Grace's approval; 200 is denied. Returns the run, which is over.
async fn paid(db: &Path) -> RunRef<String> {
    let store = SqliteStore::open(db).await.unwrap();
    let office = office_on(store, [pays(100), pays(200), Script::text("Done.")]);
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    for approval in [Approval::Approve, Approval::deny("too much")] {
        let requests = waiting(&run).await;
        office.decide(&requests[0], approval).await.unwrap();
    }
    done(&run).await;
    worker.stop().await;
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn u2_the_trail_tells_what_was_asked_decided_and_run() {
    use AuditKind::*;
    let files = Files::new("tells");
    let run = paid(&files.db()).await;
    let audit = files.audit().await;
    let records = audit.events(&AuditFilter::default()).await.unwrap();
    assert_eq!(
        kinds(&records),
        [
            Started, Requested, Approved, Began, Ended, Requested, Denied, Finished
        ]
    );
    assert!(records.iter().all(|record| record.run_id == run.id()));
    let by = |kind| {
        let record = records.iter().find(|record| record.kind == kind);
        record.unwrap().actor.as_deref()
    };
    assert_eq!(
        [Started, Approved, Began, Denied].map(by),
        [Some("ada"), Some("grace"), Some("grace"), Some("grace")]
    );
    let verdict = audit.verify().await.unwrap();
    assert!(verdict.is_intact(), "{verdict}");
    assert_eq!((verdict.runs, verdict.events), (1, 8));
    assert!(
        verdict.to_string().contains("not compared with heads"),
        "what is not known is said: {verdict}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_decisions_are_in_the_trail_with_their_reasons() {
    let office = office([pays(100), Script::text("Done.")]).await;
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    let approvals = office.runtime.approvals();
    let stranger = Principal::new("mallory", "beta");
    for by in [&ada(), &stranger] {
        let refused = approvals.decide(&request.id, Approval::Approve, by).await;
        refused.unwrap_err();
    }
    office.decide(&request, Approval::Approve).await.unwrap();
    let late = office.decide(&request, Approval::deny("no")).await;
    assert_eq!(
        late.unwrap_err().kind(),
        RuntimeErrorKind::Store(Kind::Settled)
    );
    done(&run).await;
    worker.stop().await;
    let records = office.runtime.audit().events(&AuditFilter::default()).await;
    let records = records.unwrap();
    let refused: Vec<_> = records
        .iter()
        .filter(|record| record.kind == AuditKind::Refused)
        .collect();
    assert_eq!(refused.len(), 3);
    for (record, (by, why)) in refused.iter().zip([
        ("ada", "`ada` started the run"),
        ("mallory", "there is no request"),
        ("grace", "by grace already"),
    ]) {
        assert_eq!(record.actor.as_deref(), Some(by));
        assert_eq!(record.subject.as_deref(), Some(&*request.id));
        let reason = record.reason.as_deref().unwrap();
        assert!(reason.contains(why), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s5_4_the_first_changed_row_is_named() {
    let whole = Files::new("named");
    paid(&whole.db()).await;
    let copy = whole.0.join("copy.db");
    whole.sql(&format!("VACUUM INTO '{}'", copy.display()));
    let request = "(SELECT id FROM agent_approvals ORDER BY number DESC LIMIT 1)";
    let cases = [
        (
            "UPDATE agent_audit_events SET actor = 'ada' WHERE seq = 3",
            "row 3 of agent_audit_events was edited",
        ),
        (
            "UPDATE agent_audit_events SET at = at + 1 WHERE seq = 5",
            "row 5 of agent_audit_events was edited",
        ),
        (
            "UPDATE agent_audit_events SET kind = 'approved' WHERE kind = 'denied'",
            "row 7 of agent_audit_events was edited",
        ),
        (
            "DELETE FROM agent_audit_events WHERE seq = 4",
            "row 4 of agent_audit_events was removed",
        ),
        (
            "DELETE FROM agent_audit_events WHERE seq > 6",
            "row 7 of agent_audit_events was removed",
        ),
        (
            "UPDATE agent_audit_events SET number = number + 100 WHERE seq = 2",
            "row 3 of agent_audit_events is out of order",
        ),
        (
            "UPDATE agent_runs SET started_by = 'eve'",
            "of agent_runs was edited",
        ),
        (
            "UPDATE agent_runs SET audit_digest = x'00'",
            "of agent_runs was edited",
        ),
        (
            "UPDATE agent_approvals SET status = 'approved' WHERE status = 'denied'",
            "of agent_approvals was edited",
        ),
        (
            "UPDATE agent_approvals SET args_summary = 'cents 1'",
            "of agent_approvals was edited",
        ),
        (
            "UPDATE agent_approvals SET note = 'fine'",
            "of agent_approvals was edited",
        ),
        (
            "DELETE FROM agent_approvals WHERE status = 'denied'",
            "of agent_approvals was removed",
        ),
        (
            &format!("UPDATE agent_approvals SET id = 'x' WHERE id = {request}"),
            "of agent_approvals was inserted",
        ),
        (
            "UPDATE agent_tool_executions SET approved_by = 'eve'",
            "of agent_tool_executions was edited",
        ),
        (
            "UPDATE agent_tool_executions SET output = x'00'",
            "of agent_tool_executions was edited",
        ),
        (
            "UPDATE agent_tool_executions SET rolled_back = 1",
            "of agent_tool_executions was edited",
        ),
        (
            "DELETE FROM agent_tool_executions",
            "of agent_tool_executions was removed",
        ),
    ];
    for (n, (change, expected)) in cases.into_iter().enumerate() {
        let files = Files::new(&format!("named-{n}"));
        fs::copy(&copy, files.db()).unwrap();
        fs::copy(whole.keys(), files.keys()).unwrap();
        let audit = files.audit().await;
        let intact = audit.verify().await.unwrap();
        assert!(intact.is_intact(), "{intact}");
        files.sql(change);
        let verdict = audit.verify().await.unwrap();
        assert_eq!(verdict.flaws.len(), 1, "{change}: {verdict}");
        let text = verdict.to_string();
        assert!(text.contains(expected), "{change}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_from_outside_show_what_was_cut_off() {
    let files = Files::new("heads");
    paid(&files.db()).await;
    let audit = files.audit().await;
    let heads = audit.heads().await.unwrap();
    let kept = serde_json::to_string(&heads).unwrap();
    let heads: Vec<Head> = serde_json::from_str(&kept).unwrap();
    let verdict = audit.verify_from(&heads).await.unwrap();
    assert!(verdict.is_intact() && verdict.is_anchored, "{verdict}");
    assert!(!verdict.to_string().contains("not compared"), "{verdict}");
    // Whoever cuts the end off, and knows an earlier head, leaves an intact chain. The journal tells of more.
    files.sql(
        "UPDATE agent_runs SET audit_seq = 6, audit_digest = (SELECT digest FROM agent_audit_events WHERE seq = 6)",
    );
    files.sql("DELETE FROM agent_audit_events WHERE seq > 6");
    files.sql("UPDATE agent_approvals SET status = 'pending', decided_by = NULL, decided_at = NULL, note = NULL, proof = NULL WHERE status = 'denied'");
    let text = audit.verify().await.unwrap().to_string();
    assert!(text.contains("agent_runs was edited"), "{text}");
    let verdict = audit.verify_from(&heads).await.unwrap();
    let text = verdict.to_string();
    assert!(
        text.contains("row 7 of agent_audit_events was removed since its head was kept"),
        "{text}"
    );
    files.sql("DELETE FROM agent_runs");
    let text = audit.verify_from(&heads).await.unwrap().to_string();
    assert!(text.contains("of agent_runs was removed"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_keyring_is_refused() {
    let files = Files::new("keyring");
    paid(&files.db()).await;
    let other = FileKeyring::open(files.0.join("other.keys")).unwrap();
    let store = SqliteStore::open(files.db()).await.unwrap();
    let client = Runtime::client(store).keyring(other);
    let error = client.audit().verify().await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Store(Kind::OtherKey));
    assert!(error.to_string().contains("another keyring"), "{error}");
}

/// Collects what is logged at the level `ERROR`.
#[derive(Clone, Default)]
struct Errors(Arc<Mutex<Vec<String>>>);

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn event(&self, event: &Event<'_>) {
        let mut said = String::new();
        event.record(&mut |field: &Field, value: &dyn fmt::Debug| {
            said += &format!("{field}={value:?} ");
        });
        self.0.lock().unwrap().push(said);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The book says so: see "In production".
#[tokio::test]
async fn a_worker_with_another_keyring_takes_no_run_and_logs_an_error() {
    let errors = Errors::default();
    let _watched = agents_needs::watched_by(errors.clone());
    let files = Files::new("log");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [Script::text("Done.")]);
    let run = office.start().await;
    let moved = files.0.join("moved.db");
    files.by_hand(&format!("VACUUM INTO '{}'", moved.display()));
    let other = FileKeyring::open(files.0.join("other.keys")).unwrap();
    let with_another = Runtime::open(office.store.clone()).keyring(other);
    // A store that was moved without its keyring has a new one beside it.
    let with_none = Runtime::open(SqliteStore::open(moved).await.unwrap());
    for runtime in [with_another, with_none] {
        runtime.agent(payer(pay_of(&office.ran, "1.0.0")));
        let worker = Worker::start(&runtime);
        for _ in 0..400 {
            if !errors.0.lock().unwrap().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        worker.stop().await;
        let said = std::mem::take(&mut *errors.0.lock().unwrap()).join("\n");
        assert!(
            said.contains("the worker takes no run") && said.contains("another keyring"),
            "{said}"
        );
        let found = runtime.as_client().runs(&RunFilter::default()).await;
        let found = found.unwrap().remove(0);
        assert_eq!((&*found.id, found.status), (run.id(), RunStatus::Ready));
    }
    let worker = Worker::start(&office.runtime);
    assert_eq!(done(&run).await.result.unwrap(), "Done.");
    worker.stop().await;
    assert!(errors.0.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trail_of_an_erased_tenant_still_verifies() {
    let files = Files::new("erased");
    let run = paid(&files.db()).await;
    let keys = FileKeyring::open(files.keys()).unwrap();
    let key = keys.audit_key().unwrap();
    keys.erase("acme").unwrap();
    assert_eq!(keys.audit_key().unwrap(), key);
    let audit = files.audit().await;
    assert!(audit.verify().await.unwrap().is_intact());
    let store = SqliteStore::open(files.db()).await.unwrap();
    let error = Runtime::client(store).recorded(run.id()).await;
    assert_eq!(error.unwrap_err().kind(), RuntimeErrorKind::Sealed);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_export_is_one_line_of_json_for_each_event_and_goes_on() {
    let files = Files::new("export");
    paid(&files.db()).await;
    let audit = files.audit().await;
    let mut lines = Vec::new();
    let filter = AuditFilter {
        limit: 3,
        ..AuditFilter::default()
    };
    let last = audit.export(&filter, &mut lines).await.unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let parsed: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(parsed.len(), 8);
    assert_eq!(parsed[2]["kind"], "approved");
    assert_eq!(parsed[2]["actor"], "grace");
    let behind = AuditFilter {
        after: last,
        ..AuditFilter::default()
    };
    let mut rest = Vec::new();
    assert_eq!(audit.export(&behind, &mut rest).await.unwrap(), last);
    assert!(rest.is_empty());
    // Events up to a number are written once each, the oldest first, and a later export goes on behind them.
    let sixth = parsed[5]["number"].as_u64().unwrap();
    let first_five = AuditFilter {
        before: Some(sixth),
        limit: 2,
        ..AuditFilter::default()
    };
    let mut lines_before = Vec::new();
    let last_before = audit.export(&first_five, &mut lines_before).await.unwrap();
    let lines_before = String::from_utf8(lines_before).unwrap();
    let first: Vec<_> = lines.lines().take(5).collect();
    assert_eq!(lines_before.lines().collect::<Vec<_>>(), first);
    assert_eq!(Some(last_before), parsed[4]["number"].as_u64());
}

#[tokio::test(flavor = "multi_thread")]
async fn a12_an_execution_that_nobody_approved_is_refused_and_in_the_trail() {
    let files = Files::new("unapproved");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [pays(100), Script::text("Done.")]);
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    waiting(&run).await;
    // A hand in the database approves, and wakes the run.
    files.sql("UPDATE agent_approvals SET status = 'approved', decided_by = 'grace'");
    files.sql("UPDATE agent_runs SET status = 'ready', messages = messages + 1");
    let why = held(&run).await;
    assert!(why.contains("agent_approvals was edited"), "{why}");
    worker.stop().await;
    assert!(office.ran.lock().unwrap().is_empty());
    let audit = files.audit().await;
    let records = audit.events(&AuditFilter::default()).await.unwrap();
    let refused = records
        .iter()
        .find(|record| record.kind == AuditKind::Refused);
    let reason = refused.unwrap().reason.as_deref().unwrap();
    assert!(reason.contains("agent_approvals was edited"), "{reason}");
    let verdict = audit.verify().await.unwrap();
    assert!(
        verdict
            .to_string()
            .contains("of agent_approvals was edited"),
        "{verdict}"
    );
}
