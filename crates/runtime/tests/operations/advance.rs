//! Runs that a scheduler of one's own advances: it may call twice, late, or on two processes.

use crate::{pauses::Pays, *};
use agents_runtime::{Advanced, Approval, RuntimeErrorKind};
use agents_store::ErrorKind as Kind;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_advanced_by_many_at_once_is_worked_on_by_one() {
    everywhere("advanced", async |place| {
        let (runtime, _) = place.runtime([pays(7), Script::text("Paid.")]);
        let (till, never) = (Till::closed(), CancellationToken::new());
        let payer = payer(&runtime, &till);
        let run = start(&payer).await;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (runtime, id, never) = (runtime.clone(), run.id().to_owned(), never.clone());
            calls.spawn(async move { runtime.advance(&id, &never).await });
        }
        till.begun(1).await;
        // All but one return at once: the run is another's.
        for _ in 0..7 {
            let advanced = calls.join_next().await.unwrap().unwrap();
            assert_eq!(advanced.unwrap(), Advanced::Ready);
        }
        till.may_end.add_permits(1);
        let last = calls.join_next().await.unwrap().unwrap();
        assert_eq!(last.unwrap(), Advanced::Done);
        assert_eq!(till.paid(), [7]);
        let again = runtime.advance(run.id(), &never).await.unwrap();
        assert_eq!((again, till.paid()), (Advanced::Done, vec![7]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_of_a_run_is_told() {
    everywhere("left", async |place| {
        let (runtime, _) = place.runtime([pays(7), Script::text("Paid.")]);
        let (till, never) = (Till::open(), CancellationToken::new());
        let payer = payer_that_asks(&runtime, &till, NeedsApproval::Always);
        let run = start(&payer).await;
        let advance = async || runtime.advance(run.id(), &never).await.unwrap();

        run.pause(&grace()).await.unwrap();
        assert_eq!(advance().await, Advanced::Held);
        let client = place.client();
        client.release(run.id(), &grace()).await.unwrap();

        let stopped = CancellationToken::new();
        stopped.cancel();
        let put_off = runtime.advance(run.id(), &stopped).await.unwrap();
        assert_eq!(put_off, Advanced::Ready);

        let Advanced::Waiting { until: Some(until) } = advance().await else {
            panic!("it waits for a decision, and for the end of its request");
        };
        assert!(until > place.store.now().await.unwrap());
        assert_eq!(advance().await, Advanced::Waiting { until: Some(until) });
        let request = waiting(&run).await;
        let approvals = client.approvals();
        let grace = grace();
        let decided = approvals.decide(&request.id, Approval::Approve, &grace);
        decided.await.unwrap();
        assert_eq!(advance().await, Advanced::Done);
        assert_eq!(till.paid(), [7]);

        let unknown = runtime.advance("unknown", &never).await.unwrap_err();
        assert_eq!(unknown.kind(), RuntimeErrorKind::Store(Kind::NotFound));
    })
    .await;
}

/// A run is put down between two effects when its process is stopped, and goes on in another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_put_down_when_its_process_is_stopped() {
    everywhere("put-down", async |place| {
        let till = Till::closed();
        let runtime = place.runtime_on(Pays([1, 2]));
        let payer = payer(&runtime, &till);
        let run = start(&payer).await;
        let stop = CancellationToken::new();
        let work = {
            let (runtime, id, stop) = (runtime.clone(), run.id().to_owned(), stop.clone());
            tokio::spawn(async move { runtime.advance(&id, &stop).await.unwrap() })
        };
        till.begun(1).await;
        stop.cancel();
        till.may_end.add_permits(1);
        assert_eq!(work.await.unwrap(), Advanced::Ready);
        assert_eq!(till.paid(), [1], "the effect under way has ended");
        till.may_end.add_permits(1);
        let never = CancellationToken::new();
        assert_eq!(
            runtime.advance(run.id(), &never).await.unwrap(),
            Advanced::Done
        );
        assert_eq!(till.paid(), [1, 2]);
    })
    .await;
}
