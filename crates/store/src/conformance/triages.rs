//! Triage: what people say of clusters of failures.

use super::Checked;
use crate::{AuditFilter, AuditKind, NewTriage, PLATFORM, TriageStatus};

fn triage(tenant: &str, status: TriageStatus) -> NewTriage {
    NewTriage {
        cluster: "c1".to_owned(),
        tenant: tenant.to_owned(),
        status,
        by: "ada".to_owned(),
        notes: b"notes".to_vec(),
    }
}

pub(super) async fn the_status_of_a_cluster_is_set_and_changed_with_its_events(store: Checked) {
    let wanted = ["c1".to_owned(), "c2".to_owned()];
    assert!(store.triages(None, &wanted).await.unwrap().is_empty());
    for (tenant, status) in [
        ("acme", TriageStatus::Wait),
        ("other", TriageStatus::Escalate),
        ("acme", TriageStatus::Dismissed),
    ] {
        store.triage(&triage(tenant, status)).await.unwrap();
    }
    let all = store.triages(None, &wanted).await.unwrap();
    let all: Vec<_> = all.iter().map(|one| (&*one.tenant, one.status)).collect();
    let expected = [
        ("acme", TriageStatus::Dismissed),
        ("other", TriageStatus::Escalate),
    ];
    assert_eq!(all, expected);
    let own = store.triages(Some("acme"), &wanted).await.unwrap();
    assert_eq!(own.len(), 1);
    assert_eq!((&*own[0].by, &*own[0].notes), ("ada", &b"notes"[..]));
    let others = store.triages(Some("acme"), &wanted[1..]).await.unwrap();
    assert!(others.is_empty());
    let filter = AuditFilter {
        run: Some(PLATFORM.to_owned()),
        ..AuditFilter::default()
    };
    let told = store.audit(&filter).await.unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|event| (event.kind, &*event.tenant_id, event.subject.as_deref()))
        .collect();
    let expected = [
        (AuditKind::Triaged, "acme", Some("c1 wait")),
        (AuditKind::Triaged, "other", Some("c1 escalate")),
        (AuditKind::Triaged, "acme", Some("c1 dismissed")),
    ];
    assert_eq!(told, expected);
    store.erase_tenant("acme", "grace").await.unwrap();
    let left = store.triages(None, &wanted).await.unwrap();
    assert!(left.iter().all(|one| one.tenant == "other"));
}
