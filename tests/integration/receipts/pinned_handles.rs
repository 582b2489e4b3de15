//! Receipts that a pinned handle resolves to, with all settings.

use crate::world::{agent_with, spec};
use agents::{
    Agent, Effects,
    run::{AgentOutputs, OnMissing, PinnedHandle, Selector, Strategy, ToolEnvelope},
    testing::Script,
    tool::FnTool,
};
use serde_json::json;
use std::io;

/// Creates a tool that succeeds unless its arguments say otherwise.
fn tool(name: &'static str) -> FnTool {
    FnTool::with_spec(spec(name, Effects::Reads), |args, _| async move {
        match args["fail"] == true {
            true => Err(io::Error::other("told to")),
            false => Ok(args["n"].clone()),
        }
    })
}

/// Returns the outputs of a run that makes these calls with these tools.
async fn outputs(tools: &[&'static str], calls: &[(&'static str, &'static str)]) -> AgentOutputs {
    let script = [Script::calls(calls.iter().copied()), Script::text("done")];
    let (agent, _) = agent_with(tools.iter().map(|name| tool(name)), script);
    agent.run("go").outcome().await.unwrap().outputs
}

fn pin(strategy: Strategy, call_id: Option<&str>, on_missing: OnMissing) -> PinnedHandle {
    PinnedHandle {
        name: "report".into(),
        selector: Selector {
            tool: "search".into(),
            strategy,
            call_id: call_id.map(str::to_owned),
        },
        on_missing,
    }
}

const ON_MISSING: [OnMissing; 3] = [
    OnMissing::Null,
    OnMissing::Error,
    OnMissing::StaleLastSuccess,
];

/// Resolves a handle; returns the argument of the call, or the error's text.
fn out(pin: &PinnedHandle, now: &AgentOutputs, before: Option<&AgentOutputs>) -> String {
    let n = |receipt: &ToolEnvelope| receipt.input.to_value().unwrap()["n"].to_string();
    match pin.resolve(now, before) {
        Ok(Some(receipt)) => n(&receipt),
        Ok(None) => "null".into(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn o5_what_is_there_comes_out_whatever_is_said_about_missing() {
    let calls = [
        ("search", r#"{"n":1,"fail":true}"#),
        ("search", r#"{"n":2}"#),
        ("other", r#"{"n":3}"#),
        ("search", r#"{"n":4,"fail":true}"#),
    ];
    let now = outputs(&["search", "other"], &calls).await;
    let before = outputs(&["search"], &[("search", r#"{"n":0}"#)]).await;
    let first = now.tool_order[0].to_string();
    for on_missing in ON_MISSING {
        for (strategy, id, expected) in [
            (Strategy::Latest, None, "4"),
            (Strategy::FirstSuccess, None, "2"),
            (Strategy::ByCallId, Some(first.as_str()), "1"),
        ] {
            let pin = pin(strategy, id, on_missing);
            for before in [None, Some(&before)] {
                assert_eq!(out(&pin, &now, before), expected, "{pin:?}");
            }
        }
    }
}

#[tokio::test]
async fn o5_o7_what_is_missing_is_null_an_error_or_stale() {
    let failed = [("search", r#"{"n":1,"fail":true}"#)];
    let only_failed = outputs(&["search"], &failed).await;
    let never_called = outputs(&["search"], &[]).await;
    let of_other = outputs(&["search", "other"], &[("other", r#"{"n":9}"#)]).await;
    let other_id = of_other.tool_order[0].to_string();
    let before = outputs(
        &["search"],
        &[
            ("search", r#"{"n":7}"#),
            ("search", r#"{"n":8}"#),
            ("search", r#"{"n":9,"fail":true}"#),
        ],
    )
    .await;
    for (strategy, id, now, error) in [
        (Strategy::Latest, None, &never_called, "was not called"),
        (
            Strategy::FirstSuccess,
            None,
            &only_failed,
            "did not succeed",
        ),
        (
            Strategy::FirstSuccess,
            None,
            &never_called,
            "did not succeed",
        ),
        (
            Strategy::ByCallId,
            Some("x"),
            &only_failed,
            "has no call `x`",
        ),
        (
            Strategy::ByCallId,
            None,
            &only_failed,
            "is asked for by `call_id`, and none is given",
        ),
        (
            Strategy::ByCallId,
            Some(other_id.as_str()),
            &of_other,
            &format!("has no call `{other_id}`"),
        ),
    ] {
        let pin = |on_missing| pin(strategy, id, on_missing);
        let error = format!("handle `report`: `search` {error}");
        for (before, stale) in [
            (None, "null"),
            (Some(&never_called), "null"),
            (Some(&only_failed), "null"),
            (Some(&before), "8"),
        ] {
            assert_eq!(out(&pin(OnMissing::Null), now, before), "null");
            assert_eq!(out(&pin(OnMissing::Error), now, before), error);
            assert_eq!(out(&pin(OnMissing::StaleLastSuccess), now, before), stale);
        }
    }
}

#[tokio::test]
async fn o6_a_tool_that_is_taken_away_keeps_its_handle() {
    let call = [("search", r#"{"n":1}"#)];
    let with = outputs(&["search"], &call).await;
    // The model still calls the tool, but the agent no longer has it.
    let without = outputs(&["other"], &call).await;
    assert!(!without.receipts().next().unwrap().is_ok());
    let mut pins = [
        PinnedHandle::latest("report", "search"),
        PinnedHandle::latest("more", "other"),
    ];
    let pinned = with.pinned(&pins, None).unwrap();
    assert_eq!(pinned.keys().collect::<Vec<_>>(), ["more", "report"]);
    assert!(pinned["report"].is_some() && pinned["more"].is_none());
    let pinned = without.pinned(&pins, Some(&with)).unwrap();
    assert_eq!(pinned.keys().collect::<Vec<_>>(), ["more", "report"]);
    assert_eq!(
        serde_json::to_value(&pinned).unwrap()["report"],
        json!(null)
    );

    pins[0].on_missing = OnMissing::StaleLastSuccess;
    let stale = without.pinned(&pins, Some(&with)).unwrap();
    assert_eq!(stale["report"], with.last_tool);
    pins[0].on_missing = OnMissing::Error;
    let error = without.pinned(&pins, Some(&with)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "handle `report`: `search` was not called"
    );
}
