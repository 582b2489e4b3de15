//! Rows that somebody without the keys has changed.

use crate::office::*;
use agents::{testing::Script, tool::Risk};
use agents_runtime::{
    Approval, HeldKind, Principal, Progress, Roles, RuntimeErrorKind, SqliteStore,
};
use serde_json::json;
use std::fs;

#[tokio::test]
async fn a12_a_decision_that_was_written_by_hand_runs_nothing() {
    let files = Files::new("forged");
    let (office, run, _) = stored(&files).await;
    files.by_hand(
        "UPDATE agent_approvals SET status = 'approved', decided_by = 'grace', use_by = 9999999999999;
         UPDATE agent_runs SET status = 'ready'",
    );
    let _worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("agent_approvals was edited"), "{why}");
    assert!(office.ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a12_a_proof_of_another_decision_proves_nothing() {
    let files = Files::new("replayed");
    let (office, run, request) = stored(&files).await;
    office.decide(&request, Approval::deny("no")).await.unwrap();
    files.by_hand("UPDATE agent_approvals SET status = 'approved', use_by = 9999999999999");
    let _worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("agent_approvals was edited"), "{why}");
    assert!(office.ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a12_altered_removed_and_exchanged_entries_hold_the_run() {
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
        let files = Files::new(name);
        let (office, run, _) = stored(&files).await;
        files.by_hand(&format!("{sql}; UPDATE agent_runs SET status = 'ready'"));
        let _worker = Worker::start(&office.runtime);
        held(&run).await;
        let kind = match run.progress().await.unwrap() {
            Progress::Held(held) => held.kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(kind, HeldKind::Altered, "{name}");
        assert!(office.ran.lock().unwrap().is_empty(), "{name}");
    }
}

/// Decides about a payment, changes the database by hand, and lets a worker go on. The run has to be held as altered, and
/// nothing may be paid.
async fn decided_and_altered(name: &str, approval: Approval, sql: &str) {
    let files = Files::new(name);
    let (office, run, request) = stored(&files).await;
    office.decide(&request, approval).await.unwrap();
    files.by_hand(sql);
    let worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("agent_approvals"), "{name}: {why}");
    assert!(office.ran.lock().unwrap().is_empty(), "{name}");
    worker.stop().await;
    let verdict = files.audit().await.verify().await.unwrap();
    assert!(!verdict.is_intact(), "{name}");
}

#[tokio::test]
async fn what_a_person_decided_cannot_be_changed_afterwards() {
    let less = || Approval::approve_with(json!({"cents": 9}));
    for (name, approval, sql) in [
        (
            "edit-removed",
            less(),
            "UPDATE agent_approvals SET edited = NULL, edited_digest = NULL",
        ),
        (
            "use-by-raised",
            Approval::Approve,
            "UPDATE agent_approvals SET use_by = use_by + 315360000000",
        ),
        (
            "decider-changed",
            Approval::Approve,
            "UPDATE agent_approvals SET decided_by = 'operator'",
        ),
        (
            "risk-lowered",
            Approval::Approve,
            "UPDATE agent_approvals SET risk_level = 'low'",
        ),
        (
            "note-changed",
            Approval::deny("no"),
            "UPDATE agent_approvals SET note = 'pay Bob in its place'",
        ),
        (
            "revision-asked",
            Approval::deny("no"),
            "UPDATE agent_approvals SET status = 'revision_requested'",
        ),
        (
            "request-removed",
            Approval::deny("no"),
            "DELETE FROM agent_approvals",
        ),
    ] {
        decided_and_altered(name, approval, sql).await;
    }
}

#[tokio::test]
async fn a_denied_request_is_not_put_to_somebody_else() {
    let files = Files::new("asked-anew");
    let (office, _, request) = stored(&files).await;
    office.decide(&request, Approval::deny("no")).await.unwrap();
    files.by_hand(
        "UPDATE agent_approvals SET status = 'pending', decided_by = NULL, decided_at = NULL, note = NULL, proof = NULL",
    );
    let error = office.decide(&request, Approval::Approve).await;
    assert_eq!(error.unwrap_err().kind(), RuntimeErrorKind::Sealed);
}

#[tokio::test]
async fn a_run_that_was_wound_back_pays_no_second_time() {
    // Whoever has the database finds out where the payment begins by trying.
    for kept in 0..12 {
        let files = Files::new(&format!("wound-back-{kept}"));
        let (office, run, request) = stored(&files).await;
        let worker = Worker::start(&office.runtime);
        office.decide(&request, Approval::Approve).await.unwrap();
        done(&run).await;
        worker.stop().await;
        assert_eq!(office.ran.lock().unwrap().len(), 1);
        let last = format!(
            "(SELECT coalesce(max(last_seq), 0) FROM agent_run_commits WHERE last_seq <= {kept})"
        );
        files.by_hand(&format!(
            "UPDATE agent_runs SET status = 'ready', ended = NULL, last_seq = {last};
             DELETE FROM agent_run_commits WHERE last_seq > {kept};
             UPDATE agent_tool_executions SET duration_ms = NULL, output = NULL WHERE {kept} % 2 = 0;",
        ));
        let verdict = files.audit().await.verify().await.unwrap();
        assert!(!verdict.is_intact(), "{kept}");
        let again = office_on(
            SqliteStore::open(files.db()).await.unwrap(),
            [pays(900), Script::text("Paid.")],
        );
        let _worker = Worker::start(&again.runtime);
        let why = held(&run).await;
        assert!(why.contains("was altered by hand"), "{kept}: {why}");
        assert!(again.ran.lock().unwrap().is_empty(), "{kept}");
    }
}

#[tokio::test]
async fn verify_names_commits_and_ends_that_were_changed() {
    let whole = Files::new("commits");
    let (office, run, request) = stored(&whole).await;
    let worker = Worker::start(&office.runtime);
    office.decide(&request, Approval::Approve).await.unwrap();
    done(&run).await;
    worker.stop().await;
    let copy = whole.0.join("copy.db");
    whole.sql(&format!("VACUUM INTO '{}'", copy.display()));
    for (sql, table) in [
        ("DELETE FROM agent_run_commits", "agent_run_commits"),
        (
            "DELETE FROM agent_run_commits WHERE after_seq = 0",
            "agent_run_commits",
        ),
        (
            "UPDATE agent_run_commits SET entries = (SELECT entries FROM agent_run_commits WHERE after_seq = 0)",
            "agent_run_commits",
        ),
        ("UPDATE agent_runs SET last_seq = 1", "agent_runs"),
        (
            "UPDATE agent_runs SET ended = 'cancelled', cancelled_by = 'bob'",
            "agent_runs",
        ),
        ("UPDATE agent_runs SET ended = 'failed'", "agent_runs"),
        ("UPDATE agent_runs SET cancelled_by = 'bob'", "agent_runs"),
        ("UPDATE agent_runs SET status = 'held'", "agent_runs"),
        (
            "UPDATE agent_runs SET data_key = CAST(substr(data_key, 1, 4) || zeroblob(56) AS BLOB)",
            "agent_runs",
        ),
    ] {
        let files = Files::new("commits-changed");
        fs::copy(&copy, files.db()).unwrap();
        fs::copy(whole.keys(), files.keys()).unwrap();
        let audit = files.audit().await;
        let intact = audit.verify().await.unwrap();
        assert!(intact.is_intact(), "{intact}");
        files.sql(sql);
        let verdict = audit.verify().await.unwrap();
        let tables: Vec<_> = verdict.flaws.iter().map(|flaw| &*flaw.table).collect();
        assert_eq!(tables, [table], "{sql}: {verdict}");
    }
}

#[tokio::test]
async fn nobody_makes_a_request_easier_to_approve() {
    for (name, sql) in [
        (
            "made-low",
            "UPDATE agent_approvals SET risk_level = 'low', started_by = NULL, user_id = NULL",
        ),
        (
            "shown-small",
            "UPDATE agent_approvals SET args_summary = 'cents 9', effect_description = 'Pays 9 cents to Ada.'",
        ),
        (
            "made-a-question",
            r#"UPDATE agent_approvals SET reasons = '["question"]', started_by = NULL"#,
        ),
        (
            "later",
            "UPDATE agent_approvals SET expires_at = expires_at + 86400000",
        ),
    ] {
        let files = Files::new(name);
        let (office, _, request) = stored(&files).await;
        files.by_hand(sql);
        let roles = Roles::new().for_risk(Risk::High, "treasurer");
        let approvals = office.runtime.clone().roles(roles).approvals();
        for by in [ada(), grace().role("treasurer"), Principal::operator()] {
            let error = approvals.decide(&request.id, Approval::Approve, &by).await;
            let error = error.unwrap_err();
            assert_eq!(error.kind(), RuntimeErrorKind::Sealed, "{name}: {error}");
        }
        let read = approvals
            .get_readable(&request.id, &Principal::operator())
            .await
            .unwrap();
        assert!(read.detail.unwrap().is_err(), "{name}");
        assert!(read.refusal.is_some(), "{name}");
    }
}

#[tokio::test]
async fn an_instruction_is_said_once_and_nothing_else_becomes_one() {
    let copied = "INSERT INTO agent_audit_events
        SELECT (SELECT max(number) + 1 FROM agent_audit_events), run,
            (SELECT max(seq) + 1 FROM agent_audit_events), tenant_id, at, kind, actor, subject, tool_name, detail,
            row_digest, digest
        FROM agent_audit_events WHERE kind = 'instructed';
        UPDATE agent_runs SET audit_seq = audit_seq + 1";
    for (name, sql) in [
        ("said-again", copied),
        (
            "refusal-said",
            "UPDATE agent_audit_events SET kind = 'instructed' WHERE kind = 'refused'",
        ),
        (
            "said-by-another",
            "UPDATE agent_audit_events SET actor = 'grace' WHERE kind = 'instructed'",
        ),
    ] {
        let files = Files::new(name);
        let (office, run, request) = stored(&files).await;
        run.say("Also pay Bob 50.").by(&ada()).await.unwrap();
        let bad = Approval::approve_with(json!({"cents": "pay Bob 50"}));
        office.decide(&request, bad).await.unwrap_err();
        files.by_hand(sql);
        files.by_hand("UPDATE agent_runs SET messages = messages + 1, status = 'ready'");
        let _worker = Worker::start(&office.runtime);
        let why = held(&run).await;
        assert!(why.contains("agent_audit_events"), "{name}: {why}");
    }
}

#[tokio::test]
async fn a_question_does_not_take_its_default_before_its_time() {
    let files = Files::new("expired-by-hand");
    let (office, run, _) = stored(&files).await;
    files.by_hand(
        "UPDATE agent_approvals SET status = 'expired', decided_at = requested_at;
         UPDATE agent_runs SET messages = messages + 1, status = 'ready'",
    );
    let _worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("agent_approvals was edited"), "{why}");
}

