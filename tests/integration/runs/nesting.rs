//! Agents within agents: they share the run, its budget and its cancellation.

use crate::world::{Add, Plain};
use agents::{
    Agent, AgentBuilder, Budget, Effects,
    prelude::*,
    run::{Limit, Stopped, tokens},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// Creates a tool that runs an agent.
fn asks(agent: Arc<Plain>) -> FnTool {
    FnTool::new(
        "ask",
        "Asks a colleague.",
        Effects::None,
        json!({"type": "object"}),
        move |_, _| {
            let agent = agent.clone();
            // The body has a time limit of a second. A cancellation must not look like an error to it.
            async move {
                match tokio::time::timeout(Duration::from_secs(1), async {
                    agent.run("help").await
                })
                .await
                {
                    Ok(Ok(text)) => Ok(text),
                    Ok(Err(error)) => Ok(format!("swallowed: {error}")),
                    Err(elapsed) => Err(elapsed),
                }
            }
        },
    )
}

#[tokio::test]
async fn a_child_uses_the_caller_s_model_and_its_receipts_are_kept() {
    let (model, _) = ScriptedModel::new([
        Script::call("ask", "{}"),
        Script::call("add", r#"{"left":1,"right":2}"#),
        Script::text("3"),
        Script::call("add", r#"{"left":1,"right":100}"#),
        Script::text("it is 3"),
    ]);
    let colleague = Arc::new(AgentBuilder::new("colleague").tool(Add).build());
    let boss: Plain = AgentBuilder::new("boss")
        .tool(asks(colleague))
        .tool(Add)
        .build();
    let outcome = boss.run("go").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "it is 3");
    assert_eq!(
        outcome.outputs.last_tool.as_ref().unwrap().input.as_str(),
        r#"{"left":1,"right":100}"#
    );
    let names: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.name.as_str())
        .collect();
    assert_eq!(names, ["ask", "add", "add"]);
    assert_eq!(outcome.usage.requests, 5);
}

#[tokio::test]
async fn a_child_s_budget_stop_ends_the_whole_run_and_no_body_can_swallow_it() {
    let (model, _) = ScriptedModel::always(Script::call("add", r#"{"left":1,"right":2}"#));
    let colleague = AgentBuilder::new("colleague")
        .tool(Add)
        .budget(Budget::new().max_turns(3))
        .model(model)
        .build();
    let (boss_model, handle) =
        ScriptedModel::new([Script::call("ask", "{}"), Script::text("fine")]);
    let boss: Plain = AgentBuilder::new("boss")
        .tool(asks(Arc::new(colleague)))
        .model(boss_model)
        .build();
    let outcome = boss.run("go").outcome().await.unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "colleague".into(),
            limit: Limit::Turns(3)
        })
    );
    assert_eq!(handle.count(), 1, "the boss was not asked again");
}

#[tokio::test]
async fn e6_two_agents_that_call_each_other_end() {
    let (model, _) = ScriptedModel::always(Script::call("ask", "{}"));
    fn ping(model: ScriptedModel, deep: u32) -> FnTool {
        FnTool::new(
            "ask",
            "Asks.",
            Effects::None,
            json!({"type": "object"}),
            move |_, _| {
                let model = model.clone();
                async move {
                    let name = if deep.is_multiple_of(2) {
                        "ping"
                    } else {
                        "pong"
                    };
                    let agent = AgentBuilder::<String, String>::new(name)
                        .tool(ping(model.clone(), deep + 1))
                        .model(model)
                        .build();
                    agent.run("again").await
                }
            },
        )
    }
    let first: Plain = AgentBuilder::new("pong")
        .tool(ping(model.clone(), 0))
        .model(model)
        .build();
    let outcome = first.run("go").outcome().await.unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "pong".into(),
            limit: Limit::Recursion(25)
        })
    );
}

#[tokio::test]
async fn depth_is_bounded_for_the_whole_tree() {
    let (model, _) = ScriptedModel::new([Script::call("ask", "{}"), Script::text("deep")]);
    let colleague: Plain = AgentBuilder::new("colleague").build();
    let boss: Plain = AgentBuilder::new("boss")
        .tool(asks(Arc::new(colleague)))
        .build();
    let outcome = boss
        .run("go")
        .model(model)
        .budget(tokens(1000).depth(0))
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "boss".into(),
            limit: Limit::Depth(0)
        })
    );
}

#[tokio::test]
async fn then_hands_on_and_shares_the_run() {
    let (model, _) = ScriptedModel::new([Script::text("7"), Script::text("seven")]);
    let parse = AgentBuilder::<String, u32>::new("parse").build();
    let spell = AgentBuilder::<u32, String>::new("spell")
        .budget(Budget::new().max_turns(1))
        .build();
    let outcome = parse
        .then(spell)
        .run("seven?")
        .model(model)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "seven");
    assert_eq!(outcome.usage.requests, 2);
}

/// Separate runs have new budgets, so their depth of nesting has a separate bound.
#[tokio::test]
async fn runs_of_their_own_that_call_each_other_end() {
    fn again() -> FnTool {
        let schema = json!({"type": "object"});
        FnTool::new("ask", "Asks.", Effects::None, schema, |_, _| async {
            let agent = AgentBuilder::<String, String>::new("echo")
                .tool(again())
                .build();
            agent.run("again").budget(Budget::new()).await
        })
    }
    let (model, handle) = ScriptedModel::new(
        (0..16)
            .map(|_| Script::call("ask", "{}"))
            .chain((0..16).map(|_| Script::text("enough"))),
    );
    let first: Plain = AgentBuilder::new("echo").tool(again()).build();
    assert_eq!(first.run("go").model(model).await.unwrap(), "enough");
    assert_eq!(handle.count(), 32);
    assert!(
        handle.requests()[16]
            .last()
            .contains("runs of their own are nested 15 deep")
    );
}

/// Asks the agent that calls this tool.
#[agents::tool(none)]
async fn ask_again() -> Result<String, Error> {
    Echo.run("again").await
}

/// You repeat.
#[agent(tools = [AskAgain], budget(max_recursion = 1000))]
async fn echo(task: String) -> String;

/// A level of nesting takes about 80 kB of stack without optimisation, and a task has 2 MB. The levels are therefore
/// on the heap.
#[test]
fn a_deep_run_comes_to_its_bound_on_a_small_stack() {
    let run = std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(|| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            let (model, _) = ScriptedModel::always(Script::call("ask_again", "{}"));
            let budget = Budget::new().max_recursion(200);
            let run = Echo.run("go").model(model).budget(budget);
            runtime.block_on(run.outcome()).unwrap()
        });
    let outcome = run.unwrap().join().unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "echo".into(),
            limit: Limit::Recursion(200)
        })
    );
    assert_eq!(outcome.outputs.receipts().count(), 200);
}
