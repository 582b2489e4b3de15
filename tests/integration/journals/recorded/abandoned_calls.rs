//! Abandoned calls: the journal has them like all others, and a what-if run can change them.

use crate::{
    bakery::{Baker, Shop, bakery, baking, run},
    world::tells_the_same,
};
use agents::{
    Agent, Budget, Code, ErrorKind,
    journal::Recorded,
    prelude::*,
    recovery::{Decision, Execution, feedback},
    testing::{Script, ScriptedModel},
};

/// Returns the number of calls and the recording of a run in which one call fails in this way.
async fn complete(trouble: &str) -> (usize, Recorded) {
    let (first, recorded) = run(bakery(), baking(&["rolls", trouble, "buns"])).await;
    tells_the_same(&recorded, &first);
    (recorded.receipts().len(), recorded)
}

#[tokio::test]
async fn a_throw_and_a_critical_escalation_in_a_delegate() {
    for trouble in ["smoke", "gas"] {
        let (calls, recorded) = complete(trouble).await;
        assert_eq!(calls, 4, "{trouble}");
        let receipts = recorded.receipts();
        let names = receipts.iter().map(|receipt| &*receipt.name);
        assert_eq!(names.collect::<Vec<_>>(), ["baker", "bake", "bake", "bake"]);
    }
}

#[tokio::test]
async fn work_that_was_given_up_for_another_way() {
    for trouble in ["mouse", "crumbs"] {
        let (calls, recorded) = complete(trouble).await;
        assert_eq!(calls, 4, "{trouble}");
        let receipts = recorded.receipts();
        let failed = receipts.iter().filter(|receipt| !receipt.is_ok());
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
    let (first, recorded) = run(team(), script).await;
    assert_eq!(first.result.as_ref().unwrap_err().kind(), ErrorKind::Budget);
    assert_eq!(recorded.receipts().len(), 3);
    tells_the_same(&recorded, &first);
}

#[tokio::test]
async fn what_if_it_had_not_thrown() {
    let (_, recorded) = complete("smoke").await;
    let what_if = recorded.what_if().output(2, "2 of smoked salmon");
    let journal = what_if.journal().unwrap();
    let (model, handle) = ScriptedModel::new([Script::text("baked"), Script::text("sold")]);
    let bakery = bakery();
    let run = bakery.run("bread").model(model).journal(journal);
    assert_eq!(run.await.unwrap(), "sold");
    assert_eq!(handle.count(), 2, "what came before is from the journal");
    let requests = handle.requests();
    let told = requests[0].results();
    assert_eq!(told[1], ("bake", "2 of smoked salmon"));
}

#[tokio::test]
async fn what_if_it_had_escalated_no_further() {
    let (first, recorded) = run(bakery(), baking(&["gas"])).await;
    assert!(first.stopped.is_some());
    let id = recorded.receipts().last().unwrap().call_id.to_string();
    let told: Decision<Execution> = feedback("air the room");
    let journal = recorded.what_if().plan(&*id, told).journal().unwrap();
    let (bakery, model) = (bakery(), recorded.model());
    let run = bakery.run("bread").journal(journal).model(model.clone());
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), agents::ErrorKind::Replay, "the run goes on");
    let difference = model.difference().unwrap();
    assert!(difference.place.ends_with("/turn0002"), "{difference:?}");
    let timed_out = recorded.what_if().error(1, Code::Timeout, "too slow");
    assert!(timed_out.journal().is_ok());
}
