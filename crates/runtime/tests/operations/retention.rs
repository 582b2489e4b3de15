//! Retention: a worker erases what is no longer needed.

use crate::*;
use agents_runtime::{AuditKind, RuntimeErrorKind};
use agents_store::AuditFilter;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_erases_the_contents_of_old_runs() {
    everywhere("retention", async |place| {
        let scripts = [pays(1), Script::text("Paid."), pays(2)];
        let (runtime, _) = place.runtime(scripts);
        let runtime = runtime.keep_contents_for(Duration::from_millis(500));
        let payer = payer(&runtime, &Till::with(1));
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        done(&run).await.result.unwrap();
        let open = start(&payer).await;
        let client = place.client();
        until("the run is erased", async || {
            let stored = place.store.run(run.id()).await.unwrap().unwrap();
            stored.data_key.is_empty()
        })
        .await;
        let gone = client.recorded(run.id()).await.unwrap_err();
        assert_eq!(gone.kind(), RuntimeErrorKind::Sealed);
        assert!(client.recorded(open.id()).await.is_ok(), "it is not over");
        let of_run = AuditFilter {
            run: Some(run.id().to_owned()),
            ..AuditFilter::default()
        };
        let trail = place.store.audit(&of_run).await.unwrap();
        let erased = trail
            .iter()
            .find(|one| one.kind == AuditKind::Erased)
            .unwrap();
        assert!(erased.actor.is_some());
        let verdict = client.audit().verify().await.unwrap();
        assert!(verdict.is_intact() && verdict.erased == 1, "{verdict}");
    })
    .await;
}
