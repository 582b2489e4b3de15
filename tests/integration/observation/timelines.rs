//! Timelines of runs with unfinished work: every step has its line.

use crate::world::Buffer;
use agents::{
    console,
    model::{FinishReason, Model, ModelError, Reply, Request, Usage},
    prelude::*,
    run::{EventKind, Stopped},
    testing::{Script, ScriptedModel},
    timeline, tool,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

tool! {
    /// Opens.
    #[tool(none)]
    async fn open(
        /// Way in which the call ends.
        how: String,
    ) -> Result<String, String> {
        match how.as_str() {
            "ok" => Ok(how),
            "never" => std::future::pending().await,
            _ => Err(how),
        }
    }

    on_error {
        execution_error(Returned(how)) => match how.as_str() {
            "medium" => escalate("medium", severity = Medium),
            "high" => escalate("high", severity = High),
            "critical" => escalate("critical", severity = Critical),
            _ => throw("thrown"),
        },
    }
}

/// You open.
#[agent(tools = [Open])]
async fn lower(q: String) -> String;

struct Upper;

#[agent(prompt = "You lead.")]
impl Upper {
    /// Leads.
    #[skill(when = |q: &String| !q.is_empty())]
    async fn lead(&self, q: String) -> String;

    /// Goes around.
    #[skill]
    fn elsewhere(&self, q: String) -> String {
        q
    }

    on_escalation!(match escalation.severity {
        Medium => reroute_to_skill(Self::elsewhere),
        High => return_partial_result("in part".to_owned()),
        _ => inherit(),
    });
}

/// Returns the marks and names of a timeline, with their indentation.
fn names(drawn: &str) -> Vec<String> {
    let name = |line: &str| {
        let named = line.trim_start();
        let indent = &line[..line.len() - named.len()];
        format!("{indent}{}", named.split("  ").next().unwrap_or_default())
    };
    drawn.lines().map(name).collect()
}

struct Seen {
    drawn: Vec<String>,
    live: Vec<String>,
    console: Vec<String>,
    stopped: Option<Stopped>,
}

async fn see(how: &str) -> Seen {
    let team = structure!(Upper.delegates(Lower.grants([Open])));
    let (model, _) = ScriptedModel::new([
        Script::call("lower", r#"{"input": "x"}"#),
        Script::call("open", format!(r#"{{"how": "{how}"}}"#)),
        Script::text("done"),
    ]);
    let (paper, lines) = (Buffer::default(), Arc::new(Mutex::new(Vec::new())));
    let (out, sink) = (paper.clone(), lines.clone());
    let outcome = team
        .run("x")
        .model(model)
        .budget(Budget::new().time(Duration::from_secs(2)))
        .on_event(timeline::live_to(out, false))
        .on_event(move |event| {
            if matches!(event.kind, EventKind::CallEnded(_)) {
                sink.lock().unwrap().extend(console::line(event, false));
            }
        })
        .outcome()
        .await
        .unwrap();
    let live = paper.text();
    let mut live = names(&live);
    live.sort();
    let console = std::mem::take(&mut *lines.lock().unwrap());
    Seen {
        drawn: names(&timeline::of(&outcome).to_string()),
        live,
        console,
        stopped: outcome.stopped,
    }
}

/// Checks the lines of the final timeline, and that the live one has the same lines.
fn check(seen: &Seen, drawn: &[&str]) {
    assert_eq!(seen.drawn, drawn);
    let mut live: Vec<_> = drawn.to_vec();
    live.sort_unstable();
    assert_eq!(seen.live, live);
}

const GIVEN_UP: [&str; 6] = [
    "▸ upper",
    "  · scripted",
    "  ✗ lower",
    "    ✗ lower",
    "      · scripted",
    "      ✗ open",
];

#[tokio::test(start_paused = true)]
async fn work_that_was_given_up_for_a_skill_stands_above_it() {
    let seen = see("medium").await;
    check(&seen, &[&GIVEN_UP[..], &["  ▸ upper: elsewhere"]].concat());
    assert_eq!(seen.console.len(), 2, "{:?}", seen.console);
    says_why(
        &seen,
        "`upper` turned to its skill `elsewhere` after an escalation",
    );
}

#[tokio::test(start_paused = true)]
async fn work_that_was_given_up_for_a_partial_result_is_seen() {
    let seen = see("high").await;
    check(&seen, &GIVEN_UP);
    says_why(
        &seen,
        "`upper` returned a partial result after an escalation",
    );
}

/// Checks that the delegate's line has the reason why its work was abandoned.
#[track_caller]
fn says_why(seen: &Seen, why: &str) {
    let mut delegate = seen
        .console
        .iter()
        .filter(|line| line.starts_with("✗ lower"));
    assert!(
        delegate.any(|line| line.contains(why)),
        "{:?}",
        seen.console
    );
}

#[tokio::test(start_paused = true)]
async fn work_that_ended_with_its_run_is_seen() {
    let mut ended = GIVEN_UP;
    ended[0] = "✗ upper";
    for how in ["critical", "throw", "never"] {
        let seen = see(how).await;
        assert!(seen.stopped.is_some() || how == "critical");
        check(&seen, &ended);
        assert_eq!(seen.console.len(), 2, "{how}: {:?}", seen.console);
    }
}

/// Never answers.
struct Mute;

#[agents::async_trait]
impl Model for Mute {
    fn id(&self) -> &str {
        "mute"
    }

    async fn chat(&self, _: Request<'_>) -> Result<Reply, ModelError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_not_waited_for_is_seen() {
    let outcome = Lower
        .run("x")
        .model(Mute)
        .budget(Budget::new().time(Duration::from_secs(2)))
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        names(&timeline::of(&outcome).to_string()),
        ["✗ lower", "  ✗ mute"]
    );
    assert_eq!(outcome.usage, Usage::default());
}

#[tokio::test]
async fn a_call_that_was_printed_as_text_is_a_call_of_its_turn() {
    let printed = r#"<tool_call>{"name": "open", "arguments": {"how": "ok"}}</tool_call>"#;
    let (model, _) = ScriptedModel::new([Script::text(printed), Script::text("open")]);
    let outcome = Lower.run("x").model(model).outcome().await.unwrap();
    let drawn = timeline::of(&outcome).to_string();
    let turns: Vec<_> = drawn
        .lines()
        .filter(|line| line.contains("· scripted"))
        .collect();
    assert!(
        turns[0].ends_with("1 call") && turns[1].ends_with("answered"),
        "{drawn}"
    );
}

/// A model whose reply is cut off at its maximum length.
struct Wordy;

#[agents::async_trait]
impl Model for Wordy {
    fn id(&self) -> &str {
        "wordy"
    }

    async fn chat(&self, _: Request<'_>) -> Result<Reply, ModelError> {
        Ok(Reply {
            content: "Once upon a".to_owned(),
            finish: FinishReason::Length,
            ..Reply::default()
        })
    }
}

#[tokio::test]
async fn a_reply_that_was_cut_off_is_seen() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let outcome = Lower
        .run("x")
        .model(Wordy)
        .on_event(move |event| sink.lock().unwrap().extend(console::line(event, false)))
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "Once upon a");
    assert!(outcome.partial, "there was more to say");
    let lines = lines.lock().unwrap();
    assert!(
        lines.len() == 2
            && lines[0].contains("cut off")
            && lines[0].contains("limit of its output tokens"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn what_is_partial_and_what_ended_a_run_is_in_its_outcome_as_data() {
    let team = || structure!(Upper.delegates(Lower.grants([Open])));
    let calls = |how: &str| {
        [
            Script::call("lower", r#"{"input": "x"}"#),
            Script::call("open", format!(r#"{{"how": "{how}"}}"#)),
        ]
    };
    let (model, _) = ScriptedModel::new(calls("high"));
    let outcome = team().run("x").model(model).outcome().await.unwrap();
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(
        (&json["result"], &json["partial"], json.get("error")),
        (&"in part".into(), &true.into(), None)
    );
    assert_eq!(json["escalations"][0]["escalation"]["reason"], "high");
    assert_eq!(json["outputs"]["tool_order"].as_array().unwrap().len(), 2);

    let (model, _) = ScriptedModel::new(calls("throw"));
    let outcome = team().run("x").model(model).outcome().await.unwrap();
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(
        (
            &json["error"]["kind"],
            &json["error"]["message"],
            json.get("result")
        ),
        (&"thrown".into(), &"`open` threw: thrown".into(), None)
    );
    assert_eq!(json["stopped"]["thrown"]["source"], "open");

    // The output of a body may contain a secret.
    let teller = AgentBuilder::<String, String>::new("teller").skill(agents::agent::Skill::native(
        "tell",
        "Tells.",
        |said: String| async move { Ok::<_, Error>(said) },
    ));
    let run = teller.build();
    let run = run.run("it is tr0ub4dor&3").secret("key", "tr0ub4dor&3");
    let outcome = run.outcome().await.unwrap();
    let json = serde_json::to_string(&outcome).unwrap();
    assert!(
        json.contains("it is ") && !json.contains("tr0ub4dor"),
        "{json}"
    );
}
