//! `pause`, `doubts`, `settle`, `metrics`, `deliveries` and `redeliver`; runs by key, label and time.

use crate::desk::Desk;
use agents_core::run::Timestamp;
use agents_runtime::{Approval, Principal};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_paused_and_goes_on() {
    let desk = Desk::new("paused").await;
    let (run, request) = desk.waiting("acme", "october").await;
    let chief = [
        "--role-for",
        "pause=chief",
        "--as",
        "grace",
        "--tenant",
        "acme",
    ];
    let refused = [&chief[..], &["pause", run.id()]].concat();
    desk.agents(&refused).fails(1, "needs the role `chief`");
    let told = desk.printed(&["pause", run.id()]);
    assert!(told.contains("is held"), "{told}");
    let held = desk
        .agents(&["runs", "--status", "held", "--json"])
        .objects();
    assert_eq!(held[0]["paused_by"], "operator");
    assert!(
        held[0]["held"]
            .as_str()
            .unwrap()
            .contains("paused by `operator`")
    );
    desk.printed(&["--as", "grace", "--tenant", "acme", "approve", &request]);
    assert!(desk.paid.lock().unwrap().is_empty());
    desk.printed(&["release", run.id()]);
    assert_eq!(desk.answer(&run).await.unwrap(), "Done: paid");
    desk.agents(&["pause", run.id()]).fails(1, "is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doubt_is_listed_and_settled_once() {
    let desk = Desk::new("doubts").await;
    let (run, request) = desk.waiting("acme", "october").await;
    let grace = Principal::new("grace", "acme");
    let approvals = desk.runtime.approvals();
    approvals
        .decide(&request, Approval::Approve, &grace)
        .await
        .unwrap();
    desk.answer(&run).await.unwrap();
    assert_eq!(desk.printed(&["doubts", "--json"]), "");
    desk.by_hand("UPDATE agent_tool_executions SET effect_unknown = 1, output = NULL");
    let doubts = desk.agents(&["doubts", "--json"]).objects();
    let id = doubts[0]["execution_id"].as_str().unwrap();
    assert_eq!(doubts[0]["args_summary"], "cents: 1200, to: [email]");
    assert!(desk.printed(&["doubts"]).contains(id));
    desk.agents(&["settle", id]).fails(2, "--took-effect");
    let who = [
        "--as",
        "ada",
        "--tenant",
        "acme",
        "settle",
        id,
        "--no-effect",
    ];
    desk.agents(&who).fails(1, "started the run");
    let told = desk.printed(&["settle", id, "--no-effect", "--note", "The bank says so."]);
    assert!(told.contains("had no effect"), "{told}");
    desk.agents(&["settle", id, "--took-effect"])
        .fails(1, "already");
    assert_eq!(desk.printed(&["doubts", "--json"]), "");
    assert!(
        desk.printed(&["executions", run.id()])
            .contains("had no effect")
    );
    let trail = desk.agents(&["audit", "--json"]).objects();
    let settled = trail
        .iter()
        .find(|event| event["kind"] == "settled")
        .unwrap();
    assert_eq!(settled["reason"], "The bank says so.");
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_printed_for_prometheus_and_as_json() {
    let desk = Desk::new("metrics").await;
    desk.waiting("acme", "october").await;
    let text = desk.printed(&["metrics"]);
    assert!(
        text.contains("\nagents_runs{state=\"waiting\"} 1\n"),
        "{text}"
    );
    assert!(text.contains("\nagents_requests_pending 1\n"), "{text}");
    let json = desk.agents(&["metrics", "--json"]).objects();
    assert_eq!(
        (&json[0]["requests_pending"], &json[0]["runs"]["waiting"]),
        (&1.into(), &1.into())
    );
    let other = desk
        .agents(&["--tenant", "other", "metrics", "--json"])
        .objects();
    assert_eq!(other[0]["requests_pending"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_the_operators() {
    let desk = Desk::new("deliveries").await;
    desk.start("acme", "october").await;
    assert_eq!(desk.printed(&["deliveries", "--given-up", "--json"]), "");
    let grace = ["--as", "grace", "--tenant", "acme", "deliveries"];
    desk.agents(&grace).fails(1, "operator");
    desk.agents(&["redeliver", "desk", "1"])
        .fails(1, "no delivery of event 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_found_by_key_label_and_time() {
    let desk = Desk::new("found").await;
    let (october, _) = (
        desk.start("acme", "october").await,
        desk.start("acme", "november").await,
    );
    let run = desk.payer.run("Pay.").label("house", "north = 1");
    let labelled = run.start().await.unwrap();
    let ids = |args: &[&str]| {
        let found = desk.agents(&[&["runs", "--json"], args].concat()).objects();
        let ids = found
            .iter()
            .map(|run| run["run_id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--key", "october"]), [october.id()]);
    assert_eq!(ids(&["--label", "house=north = 1"]), [labelled.id()]);
    assert!(ids(&["--label", "house=south"]).is_empty());
    let now = Timestamp::from_millis(Timestamp::now().as_millis() + 1000).to_string();
    assert!(ids(&["--since", &now]).is_empty());
    assert_eq!(ids(&["--until", &now]).len(), 3);
    desk.agents(&["runs", "--since", "yesterday"])
        .fails(2, "2026-10-01T00:00:00Z");
    desk.agents(&["runs", "--label", "house"])
        .fails(2, "a name and a value");
}
