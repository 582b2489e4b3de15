//! Cost of models: it is counted during the run, and checked before each request.

use crate::world::{Add, Plain, agent_with, always_adds, put_down, scripted_agent};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error, ErrorKind,
    journal::MemoryJournal,
    model::{Model, ModelError, Reply, Request},
    run::{Cost, Limit, Stopped},
    team::Member,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::sync::Arc;

/// Creates an agent that never ends. Each turn has 10 input and 5 output tokens, which cost 0.00004 at 2 and 4 per
/// million.
fn endless() -> (Plain, ScriptedModel) {
    let (model, handle) = always_adds();
    let agent = AgentBuilder::new("adder").tool(Add).model(model).build();
    (agent, handle)
}

/// A model that takes a second for each reply, so that requests overlap.
struct Thinking(ScriptedModel);

#[agents::async_trait]
impl Model for Thinking {
    fn id(&self) -> &str {
        self.0.id()
    }
    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        self.0.chat(request).await
    }
}

#[tokio::test]
async fn e8_the_run_ends_before_the_call_that_goes_over() {
    let (agent, handle) = endless();
    let run = agent.run("go").price("scripted", 2.0, 4.0);
    let outcome = run
        .budget(Budget::new().cost(0.0001))
        .outcome()
        .await
        .unwrap();
    let limit = Limit::Cost(Cost::of(0.0001));
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "adder".into(),
            limit
        })
    );
    assert_eq!(handle.count(), 3, "0.00004 each: the third goes over");
    assert_eq!(outcome.cost, Some(Cost::of(0.00012)));
    assert_eq!(
        outcome.result.unwrap_err().to_string(),
        "agent `adder`: a cost of 0.0001 is used up (`cost`)"
    );
    assert_eq!(
        outcome.outputs.tool_order.len(),
        3,
        "what was done is there"
    );
}

#[tokio::test]
async fn an_agent_s_own_bound_counts_as_well() {
    let (model, handle) = always_adds();
    let agent = AgentBuilder::<String, String>::new("adder")
        .tool(Add)
        .budget(Budget::new().cost(0.00004))
        .model(model)
        .build();
    let run = agent.run("go").price("scr*", 2.0, 4.0);
    let outcome = run.budget(Budget::new().cost(9.0)).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn a_cost_of_nothing_asks_no_model() {
    let (agent, handle) = endless();
    let run = agent.run("go").price("*", 2.0, 4.0);
    let outcome = run.budget(Budget::new().cost(0.0)).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
    assert_eq!(handle.count(), 0);
    assert_eq!(outcome.cost, Some(Cost::ZERO));
}

#[tokio::test]
async fn e8_a_model_without_a_price_is_never_free() {
    let (agent, handle) = endless();
    let run = agent.run("go").price("gpt-*", 2.0, 4.0);
    let error = run
        .budget(Budget::new().cost(1.0))
        .outcome()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.to_string(),
        "agent `adder`: the model `scripted` has no price, so that its cost cannot be bounded; say \
         what it costs with `.run(..).price(\"scripted\", input, output)`"
    );
    assert_eq!(handle.count(), 0);
    // Without a budget a model without a price may be asked; the cost of the run is then unknown.
    let (agent, _) = agent_with([], [Script::text("hi")]);
    assert_eq!(agent.run("go").outcome().await.unwrap().cost, None);
}

#[tokio::test]
async fn runs_within_a_run_are_paid_by_both() {
    let (nested, _) = agent_with([], [Script::text("in")]);
    let nested = Arc::new(nested);
    let outer = FnTool::new(
        "ask",
        "Asks.",
        Effects::None,
        json!({"type": "object"}),
        move |_, _| {
            let nested = nested.clone();
            async move { nested.run("go").scope("other").await }
        },
    );
    let (agent, _) = agent_with([outer], [Script::call("ask", "{}"), Script::text("out")]);
    let outcome = agent
        .run("go")
        .price("*", 2.0, 4.0)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.cost, Some(Cost::of(0.00012)));
}

