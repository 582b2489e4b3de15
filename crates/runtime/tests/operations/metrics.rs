//! Metrics: what there is to do, and what a worker has done.

use crate::*;

#[tokio::test(flavor = "multi_thread")]
async fn figures_and_counters_are_told_in_the_format_of_prometheus() {
    everywhere("metrics", async |place| {
        let (runtime, _) = place.runtime([pays(1), Script::text("Paid.")]);
        let runtime = runtime.worker("w\"1");
        let payer = payer_that_asks(&runtime, &Till::open(), NeedsApproval::Always);
        let run = start(&payer).await;
        let idle = place.client().metrics(None).await.unwrap();
        assert!(idle.store.oldest_claimable.is_some());
        let worker = Worker::start(&runtime);
        let request = waiting(&run).await;
        let text = runtime.metrics().await.unwrap().to_string();
        for line in [
            "# TYPE agents_runs gauge",
            "agents_runs{state=\"waiting\"} 1",
            "agents_runs{state=\"ready\"} 0",
            "agents_oldest_claimable_seconds 0",
            "agents_requests_pending 1",
            "agents_executions_in_doubt 0",
            "agents_worker_runs_claimed_total{worker=\"w\\\"1\"} 1",
            "agents_worker_runs_under_way{worker=\"w\\\"1\"} 0",
            "agents_worker_leases_lost_total{worker=\"w\\\"1\"} 0",
        ] {
            assert!(
                text.lines().any(|own| own == line),
                "{line} is not in\n{text}"
            );
        }
        // Each metric has its help, its type and a value.
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            let (_, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap();
            assert!(text.contains(&format!("# HELP {name} ")), "{name}");
            assert!(text.contains(&format!("# TYPE {name} ")), "{name}");
        }
        let approvals = place.client().approvals();
        let yes = agents_runtime::Approval::Approve;
        approvals.decide(&request.id, yes, &grace()).await.unwrap();
        done(&run).await.result.unwrap();
        worker.stop().await;
        let counted = runtime.metrics().await.unwrap().worker.unwrap();
        assert_eq!((counted.claimed, counted.ended, counted.held), (2, 1, 0));
        assert!(
            counted.steps >= 3 && counted.steps_failed == 0,
            "{counted:?}"
        );
        assert!(place.client().metrics(None).await.unwrap().worker.is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_lease_is_counted() {
    everywhere("lost", async |place| {
        let (runtime, _) = place.runtime([pays(1), Script::text("Paid.")]);
        let runtime = runtime.lease(Duration::from_millis(500));
        let till = Till::closed();
        let payer = payer(&runtime, &till);
        let worker = Worker::start(&runtime);
        let run = start(&payer).await;
        till.begun(1).await;
        let operator = Principal::operator();
        let held = place
            .client()
            .hold_all("restored", &operator)
            .await
            .unwrap();
        assert_eq!(held, 1);
        until("the lease is lost", async || {
            let metrics = runtime.metrics().await.unwrap();
            metrics.worker.unwrap().leases_lost == 1
        })
        .await;
        worker.stop().await;
        assert_eq!(status(place, &run).await, RunStatus::Held);
    })
    .await;
}
