//! The audit trail: what happens to a run leaves an event, and the digests of a run's events are a chain.

use super::{Checked, ErrorKind, LONG, SHORT, claimed, create, execution, refused, request, step};
use crate::{
    Answer, ApprovalFilter, AuditEvent, AuditFilter, AuditKey, AuditKind, Commit, Decision, End,
    ExecutionFilter, Finish, HeldKind, ModeChange, NewApproval, NewEvent, NewRun, PLATFORM, Rest,
    Store,
};
use std::time::Duration;

const KEY: AuditKey = AuditKey::new([7; 32]);

async fn trail(store: &Checked, run: &str) -> Vec<AuditEvent> {
    let filter = AuditFilter {
        run: Some(run.to_owned()),
        ..AuditFilter::default()
    };
    store.audit(&filter).await.unwrap()
}

fn kinds(trail: &[AuditEvent]) -> Vec<AuditKind> {
    trail.iter().map(|event| event.kind).collect()
}

/// Checks that the digests of a run's audit trail are a chain that ends where the run's row says.
async fn check_chain(store: &Checked, run: &str, key: &AuditKey) {
    let mut before = Vec::new();
    let trail = trail(store, run).await;
    for (event, seq) in trail.iter().zip(1..) {
        assert_eq!(event.seq, seq);
        assert!(key.is_digest_of(&before, event), "event {seq}");
        before.clone_from(&event.digest);
    }
    let run = store.run(run).await.unwrap().unwrap();
    assert_eq!(run.audit_seq, trail.len() as u64);
    assert_eq!(run.audit_digest, before);
}

fn decision(by: &str, answer: Answer) -> Decision {
    Decision {
        id: "approval-r1".to_owned(),
        tenant: None,
        by: by.to_owned(),
        answer,
        proof: b"proof".to_vec(),
    }
}

fn event(kind: AuditKind, subject: &str) -> NewEvent {
    NewEvent {
        run: "run-1".to_owned(),
        tenant: None,
        kind,
        actor: Some("eve".to_owned()),
        subject: Some(subject.to_owned()),
        tool_name: Some("pay".to_owned()),
        detail: Some(b"why".to_vec()),
    }
}

fn finish(effect_unknown: bool) -> Finish {
    Finish {
        id: "e1".to_owned(),
        output: Some(b"paid".to_vec()),
        error: None,
        effect_unknown,
        took: Duration::from_millis(7),
    }
}