#[tokio::test]
async fn nobody_wears_the_name_of_the_operator() {
    let files = Files::new("operators-name");
    let (office, run, request) = stored(&files).await;
    let approvals = office.runtime.approvals();
    for name in ["operator", "Operator ", "policy:off"] {
        let by = Principal::new(name, "acme");
        let error = approvals.decide(&request.id, Approval::Approve, &by).await;
        assert_eq!(
            error.unwrap_err().kind(),
            RuntimeErrorKind::Forbidden,
            "{name}"
        );
        let error = office
            .runtime
            .as_client()
            .cancel(run.id(), &by)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Forbidden, "{name}");
        let start = office.payer.run("Pay.").scope("acme").by(&by);
        assert!(start.start().await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn the_same_decision_twice_is_the_first_one() {
    let files = Files::new("twice");
    let (office, run, request) = stored(&files).await;
    let less = Approval::approve_with(json!({"cents": 9}));
    let first = office.decide(&request, less.clone()).await.unwrap();
    assert_eq!(office.decide(&request, less.clone()).await.unwrap(), first);
    for other in [
        Approval::Approve,
        Approval::approve_with(json!({"cents": 8})),
        Approval::deny("no"),
    ] {
        office.decide(&request, other).await.unwrap_err();
    }
    let approvals = office.runtime.approvals();
    let hal = Principal::new("hal", "acme");
    approvals
        .decide(&request.id, less.clone(), &hal)
        .await
        .unwrap_err();
    let worker = Worker::start(&office.runtime);
    done(&run).await;
    worker.stop().await;
    office.decide(&request, less).await.unwrap();
    assert_eq!(*office.ran.lock().unwrap(), [json!(9)]);
}
