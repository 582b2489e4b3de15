//! `first_of`.

use super::*;

#[tokio::test(start_paused = true)]
async fn the_first_answer_wins_and_the_others_are_dropped() {
    let freed = Arc::new(AtomicU32::new(0));
    let started = Instant::now();
    let race = first_of((
        endless("slow", &freed),
        fails("broken", 1),
        after("fast", 2),
    ));
    assert_eq!(race.name(), "first_of(slow, broken, fast)");
    assert_eq!(race.run("x").await.unwrap(), "fast(x)");
    assert_eq!(
        (freed.load(SeqCst), started.elapsed()),
        (1, Duration::from_secs(2))
    );
    assert_eq!(
        first_of(vec![after("a", 2), after("b", 1)])
            .run("x")
            .await
            .unwrap(),
        "b(x)"
    );
    assert_eq!(
        first_of([after("a", 1), after("b", 2)])
            .run("x")
            .await
            .unwrap(),
        "a(x)"
    );
}

#[tokio::test]
async fn who_answers_at_once_keeps_the_others_from_beginning() {
    let (model, handle) = ScriptedModel::new([Script::text("late")]);
    let late: Plain = AgentBuilder::new("late").model(model).build();
    assert_eq!(first_of((shout(), late)).run("x").await.unwrap(), "X");
    assert_eq!(handle.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn if_all_fail_the_last_error_tells_of_the_others() {
    let unreachable = || Error::new(ErrorKind::Model, "unreachable");
    let race = first_of((fails("a", 2), failing("b", 3, unreachable), fails("c", 1)));
    let error = race.run("x").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert_eq!(
        error.to_string(),
        "`first_of(a, b, c)`: `c` failed (out of order); `a` failed (out of order); `b` failed last: unreachable"
    );
    let nobody: Vec<Plain> = Vec::new();
    assert_eq!(
        first_of(nobody).run("x").await.unwrap_err().kind(),
        ErrorKind::Build
    );
}

#[tokio::test(start_paused = true)]
async fn what_losers_have_spent_stays_charged_with_their_receipts() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left":1,"right":2}"#),
        Script::call("wait", r#"{"millis":60000}"#),
    ]);
    let slow: Plain = AgentBuilder::new("slow")
        .tool(Add)
        .tool(crate::world::Wait)
        .model(model)
        .build();
    // Inside another composition, only the receipts are left after the answer.
    let race = first_of((slow, after("fast", 1)))
        .then(shout())
        .then(after("last", 1));
    let outcome = race.run("x").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "last(FAST(X))");
    assert_eq!(handle.count(), 2);
    assert_eq!(
        outcome.usage,
        Usage {
            input_tokens: 20,
            output_tokens: 10,
            requests: 2,
            ..Usage::default()
        }
    );
    let receipts: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| (receipt.name.as_str(), receipt.is_ok()))
        .collect();
    assert_eq!(
        receipts,
        [("add", true), ("wait", false)],
        "the call that was under way has one too"
    );
}

/// An agent that never answers.
struct Silent;

#[agents::async_trait]
impl agents::Model for Silent {
    fn id(&self) -> &str {
        "silent"
    }

    async fn chat(
        &self,
        _: agents::model::Request<'_>,
    ) -> Result<agents::model::Reply, agents::model::ModelError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_race_is_won_by_the_same_agent_on_recorded_replies() {
    let silent = || {
        AgentBuilder::<String, String>::new("silent")
            .model(Silent)
            .build()
    };
    let race = first_of((silent(), says("quick", ["here"])));
    let (outcome, recorded) = crate::world::recorded(race.run("x")).await;
    assert_eq!(outcome.result.unwrap(), "here");
    let model = recorded.model();
    let again = race.run("x").override_model(model.clone()).await;
    assert_eq!(again.unwrap(), "here");
    assert_eq!(model.left(), 0);
}
