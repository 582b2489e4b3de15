//! Roles: the same rules for decisions and for steering, and refusals in the audit trail.

use crate::*;
use agents_runtime::{Action, AuditKind, Finding, Roles, RuntimeError, RuntimeErrorKind};
use agents_store::{AuditFilter, PLATFORM};

#[tokio::test(flavor = "multi_thread")]
async fn a11_whoever_has_not_the_role_steers_nothing_and_each_refusal_is_audited() {
    everywhere("steering", async |place| {
        let (runtime, _) = place.runtime([]);
        let run = start(&payer(&runtime, &Till::open())).await;
        let rules = Action::ALL.iter().copied();
        let roles = rules.fold(Roles::new(), |roles, action| {
            roles.for_action(action, "chief")
        });
        let client = place.client().roles(roles);
        let (id, plain, other) = (
            run.id(),
            grace(),
            Principal::new("eve", "other").role("chief"),
        );
        for by in [&plain, &other] {
            let kind = |result: Result<(), RuntimeError>| result.unwrap_err().kind();
            let refused = [
                kind(client.cancel(id, by).await),
                kind(client.pause(id, by).await),
                kind(client.release(id, by).await),
                kind(client.erase(id, by).await),
                kind(client.hold_all("why", by).await.map(drop)),
                kind(client.rotate("acme", by).await.map(drop)),
                kind(client.erase_tenant("acme", by).await.map(drop)),
            ];
            let (of_run, of_all) = refused.split_at(4);
            assert!(
                of_all
                    .iter()
                    .all(|kind| *kind == RuntimeErrorKind::Forbidden)
            );
            let is_forbidden = |kind: &RuntimeErrorKind| *kind == RuntimeErrorKind::Forbidden;
            // The run of another tenant does not exist.
            assert_eq!(of_run.iter().all(is_forbidden), by.tenant() == Some("acme"));
        }
        let trail = place.store.audit(&AuditFilter::default()).await.unwrap();
        let refused = trail.iter().filter(|one| one.kind == AuditKind::Refused);
        let (of_all, of_run): (Vec<_>, Vec<_>) = refused.partition(|one| one.run == PLATFORM);
        assert_eq!(of_run.len(), 8, "four for each of the two");
        let told = of_all.iter().map(|one| {
            let (actor, what) = (one.actor.as_deref(), one.subject.as_deref());
            (&*one.tenant_id, actor.unwrap(), what.unwrap())
        });
        let expected = [("acme", "grace"), ("other", "eve")].into_iter();
        let expected = expected.flat_map(|(tenant, actor)| {
            ["hold-all", "rotate", "erase"].map(|what| (tenant, actor, what))
        });
        assert!(told.eq(expected), "{of_all:?}");
        assert_eq!(status(place, &run).await, RunStatus::Ready);
        let chief = grace().role("chief");
        client.pause(id, &chief).await.unwrap();
        client.release(id, &chief).await.unwrap();
        client.cancel(id, &chief).await.unwrap();
        let verdict = client.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_for_decisions_holds_for_every_risk() {
    everywhere("deciders", async |place| {
        let (runtime, _) = place.runtime([pays(1), Script::text("Paid.")]);
        let roles = Roles::new().for_action(Action::Decide, "approver");
        let runtime = runtime.roles(roles);
        let payer = payer_that_asks(&runtime, &Till::open(), NeedsApproval::Always);
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        let request = waiting(&run).await;
        let decide = async |by: Principal| {
            let yes = agents_runtime::Approval::Approve;
            let decided = runtime.approvals().decide(&request.id, yes, &by).await;
            decided.map(drop).map_err(|error| error.kind())
        };
        assert_eq!(decide(grace()).await, Err(RuntimeErrorKind::Forbidden));
        let finding = Finding::took_effect();
        let none = runtime
            .as_client()
            .doubts()
            .settle("none", finding, &grace())
            .await;
        assert!(none.is_err());
        decide(grace().role("approver")).await.unwrap();
        done(&run).await.result.unwrap();
    })
    .await;
}
