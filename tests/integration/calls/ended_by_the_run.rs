//! Calls cut off by the end of their run, on receipts, in the log and in spans.

use crate::{
    observation::traces::{attribute, traced, tree},
    world::{Add, Wait, recorded, tells_the_same},
};
use agents::{
    Agent, Budget, ErrorKind, Outcome,
    prelude::*,
    run::Stopped,
    testing::{Script, ScriptedModel},
};
use opentelemetry::{Value, trace::Status};
use std::time::Duration;

/// You do the sums, and rest.
#[agent(tools = [Add, Wait])]
async fn clerk(work: String) -> String;

/// You lead.
#[agent]
async fn lead(work: String) -> String;

/// Runs a lead and a clerk; the time is over during the clerk's second call.
fn script() -> ScriptedModel {
    let (model, _) = ScriptedModel::new([
        Script::call("clerk", r#"{"input": "add, then rest"}"#),
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::call("wait", r#"{"millis": 60000}"#),
    ]);
    model
}

fn time() -> Budget {
    Budget::new().time(Duration::from_secs(2))
}

/// Returns the tool and the error message of each receipt.
fn told(outcome: &Outcome<String>) -> Vec<(String, Option<String>)> {
    let receipts = outcome.outputs.receipts();
    receipts
        .map(|receipt| {
            let error = receipt.error.as_ref();
            (
                receipt.name.clone(),
                error.map(|error| error.message.clone()),
            )
        })
        .collect()
}

const NOTHING: &str =
    "the run ended before this call did: it was cut off while it ran, which changed nothing";
const WITHIN: &str = "the run ended before this call did: it was cut off while it ran; the 2 calls within it have \
    receipts, the rest is not known";

#[tokio::test(start_paused = true)]
async fn the_receipt_of_a_delegate_points_to_those_of_its_calls() {
    let team = structure!(Lead.delegates(Clerk));
    let run = team.run("go").model(script()).budget(time());
    let (outcome, recorded) = recorded(run).await;
    let expected = [
        ("clerk", Some(WITHIN)),
        ("add", None),
        ("wait", Some(NOTHING)),
    ];
    let expected = expected.map(|(name, error)| (name.to_owned(), error.map(str::to_owned)));
    assert_eq!(told(&outcome), expected);
    tells_the_same(&recorded, &outcome);
}

/// The delegate's turns or the run's tokens are used up, which ends the run from inside or from above the call.
#[tokio::test]
async fn the_receipt_of_a_call_says_whether_the_run_was_ended_from_within_it() {
    for (turns, tokens, why) in [
        (1, 1_000, "the run was ended from within this call"),
        (5, 3, "the run ended before this call did"),
    ] {
        let team = structure!(Lead.delegates(Clerk.budget(Budget::new().max_turns(turns))));
        let spend = agents::run::tokens(tokens);
        let run = team.run("go").model(script()).budget(spend);
        let (outcome, recorded) = recorded(run).await;
        assert!(matches!(outcome.stopped, Some(Stopped::Budget { .. })));
        let [(clerk, error), ..] = &told(&outcome)[..] else {
            panic!("{:?}", told(&outcome))
        };
        assert_eq!(clerk, "clerk");
        assert!(error.as_ref().unwrap().starts_with(why), "{error:?}");
        tells_the_same(&recorded, &outcome);
    }
}

#[tokio::test(start_paused = true)]
async fn each_is_a_line_in_the_log_and_a_span_that_failed() {
    let run = async {
        let team = structure!(Lead.delegates(Clerk));
        let run = team.run("go").model(script()).budget(time());
        run.outcome().await.unwrap()
    };
    let (outcome, spans) = traced(run).await;
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
    expect_test::expect![[r#"
        invoke_workflow lead
          * a call is settled
          invoke_agent lead
            chat scripted
            call clerk
              policy clerk
              execute_tool clerk
                * a call is settled
                invoke_agent clerk
                  chat scripted
                  call add
                    * a call is settled
                    policy add
                    execute_tool add
                  chat scripted
                  call wait
                    policy wait
                    execute_tool wait
    "#]]
    .assert_eq(&tree(&spans));
    let calls = spans.iter().filter(|span| {
        let name = &*span.name;
        name.starts_with("call ") || name.starts_with("execute_tool ")
    });
    for span in calls {
        let is_cut_off = !span.name.ends_with("add");
        let expected = is_cut_off.then(|| Value::from("cut_off"));
        assert_eq!(attribute(span, "error.type"), expected.as_ref());
        assert_eq!(matches!(span.status, Status::Error { .. }), is_cut_off);
    }
}