/// A budget is checked before each request; requests that are already running still cost.
#[tokio::test(start_paused = true)]
async fn agents_at_once_go_over_by_one_request_each_and_no_more() {
    let endless = Script::call("wait", r#"{"millis":1}"#);
    let (model, handle) = ScriptedModel::always(endless);
    let slow = || {
        AgentBuilder::<String, String>::new("slow")
            .tool(crate::world::Wait)
            .model(Thinking(model.clone()))
            .build()
    };
    let eight: [_; 8] = std::array::from_fn(|_| slow());
    let outcome = eight
        .run("go".to_owned())
        .price("*", 2.0, 4.0)
        // Reached with the second round of replies; eight are under way then.
        .budget(Budget::new().cost(0.0004))
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
    assert_eq!(handle.count(), 16);
    assert_eq!(outcome.cost, Some(Cost::of(0.00064)));
}

#[tokio::test]
async fn a_run_that_was_put_down_owes_what_it_owed() {
    let journal = MemoryJournal::new();
    let script = || {
        [
            Script::call("add", r#"{"left":1,"right":1}"#),
            Script::text("2"),
        ]
    };
    let adder = |script: Vec<Script>| scripted_agent("adder", script).tool(Add).build();
    let agent = adder(script().into());
    let run = agent.run("go").price("*", 2.0, 4.0);
    let whole = run.journal(journal.clone()).outcome().await.unwrap();
    assert_eq!(whole.cost, Some(Cost::of(0.00008)));
    for at in put_down(&journal) {
        let agent = adder(script().into_iter().skip(at.replies()).collect());
        let run = agent.run("go").price("*", 2.0, 4.0);
        let resumed = run.journal(at.journal()).outcome().await.unwrap();
        assert_eq!(resumed.cost, whole.cost, "{at}");
    }
}

#[tokio::test]
async fn what_is_no_amount_bounds_no_run() {
    for amount in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = |error: Error, of: &str| {
            assert_eq!(error.kind(), agents::ErrorKind::Build);
            let wrong = format!("the `cost` of {of} is not a valid bound");
            assert!(error.to_string().contains(&wrong), "{error}");
        };
        let bounds = Budget::new().cost(amount);
        let (agent, handle) = endless();
        let run = agent.run("go").price("*", 1.0, 1.0).budget(bounds.clone());
        refused(run.outcome().await.unwrap_err(), "the run");
        assert_eq!(handle.count(), 0);

        let (model, handle) = ScriptedModel::new(Vec::new());
        let own = AgentBuilder::<String, String>::new("spender").model(model);
        let own = own.budget(bounds.clone()).build();
        let run = own.run("go").price("*", 1.0, 1.0);
        refused(run.outcome().await.unwrap_err(), "agent `spender`");
        assert_eq!(handle.count(), 0);

        let team = Member::new(endless().0).budget(bounds).build();
        refused(team.check().unwrap_err(), "its place");
    }
}

#[tokio::test]
async fn what_is_no_price_is_refused_before_anything_runs() {
    for (input, output, wrong) in [
        (
            -1.0,
            1.0,
            "a million input tokens of the model `*` cannot cost -1",
        ),
        (
            1.0,
            f64::NAN,
            "a million output tokens of the model `*` cannot cost NaN",
        ),
        (
            f64::INFINITY,
            1.0,
            "a million input tokens of the model `*` cannot cost inf",
        ),
    ] {
        let (agent, handle) = endless();
        let run = agent.run("go").price("scripted", 1.0, 1.0);
        let error = run.price("*", input, output).outcome().await.unwrap_err();
        assert_eq!(error.kind(), agents::ErrorKind::Build);
        let expected = format!("{wrong}; a price is a number that is not negative");
        assert_eq!(error.to_string(), expected);
        assert_eq!(handle.count(), 0);
    }
}
