//! Calls that were left unsettled: they are on the tape like all others, and can be changed.

use crate::bakery::{Baker, Shop, bakery, baking, run};
use agents::{
    Agent, Budget, Code, Outcome,
    prelude::*,
    record::Bundle,
    recovery::{Decision, Execution, feedback},
    testing::{Script, ScriptedModel},
};

/// The tape has all receipts, in order, and a replay has them again.
async fn is_complete(
    team: impl Agent<In = String, Out = String>,
    first: &Outcome<String>,
    bundle: &Bundle,
) {
    let receipts: Vec<_> = first.outputs.receipts().collect();
    assert_eq!(bundle.envelopes().collect::<Vec<_>>(), receipts);
    let replay = bundle.replay();
    let again = team
        .run("bread")
        .tape(replay.clone())
        .outcome()
        .await
        .unwrap();
    assert_eq!((replay.left(), replay.divergence()), (0, None));
    assert_eq!(again.outputs, first.outputs);
    assert_eq!(again.stopped, first.stopped);
}

/// How many calls there are, when one of them goes wrong so.
async fn complete(trouble: &str) -> (usize, Bundle) {
    let (first, bundle) = run(bakery(), baking(&["rolls", trouble, "buns"])).await;
    is_complete(bakery(), &first, &bundle).await;
    (bundle.envelopes().count(), bundle)
}

#[tokio::test]
async fn a_throw_and_a_critical_escalation_in_a_delegate() {
    for trouble in ["smoke", "gas"] {
        let (calls, bundle) = complete(trouble).await;
        assert_eq!(calls, 4, "{trouble}");
        let names = bundle.envelopes().map(|receipt| &*receipt.name);
        assert_eq!(names.collect::<Vec<_>>(), ["baker", "bake", "bake", "bake"]);
    }
}

#[tokio::test]
async fn work_that_was_given_up_for_another_way() {
    for trouble in ["mouse", "crumbs"] {
        let (calls, bundle) = complete(trouble).await;
        assert_eq!(calls, 4, "{trouble}");
        let failed = bundle.envelopes().filter(|receipt| !receipt.is_ok());
        assert_eq!(
            failed.count(),
            2,
            "{trouble}: the baker, and what was in it"
        );
    }
}

#[tokio::test]
async fn a_budget_of_turns_that_a_delegate_used_up() {
    let script = vec![
        Script::call("baker", r#"{"input": "bread"}"#),
        Script::call("bake", r#"{"what": "rolls"}"#),
        Script::call("bake", r#"{"what": "buns"}"#),
    ];
    let team = || structure!(Shop::new([]).delegates(Baker.budget(Budget::new().max_turns(2))));
    let (first, bundle) = run(team(), script).await;
    assert!(first.result.as_ref().unwrap_err().is_budget());
    assert_eq!(bundle.envelopes().count(), 3);
    is_complete(team(), &first, &bundle).await;
}

#[tokio::test]
async fn what_if_it_had_not_thrown() {
    let (_, bundle) = complete("smoke").await;
    let what_if = bundle.what_if().output(2, "2 of smoked salmon");
    let replay = what_if.live().replay().unwrap();
    let (model, handle) = ScriptedModel::new([Script::text("baked"), Script::text("sold")]);
    let bakery = bakery();
    let run = bakery.run("bread").model(model).tape(replay.clone());
    assert_eq!(run.await.unwrap(), "sold");
    assert_eq!(handle.count(), 2, "what came before is from the tape");
    let parted = replay.divergence().unwrap();
    assert!(parted.place.ends_with("/turn0002"), "{parted:?}");
    let requests = handle.requests();
    let told = requests[0].results();
    assert_eq!(told[1], ("bake", "2 of smoked salmon"));
}

#[tokio::test]
async fn what_if_it_had_escalated_no_further() {
    let (first, bundle) = run(bakery(), baking(&["gas"])).await;
    assert!(first.stopped.is_some());
    let receipt = bundle.envelopes().last().unwrap();
    let id = receipt.call_id.to_string();
    let told: Decision<Execution> = feedback("air the room");
    let replay = bundle.what_if().plan(&*id, told).replay().unwrap();
    let bakery = bakery();
    let run = bakery.run("bread").tape(replay.clone());
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), agents::ErrorKind::Replay, "the run goes on");
    let parted = replay.divergence().unwrap();
    assert!(parted.place.ends_with("/turn0002"), "{parted:?}");
    let timed_out = bundle.what_if().error(1, Code::Timeout, "too slow");
    assert!(timed_out.replay().is_ok());
}
