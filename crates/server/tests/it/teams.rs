//! Teams: organisation charts as workers describe them, and where escalations went.

use crate::house::House;
use agents::{
    AgentBuilder, Budget, Effects,
    recovery::{Execution, escalate},
    team::Member,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use agents_runtime::{Action, Progress, Roles, Runtime, SqliteStore};
use axum::http::StatusCode;
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Returns a house whose office has a clerk, and a run in which the clerk gave up.
async fn house() -> (House, String) {
    let schema = json!({"type": "object"});
    let broken = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
        Err::<String, _>(std::io::Error::other("the lamp is broken"))
    });
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.prompt().contains("clerk") {
        true => Script::call("look", "{}"),
        false => match asked.results()[..] {
            [] => Script::call("clerk", r#"{"input": "look"}"#),
            [(_, told), ..] => Script::text(told),
        },
    });
    let broken = broken.on_error(|_, _| Some(escalate::<Execution>("the lamp is broken").into()));
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .description("Looks things up.")
        .prompt("You are a clerk.")
        .tool(broken);
    let office = AgentBuilder::<String, String>::new("office").prompt("You lead.");
    let team = Member::new(office.build())
        .delegate(Member::new(clerk.build()).budget(Budget::new().max_turns(3)))
        .confirm_named("clerk");
    let roles = Roles::new().for_action(Action::ReadArguments, "reader");
    let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap())
        .model(model)
        .roles(roles);
    let office = runtime.agent(team.build());
    let house = House::of(runtime, None);
    tokio::spawn(house.runtime.clone().work(CancellationToken::new()));
    let run = office.run("Look.").scope("acme").start().await.unwrap();
    let request = loop {
        match run.progress().await.unwrap() {
            Progress::Waiting(requests) if !requests.is_empty() => break requests[0].id.clone(),
            Progress::Done(outcome) => panic!("{:?}", outcome.result),
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    house.decide("operator", &request, "approve", &[]).await;
    let over = run.wait(Duration::from_secs(20)).await.unwrap();
    assert!(matches!(over, Progress::Done(_)), "{over:?}");
    (house, run.id().to_owned())
}

#[tokio::test]
async fn a_team_is_shown_as_its_worker_describes_it_with_its_grants_and_bounds() {
    let (house, _) = house().await;
    let page = house.get("acme/ann", "/teams").await.body;
    for part in [
        "data-agent=\"office\"",
        "data-place=\"clerk\"",
        "Looks things up.",
        "at most 3 turns",
        "data-agent=\"payer\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let tools = house.get("acme/ann", "/api/tools").await.json();
    let names = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"]);
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["look", "pay"],
        "a delegate is no tool to call"
    );
    let json = house.get("acme/ann", "/api/agents").await.json();
    let chart = &json["agents"][0]["forms"][0]["chart"];
    assert_eq!(
        (&chart["name"], &chart["delegates"][0]["tools"]),
        (&json!("office"), &json!(["look"]))
    );
}

#[tokio::test]
async fn the_page_of_a_team_shows_where_the_escalations_of_its_last_runs_went() {
    let (house, run) = house().await;
    let page = house.get("acme/rita/reader", "/teams/office").await.body;
    for part in [
        "Where escalations went",
        "the lamp is broken",
        &format!("/runs/{run}"),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Reasons may quote exact arguments.
    let page = house.get("acme/ann", "/teams/office").await.body;
    assert!(!page.contains("the lamp is broken"), "{page}");
    // The runs of others do not count.
    let json = house
        .get("beta/rob/reader", "/api/agents/office")
        .await
        .json();
    assert_eq!(json["escalations"], json!([]));
    let json = house
        .get("acme/rita/reader", "/api/agents/office")
        .await
        .json();
    assert_eq!(json["escalations"][0]["run_id"], json!(run));
    assert_eq!(json["runs_read"], 1);
    assert_eq!(
        house.get("acme/ann", "/teams/nobody").await.status,
        StatusCode::NOT_FOUND
    );
}
