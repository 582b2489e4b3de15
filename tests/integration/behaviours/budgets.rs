//! Budgets and deadlines around recovery: which agent they belong to, and what they count.

use super::*;
use crate::world::scripted_agent;
use ::agents::{
    Budget, Effects,
    recovery::*,
    run::{Limit, Stopped, tokens},
    tool::{FnTool, ToolSpec},
};
use serde_json::json;
use std::time::Duration;

fn anything() -> Value {
    json!({"type": "object"})
}

/// Creates an agent whose repair agent has this model and this budget.
fn repaired_by(model: ScriptedModel, budget: Budget) -> AgentBuilder<'static, String, String> {
    let agent = AgentBuilder::<Repair, String>::new("scribe")
        .budget(budget)
        .model(model)
        .build();
    let agent = Arc::new(agent);
    let tool = Job {
        runs: Arc::default(),
        failures: 0,
    };
    AgentBuilder::new("worker")
        .tool(tool)
        .on_error(on_args(move |_, _| fix_with(agent.clone()).retries(2)))
}

fn broken() -> Vec<Script> {
    vec![Script::call("job", "three"), Script::text("end")]
}

/// (d) A repair agent that exceeds its own budget uses up one attempt, and ends nothing else.
#[tokio::test(start_paused = true)]
async fn x17_a_repair_agent_s_own_budget_ends_a_try() {
    let budgets = [
        Budget::new().max_turns(1),
        Budget::new().max_recursion(2),
        Budget::new().tokens(15),
        Budget::new().time(Duration::from_millis(100)),
    ];
    for budget in budgets {
        let (model, _) = ScriptedModel::always(Script::call("sleep", "{}"));
        let agent = Arc::new(
            AgentBuilder::<Repair, String>::new("scribe")
                .tool(FnTool::new(
                    "sleep",
                    "Sleeps.",
                    Effects::None,
                    anything(),
                    |_, _| async {
                        tokio::time::sleep(Duration::from_secs(1)).await;
                        Ok::<_, io::Error>(())
                    },
                ))
                .budget(budget.clone())
                .model(model)
                .build(),
        );
        let seen = call(
            0,
            "three",
            on_args(move |_, _| fix_with(agent.clone()).retries(2)),
        )
        .await;
        assert_eq!(seen.outcome.result.as_deref().unwrap(), "end", "{budget:?}");
        assert_eq!(
            seen.count(|kind| matches!(kind, EventKind::FixerRequested { .. })),
            2,
            "{budget:?}"
        );
    }
}

/// (d) The caller's budget ends the caller, also if it is exceeded within a repair.
#[tokio::test]
async fn the_caller_s_budget_ends_the_run_within_a_repair() {
    let (model, handle) = ScriptedModel::always(Script::call("nothing", "{}"));
    let agent = repaired_by(model, Budget::new()).budget(Budget::new().tokens(40));
    let seen = watch(agent, broken()).await;
    let stopped = Stopped::Budget {
        agent: "worker".into(),
        limit: Limit::Tokens(40),
    };
    assert_eq!(seen.outcome.stopped, Some(stopped));
    assert_eq!((seen.model.count(), handle.count()), (1, 2));

    let (model, _) = ScriptedModel::always(Script::call("nothing", "{}"));
    let agent = repaired_by(model, Budget::new()).budget(Budget::new().max_recursion(4));
    let seen = watch(agent, broken()).await;
    let stopped = Stopped::Budget {
        agent: "worker".into(),
        limit: Limit::Recursion(4),
    };
    assert_eq!(seen.outcome.stopped, Some(stopped));
}

/// (d) The budget of a repair agent ends only that agent, also if it is exceeded within a repair of its own call.
#[tokio::test]
async fn an_outer_repair_s_budget_passed_within_an_inner_one_ends_the_outer_try() {
    let (inner_model, _) = ScriptedModel::always(Script::call("nothing", "{}"));
    let inner = Arc::new(
        AgentBuilder::<Repair, String>::new("inner")
            .model(inner_model)
            .build(),
    );
    let (outer_model, _) = ScriptedModel::always(Script::call("job", "not json"));
    let outer = AgentBuilder::<Repair, String>::new("outer")
        .tool(Job {
            runs: Arc::default(),
            failures: 0,
        })
        .on_error(on_args(move |_, _| fix_with(inner.clone())))
        .budget(Budget::new().tokens(40))
        .model(outer_model)
        .build();
    let outer = Arc::new(outer);
    let seen = call(0, "three", on_args(move |_, _| fix_with(outer.clone()))).await;
    assert_eq!(seen.outcome.stopped, None);
    assert_eq!(seen.outcome.result.unwrap(), "end");
}

/// (f) A deadline that covers the repairs and waits between executions.
#[tokio::test(start_paused = true)]
async fn a_tool_s_deadline_covers_one_execution_and_neither_repairs_nor_waits() {
    let slow = Arc::new(
        AgentBuilder::<Repair, String>::new("slow")
            .skill(Skill::native("fix", "Takes its time.", |_| async {
                tokio::time::sleep(Duration::from_secs(30)).await;
                Ok(r#"{"n":2}"#.to_owned())
            }))
            .build(),
    );
    let spec =
        ToolSpec::new("odd", "Odd.", Effects::None, anything()).timeout(Duration::from_secs(1));
    let left: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let seen_left = left.clone();
    let tool = FnTool::with_spec(spec, move |_, cx| {
        seen_left.lock().unwrap().extend(cx.time_left());
        async move {
            if cx.attempt() < 3 {
                Err("not yet")
            } else {
                Ok("now")
            }
        }
    });
    let arms = move |error: CallError<'_, AnyError>, cx: &ErrorContext| match (error, cx.attempt())
    {
        (CallError::Execution(_), 1) => Some(fix_with::<Execution>(slow.clone()).into()),
        (CallError::Execution(_), _) => Some(
            retry::<Execution>()
                .max_attempts(3)
                .backoff(constant(Duration::from_secs(30)))
                .into(),
        ),
        _ => None,
    };
    let seen = watch(
        AgentBuilder::new("a").tool(tool).on_error(arms),
        vec![Script::call("odd", "{}"), Script::text("end")],
    )
    .await;
    assert_eq!(seen.told(), "now");
    assert_eq!(
        *left.lock().unwrap(),
        [Duration::from_secs(1); 3],
        "each execution has all of it"
    );
}

/// (f) The run's own time does include them.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_covers_repairs_and_waits() {
    let runs = Arc::new(AtomicU32::new(0));
    let agent = scripted_agent("a", [Script::call("job", r#"{"n":1}"#)])
        .tool(Job { runs, failures: 9 })
        .on_error(on_failure(|_| {
            retry()
                .max_attempts(9)
                .backoff(constant(Duration::from_secs(60)))
        }))
        .build();
    let limit = Duration::from_secs(90);
    let outcome = agent
        .run("go")
        .budget(tokens(1000).time(limit))
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "a".into(),
            limit: Limit::Time(limit)
        })
    );
}

/// (g) (h) Repairs whose cost is not counted.
#[tokio::test]
async fn x17_the_cost_of_a_repair_is_the_caller_s() {
    let (model, handle) = ScriptedModel::new([Script::text("worse"), Script::text(r#"{"n":3}"#)]);
    let seen = watch(repaired_by(model, Budget::new()), broken()).await;
    assert_eq!((seen.told().as_str(), handle.count()), ("did 3", 2));
    let usage = seen.outcome.usage;
    assert_eq!((usage.requests, usage.tokens()), (4, 60));
}
