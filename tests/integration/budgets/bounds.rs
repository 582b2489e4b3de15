use crate::world::{Add, Plain, always_adds, scripted_agent, work, worker};
use agents::{
    Agent, AgentBuilder, Budget, Code, Effects, ErrorKind,
    run::{ApprovalRequest, Limit, Stopped, minutes, tokens},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, ToolSpec},
};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn e4_a_model_that_never_stops_calling_is_stopped_after_ten_turns() {
    let outcome = worker::<String>()
        .run("go")
        .model(always_adds().0)
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.result.as_ref().unwrap_err().kind(),
        ErrorKind::Budget
    );
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "worker".into(),
            limit: Limit::Turns(10)
        })
    );
    assert_eq!(outcome.outputs.tool_order.len(), 10);
    assert_eq!(outcome.usage.requests, 10);
    let text = outcome.result.unwrap_err().to_string();
    assert_eq!(text, "agent `worker`: 10 turns are used up (`max_turns`)");
}

#[tokio::test]
async fn e5_thirty_calls_in_one_reply_run_twenty_five() {
    let calls = (0..30).map(|n| ("add", format!(r#"{{"left":{n},"right":0}}"#)));
    let (outcome, handle) = work([Script::calls(calls)]).await;
    assert_eq!(
        outcome
            .outputs
            .receipts()
            .filter(|receipt| receipt.is_ok())
            .count(),
        25
    );
    let refused: Vec<_> = outcome
        .outputs
        .receipts()
        .filter_map(|receipt| Some(receipt.error.as_ref()?.code))
        .collect();
    assert_eq!(refused, [Code::PolicyDenied; 5]);
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "worker".into(),
            limit: Limit::ToolCalls(25)
        })
    );
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn e6_recursion_counts_turns_and_rounds() {
    let budget = Budget::new().max_turns(100).max_recursion(7);
    let agent = AgentBuilder::<String, String>::new("looper")
        .tool(Add)
        .budget(budget)
        .model(always_adds().0)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "looper".into(),
            limit: Limit::Recursion(7)
        })
    );
    assert_eq!(outcome.usage.requests, 4);
}

#[tokio::test]
async fn tokens_are_shared_by_the_run() {
    let outcome = worker::<String>()
        .run("go")
        .model(always_adds().0)
        .budget(tokens(40))
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "worker".into(),
            limit: Limit::Tokens(40)
        })
    );
    assert_eq!(
        outcome.usage.requests, 3,
        "15 tokens a request: the third goes over, the fourth is not made"
    );
}

#[tokio::test]
async fn e2_a_budget_of_zero_asks_no_model() {
    let (model, handle) = ScriptedModel::new([Script::text("hi")]);
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .budget(tokens(0))
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
    assert_eq!(handle.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn time_ends_the_run_with_its_partial_outputs() {
    let (model, _) = ScriptedModel::new([
        Script::call("add", r#"{"left":1,"right":1}"#),
        Script::call("wait", r#"{"millis":200000}"#),
    ]);
    let limit = Duration::from_secs(3);
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .budget(tokens(1000).time(limit))
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "worker".into(),
            limit: Limit::Time(limit)
        })
    );
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert!(receipts[0].is_ok() && receipts.len() == 2);
    assert_eq!(
        receipts[1].error.as_ref().unwrap().message,
        "the run ended before this call did: it was cut off while it ran, which changed nothing"
    );
    assert_eq!(minutes(2), Duration::from_secs(120));
}

#[tokio::test]
async fn a_run_without_a_model_says_where_one_can_be_named() {
    let error = worker::<String>().run("go").outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.to_string(),
        "agent `worker` has no model; name one with `#[agent(model = ..)]` or `AgentBuilder::model`, \
         or give one to the whole run with `.run(..).model(..)`"
    );
}

#[tokio::test]
async fn two_tools_of_one_name_are_an_error_when_built() {
    let (model, handle) = ScriptedModel::new([]);
    let agent = AgentBuilder::<String, String>::new("twice")
        .tool(Add)
        .tool(Add)
        .model(model)
        .build();
    let error = agent.run("go").outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.to_string(),
        "agent `twice`: two tools are called `add`; rename one or remove it"
    );
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn e5_a_run_s_bounds_on_turns_and_calls_hold_for_each_agent() {
    let budget = Budget::new().max_turns(2);
    let outcome = worker::<String>()
        .run("go")
        .model(always_adds().0)
        .budget(budget)
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "worker".into(),
            limit: Limit::Turns(2)
        })
    );
    let budget = Budget::new().max_turns(50).max_tool_calls(3);
    let outcome = worker::<String>()
        .run("go")
        .model(always_adds().0)
        .budget(budget)
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.usage.requests, 4,
        "a run tightens and never loosens"
    );
}

/// Asks a person, who takes ten minutes, and then does a minute's work.
fn clerk(budget: Budget) -> Plain {
    let spec = ToolSpec::new("send", "Sends.", Effects::Writes, json!({"type": "object"}))
        .approval(NeedsApproval::Always);
    let send = FnTool::with_spec(spec, |_, _| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok::<_, String>("sent")
    });
    scripted_agent("clerk", [Script::call("send", "{}"), Script::text("done")])
        .tool(send)
        .budget(budget)
        .build()
}

async fn slowly(_: ApprovalRequest) -> agents::run::Approval {
    tokio::time::sleep(Duration::from_secs(600)).await;
    agents::run::Approval::Approve
}

#[tokio::test(start_paused = true)]
async fn time_stands_still_while_a_person_is_asked_and_goes_on_then() {
    for (seconds, is_enough) in [(90, true), (30, false)] {
        let time = Budget::new().time(Duration::from_secs(seconds));
        let stopped = (!is_enough).then(|| Stopped::Budget {
            agent: "clerk".into(),
            limit: Limit::Time(Duration::from_secs(seconds)),
        });
        // The agent's own time, and that of the run.
        let agent = clerk(time.clone());
        let own = agent.run("go").approver(slowly).outcome().await.unwrap();
        assert_eq!((own.result.is_ok(), &own.stopped), (is_enough, &stopped));
        let agent = clerk(Budget::new());
        let run = agent.run("go").approver(slowly).budget(time);
        let whole = run.outcome().await.unwrap();
        assert_eq!(
            (whole.result.is_ok(), &whole.stopped),
            (is_enough, &stopped)
        );
    }
}

/// A separate run inside a tool: outer deadlines pause while a person decides, too.
#[tokio::test(start_paused = true)]
async fn time_stands_still_around_a_run_of_its_own_too() {
    let ask = FnTool::new(
        "ask",
        "Asks the clerk.",
        Effects::Reads,
        json!({"type": "object"}),
        |_, _| async {
            let run = clerk(Budget::new())
                .run("go")
                .approver(slowly)
                .outcome()
                .await?;
            run.result
        },
    );
    let (model, handle) = ScriptedModel::new([Script::call("ask", "{}"), Script::text("end")]);
    let time = minutes(2);
    let boss: Plain = AgentBuilder::new("boss")
        .tool(ask)
        .budget(Budget::new().time(time))
        .model(model)
        .build();
    let run = boss
        .run("go")
        .tool_timeout(time)
        .budget(tokens(1000).time(time));
    assert_eq!(run.await.unwrap(), "end");
    assert_eq!(handle.requests()[1].last(), "done");
}