pub(super) async fn every_step_leaves_an_event(store: Checked) {
    use AuditKind::*;
    store.audit_with(&KEY).await.unwrap();
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let asks = Commit {
        asked: vec![request("r1", "d1")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &asks).await.unwrap();
    let yes = Answer::Approve {
        edited: None,
        edited_digest: None,
        use_within: LONG,
    };
    store.decide(&decision("grace", yes)).await.unwrap();
    let begins = Commit {
        began: vec![execution("e1", Some("r1"), "d1")],
        ..step("b", 1, 2)
    };
    store.commit(&lease, &begins).await.unwrap();
    let ends = Commit {
        ended: vec![finish(false)],
        ..step("c", 2, 3)
    };
    store.commit(&lease, &ends).await.unwrap();
    store
        .release(&lease, &Rest::done(End::Answered))
        .await
        .unwrap();
    let trail = trail(&store, "run-1").await;
    assert_eq!(
        kinds(&trail),
        [Started, Requested, Approved, Began, Ended, Finished]
    );
    let actors: Vec<_> = trail.iter().map(|event| event.actor.as_deref()).collect();
    assert_eq!(
        actors,
        [None, None, Some("grace"), Some("grace"), None, None]
    );
    assert!(trail.is_sorted_by_key(|event| (event.number, event.at)));
    check_chain(&store, "run-1", &KEY).await;

    let asked = store.approval("approval-r1").await.unwrap().unwrap();
    let ran = store.execution("e1").await.unwrap().unwrap();
    let run = store.run("run-1").await.unwrap().unwrap();
    let digests: Vec<_> = trail.iter().map(|event| event.row_digest.clone()).collect();
    assert_eq!(
        digests,
        [
            Some(KEY.of_run(&run).to_vec()),
            Some(KEY.of_request(&asked).to_vec()),
            Some(KEY.of_decision(&asked).to_vec()),
            Some(KEY.of_begin(&ran).to_vec()),
            Some(KEY.of_end(&ran).to_vec()),
            None
        ]
    );
}

pub(super) async fn an_execution_within_one_step_leaves_one_event(store: Checked) {
    use AuditKind::*;
    store.audit_with(&KEY).await.unwrap();
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let both = Commit {
        began: vec![
            execution("e1", None, "d1"),
            execution("e2", None, "d2"),
            execution("e3", None, "d3"),
        ],
        ended: vec![
            finish(false),
            Finish {
                id: "e3".to_owned(),
                ..finish(true)
            },
        ],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &both).await.unwrap();
    let trail = trail(&store, "run-1").await;
    // Nothing is known of the end of the second, and nothing certain of the end of the third.
    assert_eq!(kinds(&trail), [Started, Ran, Began, Began, InDoubt]);
    check_chain(&store, "run-1", &KEY).await;
    let ran = store.execution("e1").await.unwrap().unwrap();
    assert_eq!(
        (ran.duration_ms, ran.output.as_deref()),
        (Some(7), Some(&b"paid"[..]))
    );
    let begin = ran.executed_at.as_millis() + 7;
    assert_eq!(begin, trail[1].at.as_millis(), "it began before the step");
    assert_eq!(trail[1].row_digest, Some(KEY.of_execution(&ran).to_vec()));
    let open = store.execution("e2").await.unwrap().unwrap();
    assert_eq!((open.duration_ms, open.output), (None, None));
}

pub(super) async fn refusals_doubts_and_expiries_leave_events(store: Checked) {
    use AuditKind::*;
    store.audit_with(&KEY).await.unwrap();
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let asks = Commit {
        asked: vec![
            NewApproval {
                expires_after: SHORT,
                ..request("r1", "d1")
            },
            request("r2", "d2"),
        ],
        began: vec![execution("e1", None, "d3")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &asks).await.unwrap();
    let doubts = Commit {
        ended: vec![finish(true)],
        ..step("b", 1, 2)
    };
    store.commit(&lease, &doubts).await.unwrap();
    store.record(&event(Refused, "approval-r1")).await.unwrap();
    tokio::time::sleep(SHORT * 2).await;
    store.approvals(&ApprovalFilter::default()).await.unwrap();
    let held = Rest::Held(crate::HeldReason::new(HeldKind::Incompatible, "no agent"));
    store.release(&lease, &held).await.unwrap();
    store.unhold("run-1", "grace", None).await.unwrap();
    store.unhold("run-1", "grace", None).await.unwrap();
    store.cancel("run-1", "grace").await.unwrap();
    let lease = claimed(&store, "w").await;
    store
        .release(&lease, &Rest::done(End::Cancelled))
        .await
        .unwrap();
    assert_eq!(
        kinds(&trail(&store, "run-1").await),
        [
            Started, Requested, Requested, Began, InDoubt, Refused, Expired, Held, Released,
            Cancelled, Withdrawn, Finished
        ]
    );
    check_chain(&store, "run-1", &KEY).await;
}

pub(super) async fn what_was_not_stored_leaves_no_event(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let refused_commit = Commit {
        asked: vec![request("r1", "d1")],
        began: vec![execution("e1", Some("r9"), "d9")],
        ..step("a", 0, 1)
    };
    refused(
        store.commit(&lease, &refused_commit).await,
        ErrorKind::NotApproved,
    );
    let again = Commit {
        asked: vec![request("r1", "d1")],
        ..step("b", 0, 1)
    };
    store.commit(&lease, &again).await.unwrap();
    store.commit(&lease, &again).await.unwrap();
    let trail = trail(&store, "run-1").await;
    assert_eq!(
        kinds(&trail),
        [AuditKind::Started, AuditKind::Requested],
        "once each"
    );
    check_chain(&store, "run-1", &KEY).await;
    let missing = NewEvent {
        run: "run-9".to_owned(),
        ..event(AuditKind::Refused, "x")
    };
    refused(store.record(&missing).await, ErrorKind::NotFound);
}

pub(super) async fn an_execution_is_undone_once(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let begins = Commit {
        began: vec![execution("e1", None, "d1"), execution("e2", None, "d2")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &begins).await.unwrap();
    let undone = event(AuditKind::Undone, "e1");
    store.record(&undone).await.unwrap();
    let first = store.execution("e1").await.unwrap().unwrap();
    assert!(first.rolled_back && first.rolled_back_at.is_some());
    tokio::time::sleep(SHORT / 4).await;
    store.record(&undone).await.unwrap();
    assert_eq!(store.execution("e1").await.unwrap().unwrap(), first);
    let event = trail(&store, "run-1").await.pop().unwrap();
    assert_eq!(event.row_digest, Some(KEY.of_undo(&first).to_vec()));
    let others = ExecutionFilter {
        run: Some("run-1".to_owned()),
        after: Some("e1".to_owned()),
        ..ExecutionFilter::default()
    };
    let rest = store.executions(&others).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert!(rest[0].id == "e2" && !rest[0].rolled_back);
}

pub(super) async fn events_are_listed_the_oldest_first_page_by_page(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    for (id, tenant) in [("run-1", "acme"), ("run-2", "beta"), ("run-3", "acme")] {
        let run = NewRun {
            tenant: tenant.to_owned(),
            ..super::new_run(id)
        };
        store.create(&run).await.unwrap();
    }
    let mut filter = AuditFilter {
        tenant: Some("acme".to_owned()),
        limit: 1,
        ..AuditFilter::default()
    };
    let mut runs = Vec::new();
    while let Some(event) = store.audit(&filter).await.unwrap().pop() {
        filter.after = event.number;
        runs.push(event.run);
    }
    assert_eq!(runs, ["run-1", "run-3"]);
    let mut newest = AuditFilter {
        before: Some(u64::MAX),
        limit: 2,
        ..AuditFilter::default()
    };
    let mut numbers = Vec::new();
    loop {
        let page = store.audit(&newest).await.unwrap();
        let Some(last) = page.last() else { break };
        newest.before = Some(last.number);
        numbers.extend(page.iter().map(|event| (event.number, event.run.clone())));
    }
    let runs: Vec<_> = numbers.iter().map(|(_, run)| &**run).collect();
    assert_eq!(runs, ["run-3", "run-2", "run-1"], "the newest first");
    assert!(numbers.is_sorted_by(|a, b| a.0 > b.0), "{numbers:?}");
}

pub(super) async fn events_are_found_by_their_kind_their_actor_and_their_tool(store: Checked) {
    for (id, by) in [("run-1", "ada"), ("run-2", "bob")] {
        let run = NewRun {
            started_by: Some(by.to_owned()),
            ..super::new_run(id)
        };
        store.create(&run).await.unwrap();
    }
    let lease = claimed(&store, "one").await;
    let commit = Commit {
        began: vec![execution("e1", None, "digest")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &commit).await.unwrap();
    store.cancel("run-2", "ada").await.unwrap();
    let found = async |filter: AuditFilter| {
        let found = store.audit(&filter).await.unwrap().into_iter();
        let found: Vec<_> = found.map(|event| (event.run, event.kind)).collect();
        found
    };
    let event = |run: &str, kind| (run.to_owned(), kind);
    let of_kind = AuditFilter {
        kind: Some(AuditKind::Started),
        ..AuditFilter::default()
    };
    let both = [
        event("run-1", AuditKind::Started),
        event("run-2", AuditKind::Started),
    ];
    assert_eq!(found(of_kind).await, both);
    let of_ada = AuditFilter {
        actor: Some("ada".to_owned()),
        ..AuditFilter::default()
    };
    let both = [
        event("run-1", AuditKind::Started),
        event("run-2", AuditKind::Cancelled),
    ];
    assert_eq!(found(of_ada.clone()).await, both);
    let of_tool = AuditFilter {
        tool_name: Some("pay".to_owned()),
        ..AuditFilter::default()
    };
    assert_eq!(found(of_tool).await, [event("run-1", AuditKind::Began)]);
    let of_all_three = AuditFilter {
        kind: Some(AuditKind::Began),
        tool_name: Some("pay".to_owned()),
        ..of_ada
    };
    assert_eq!(found(of_all_three).await, []);
}

pub(super) async fn a_store_belongs_to_one_audit_key(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    store.audit_with(&KEY).await.unwrap();
    let other = AuditKey::new([8; 32]);
    refused(store.audit_with(&other).await, ErrorKind::OtherKey);
    create(&store, "run-1").await;
    check_chain(&store, "run-1", &KEY).await;
}

pub(super) async fn a_trail_that_has_begun_without_a_key_stays_without(store: Checked) {
    create(&store, "run-1").await;
    refused(store.audit_with(&KEY).await, ErrorKind::OtherKey);
    check_chain(&store, "run-1", &AuditKey::new([0; 32])).await;
}

pub(super) async fn an_erased_run_keeps_its_trail_without_names_and_texts(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    let run = NewRun {
        started_by: Some("ada".to_owned()),
        ..super::new_run("run-1")
    };
    store.create(&run).await.unwrap();
    refused(store.erase("run-1", "grace").await, ErrorKind::NotOver);
    let lease = claimed(&store, "w").await;
    let asks = Commit {
        asked: vec![request("r1", "d1")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &asks).await.unwrap();
    let no = Answer::Deny("Ada may not".to_owned());
    store.decide(&decision("grace", no)).await.unwrap();
    let begins = Commit {
        began: vec![execution("e1", None, "d2")],
        ended: vec![finish(false)],
        ..step("b", 1, 2)
    };
    store.commit(&lease, &begins).await.unwrap();
    let over = Rest::done(End::Answered);
    store.release(&lease, &over).await.unwrap();
    store.erase("run-1", "grace").await.unwrap();
    check_chain(&store, "run-1", &KEY).await;
    let erased = store.run("run-1").await.unwrap().unwrap();
    assert_eq!(erased.started_by, Some(KEY.pseudonym("acme", "ada")));
    assert!(erased.data.is_empty() && erased.data_key.is_empty());
    assert!(store.commits("run-1", 0).await.unwrap().is_empty());
    let asked = store.approval("approval-r1").await.unwrap().unwrap();
    assert_eq!(asked.decided_by, Some(KEY.pseudonym("acme", "grace")));
    assert_eq!((asked.note, &*asked.args_summary), (None, ""));
    let ran = store.execution("e1").await.unwrap().unwrap();
    assert!(ran.input.is_empty() && ran.output.is_none());
    let trail = trail(&store, "run-1").await;
    assert_eq!(trail.last().unwrap().kind, AuditKind::Erased);
    for event in &trail {
        assert!(!matches!(event.actor.as_deref(), Some("ada" | "grace")));
    }
}

pub(super) async fn an_erased_tenant_leaves_no_names_in_what_belongs_to_no_run(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    let refused = |tenant: &str, actor: &str| NewEvent {
        run: PLATFORM.to_owned(),
        tenant: Some(tenant.to_owned()),
        kind: AuditKind::Refused,
        actor: Some(actor.to_owned()),
        subject: Some("rotate".to_owned()),
        tool_name: None,
        detail: None,
    };
    store.record(&refused("acme", "ada")).await.unwrap();
    store.record(&refused("beta", "bob")).await.unwrap();
    let mode = ModeChange {
        tenant: Some("acme".to_owned()),
        mode: Some("off".to_owned()),
        by: "operator".to_owned(),
    };
    store.set_mode(&mode).await.unwrap();
    store.erase_tenant("acme", "grace").await.unwrap();
    store.erase_tenant("acme", "grace").await.unwrap();
    let events = trail(&store, PLATFORM).await;
    let actors: Vec<_> = events
        .iter()
        .map(|event| event.actor.clone().unwrap())
        .collect();
    let (ada, grace) = (KEY.pseudonym("acme", "ada"), KEY.pseudonym("acme", "grace"));
    assert_eq!(actors, [&*ada, "bob", "operator", &*grace, &*grace]);
    let mut before = Vec::new();
    for event in &events {
        assert!(KEY.is_digest_of(&before, event), "{event:?}");
        before.clone_from(&event.digest);
    }
}
