//! Modes, and the trail of what belongs to no run.

use super::{Checked, LONG, claimed, create, request, step};
use crate::{
    ApprovalStatus, AuditEvent, AuditFilter, AuditKey, AuditKind, ByMode, Commit, ModeChange,
    NewApproval, NewEvent, PLATFORM, Store, StoredMode,
};

const KEY: AuditKey = AuditKey::new([7; 32]);

fn change(tenant: Option<&str>, mode: Option<&str>) -> ModeChange {
    ModeChange {
        tenant: tenant.map(str::to_owned),
        mode: mode.map(str::to_owned),
        by: "operator".to_owned(),
    }
}

fn by_mode(mode: &StoredMode) -> ByMode {
    ByMode {
        seq: mode.seq,
        by: "policy:off".to_owned(),
        use_within: LONG,
        proof: b"proof".to_vec(),
    }
}

async fn trail(store: &Checked, run: &str) -> Vec<AuditEvent> {
    let filter = AuditFilter {
        run: Some(run.to_owned()),
        ..AuditFilter::default()
    };
    store.audit(&filter).await.unwrap()
}

pub(super) async fn a_mode_is_set_changed_and_removed_with_its_events(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    assert!(store.platform().await.unwrap().modes.is_empty());
    for change in [
        change(Some("acme"), Some("off")),
        change(None, Some("external_only")),
        change(Some("acme"), Some("ask")),
    ] {
        store.set_mode(&change).await.unwrap();
    }
    let set = store.platform().await.unwrap();
    let words: Vec<_> = set.modes.iter().map(|mode| &*mode.mode).collect();
    assert_eq!(words, ["external_only", "ask"], "that of all comes first");
    for mode in &set.modes {
        assert_eq!(mode.proof, KEY.of_mode(mode), "{mode:?}");
        assert_eq!(mode.set_by, "operator");
    }
    assert_eq!(set.modes[1].tenant.as_deref(), Some("acme"));
    store.set_mode(&change(Some("acme"), None)).await.unwrap();
    let refused = NewEvent {
        run: PLATFORM.to_owned(),
        tenant: Some("acme".to_owned()),
        kind: AuditKind::Refused,
        actor: Some("eve".to_owned()),
        subject: Some("off".to_owned()),
        tool_name: None,
        detail: None,
    };
    store.record(&refused).await.unwrap();
    let left = store.platform().await.unwrap();
    assert_eq!(left.modes.len(), 1);

    let events = trail(&store, PLATFORM).await;
    let told: Vec<_> = events
        .iter()
        .map(|event| (event.kind, &*event.tenant_id, event.subject.as_deref()))
        .collect();
    let mode = AuditKind::Mode;
    let expected = [
        (mode, "acme", Some("off")),
        (mode, "*", Some("external_only")),
        (mode, "acme", Some("ask")),
        (mode, "acme", None),
        (AuditKind::Refused, "acme", Some("off")),
    ];
    assert_eq!(told, expected);
    let mut before = Vec::new();
    for (event, seq) in events.iter().zip(1..) {
        assert_eq!((event.seq, &*event.run), (seq, PLATFORM));
        assert_eq!(event.digest, KEY.digest(&before, event), "event {seq}");
        before.clone_from(&event.digest);
    }
    let end = left.trail.expect("the owner sees the whole trail");
    assert_eq!((end.seq, end.digest), (5, before));
}

pub(super) async fn a_request_is_approved_with_its_commit_by_the_mode_in_effect(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    store.set_mode(&change(None, Some("off"))).await.unwrap();
    let mode = store.platform().await.unwrap().modes.remove(0);
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let asks = Commit {
        asked: vec![NewApproval {
            by_mode: Some(by_mode(&mode)),
            ..request("r1", "d1")
        }],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &asks).await.unwrap();
    let found = store.approval("approval-r1").await.unwrap().unwrap();
    assert_eq!(found.status, ApprovalStatus::Approved);
    assert_eq!(found.decided_by.as_deref(), Some("policy:off"));
    assert_eq!(found.proof.as_deref(), Some(&b"proof"[..]));
    assert!(found.use_by > found.decided_at && found.decided_at.is_some());
    assert_eq!(found.reasons.as_deref(), Some(r#"["policy"]"#));
    let events = trail(&store, "run-1").await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    use AuditKind::{Approved, Requested, Started};
    assert_eq!(kinds, [Started, Requested, Approved]);
    assert_eq!(events[2].actor.as_deref(), Some("policy:off"));
    let digest = events[2].row_digest.clone();
    assert_eq!(digest, Some(KEY.of_decision(&found).to_vec()));
}

pub(super) async fn a_mode_that_is_not_in_effect_approves_nothing(store: Checked) {
    store.audit_with(&KEY).await.unwrap();
    store.set_mode(&change(None, Some("off"))).await.unwrap();
    let of_all = store.platform().await.unwrap().modes.remove(0);
    // The tenant's own mode goes before that of all.
    store
        .set_mode(&change(Some("acme"), Some("ask")))
        .await
        .unwrap();
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let asks = |id: &str, name: &str, after: u64| Commit {
        asked: vec![NewApproval {
            by_mode: Some(by_mode(&of_all)),
            ..request(name, "d1")
        }],
        ..step(id, after, after + 1)
    };
    store.commit(&lease, &asks("a", "r1", 0)).await.unwrap();
    // The mode of all was set again: a decision by the earlier one is too late.
    store.set_mode(&change(Some("acme"), None)).await.unwrap();
    store.set_mode(&change(None, Some("off"))).await.unwrap();
    store.commit(&lease, &asks("b", "r2", 1)).await.unwrap();
    for id in ["approval-r1", "approval-r2"] {
        let found = store.approval(id).await.unwrap().unwrap();
        assert_eq!(found.status, ApprovalStatus::Pending, "{id}");
        assert_eq!((found.decided_by, found.proof), (None, None));
    }
}

pub(super) async fn a_request_that_follows_another_has_its_correlation_id(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let follows = |name: &str, earlier: &str| NewApproval {
        follows: Some(earlier.to_owned()),
        ..request(name, "d1")
    };
    let asks = Commit {
        asked: vec![
            request("r1", "d1"),
            request("r2", "d2"),
            follows("r3", "r1"),
            follows("r4", "r3"),
        ],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &asks).await.unwrap();
    let mut correlations = Vec::new();
    for name in ["r1", "r2", "r3", "r4"] {
        let found = store.approval(&format!("approval-{name}")).await.unwrap();
        correlations.push(found.unwrap().correlation_id);
    }
    let first = "approval-r1";
    assert_eq!(correlations, [first, "approval-r2", first, first]);
}
