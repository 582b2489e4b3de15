//! Clusters of failures.

use crate::{OrderShipped, Taken, Working, died, grace, shipped, stores::each, subscriber};
use agents::{
    AgentBuilder, Effects, Severity,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use agents_runtime::{
    Action, ClusterStatus, DeliveryError, FailureQuery, Principal, Progress, Roles, Runtime, Told,
    TriageStatus,
};
use serde_json::json;
use std::time::Duration;

/// Runs an agent of a tenant whose tool fails this often.
async fn fails(runtime: &Runtime, agent: &str, tenant: &str, times: u32) {
    let schema = json!({"type": "object"});
    let broken = FnTool::new("fetch", "Fetches.", Effects::Reads, schema, |_, _| async {
        Err::<String, _>("it is down")
    });
    let calls = (0..times).map(|number| ("fetch", json!({"n": number}).to_string()));
    let (model, _) = ScriptedModel::new([Script::calls(calls), Script::text("It fails.")]);
    let built = AgentBuilder::<String, String>::new(agent.to_owned()).model(model);
    let agent = runtime.agent(built.tool(broken).build());
    let run = agent.run("Read.").scope(tenant).start().await.unwrap();
    let Progress::Done(outcome) = run.wait(Duration::from_secs(30)).await.unwrap() else {
        panic!("it does not end");
    };
    outcome.result.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_failures_are_in_clusters_by_code_tool_and_agent_of_their_tenant() {
    each(async |place| {
        let runtime = place.runtime().await;
        let dies = |_: &OrderShipped, _: &Told| Some(DeliveryError::permanent("no such order"));
        let runtime = runtime.subscriber(subscriber("invoices", &Taken::default(), dies));
        let working = Working::on(&runtime);
        fails(&runtime, "one", "acme", 1).await;
        fails(&runtime, "two", "acme", 11).await;
        fails(&runtime, "three", "other", 1).await;
        runtime.publish(&shipped(1)).scope("acme").await.unwrap();
        died(runtime.as_client(), 1).await;
        working.stop().await;
        let failures = runtime.as_client().failures();
        let found = async |query: FailureQuery, by: &Principal| {
            let all = failures.list(&query, by).await.unwrap().into_iter();
            let all = all.map(|one| (one.agent_name, one.tool_name, one.code, one.count));
            all.collect::<Vec<_>>()
        };
        let of = |agent: &str, count| {
            let code = "UNKNOWN".to_owned();
            (agent.to_owned(), "fetch".to_owned(), code, count)
        };
        let letters = (
            "invoices".to_owned(),
            "shop.order_shipped".to_owned(),
            "FAILED".to_owned(),
            1,
        );
        let all = FailureQuery::default;
        let mut own = found(all(), &grace()).await;
        assert_eq!(own[0], of("two", 11), "many failures are more severe");
        own.sort();
        assert_eq!(own, [letters, of("one", 1), of("two", 11)]);
        let eve = Principal::new("eve", "other");
        assert_eq!(found(all(), &eve).await, [of("three", 1)]);
        assert_eq!(found(all(), &Principal::operator()).await.len(), 4);
        let severe = FailureQuery {
            severity: Some(Severity::Critical),
            ..all()
        };
        assert_eq!(found(severe, &grace()).await, [of("two", 11)]);

        let clusters = failures.list(&all(), &grace()).await.unwrap();
        let id = &clusters[0].cluster_id;
        let detail = failures.get(id, &grace()).await.unwrap();
        assert_eq!(detail.failures.len(), 11);
        assert!(
            detail
                .failures
                .iter()
                .all(|one| one.error.contains("it is down"))
        );
        assert_eq!((detail.cluster.count, detail.cluster.runs), (11, 1));
        let foreign = failures.get(id, &eve).await.unwrap_err();
        assert!(foreign.to_string().contains("no cluster"), "{foreign}");
        let notes = "known";
        let foreign = failures
            .triage(id, TriageStatus::Dismissed, notes, &eve)
            .await;
        foreign.unwrap_err();
        let roles = Roles::new().for_action(Action::Triage, "chief");
        let strict = place.client().await.roles(roles).failures();
        let refused = strict
            .triage(id, TriageStatus::Dismissed, notes, &grace())
            .await;
        assert!(refused.unwrap_err().to_string().contains("`chief`"));
        failures
            .triage(id, TriageStatus::Dismissed, notes, &grace())
            .await
            .unwrap();
        let dismissed = FailureQuery {
            status: Some(ClusterStatus::Dismissed),
            ..all()
        };
        assert_eq!(found(dismissed, &grace()).await, [of("two", 11)]);
    })
    .await;
}
