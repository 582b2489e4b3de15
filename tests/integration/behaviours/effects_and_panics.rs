//! Recovery beyond the listed behaviours: long arguments, panics, and effects that already happened.

use super::*;
use ::agents::{Effects, ErrorKind, recovery::*, tool::FnTool};
use serde_json::json;

fn long(n: &str) -> String {
    json!({ "name": "x".repeat(5000), "n": n }).to_string()
}

#[tokio::test]
async fn an_arm_sees_the_value_at_fault_in_long_arguments() {
    let arms = on_field(|value, _| sanitize(value.and_then(Value::as_str).map(str::len)));
    let seen = call(0, &long("four"), arms).await;
    assert!(
        seen.told().starts_with("did 4 for xxx"),
        "{:.200}",
        seen.told()
    );
}

#[tokio::test]
async fn an_arm_sees_the_whole_of_long_arguments() {
    let lengths: Arc<Mutex<Vec<usize>>> = Arc::default();
    let seen_lengths = lengths.clone();
    let raw = format!("{}: {}", "p".repeat(5000), "not json");
    let arms = on_args(move |raw, _| {
        seen_lengths.lock().unwrap().push(raw.len());
        fix(None)
    });
    call(0, &raw, arms).await;
    assert_eq!(*lengths.lock().unwrap(), [raw.len()]);
}

/// An object in a fence with a field of another type can be read, so the failure is in the field.
#[tokio::test]
async fn a_wrong_field_in_malformed_text_is_a_deserialization_error() {
    for arguments in [
        "```json\n{\"n\": \"four\"}\n```",
        "{\"n\": \"four\",}",
        "{'n': 'four'}",
    ] {
        let seen = call(0, arguments, on_field(|_, _| sanitize(4))).await;
        assert_eq!(seen.told(), "did 4", "{arguments}");
    }
}

/// The value fits the schema but not the type: a sanitized value is put into the arguments that were read.
#[tokio::test]
async fn sanitize_works_on_what_was_read_from_malformed_text() {
    /// Pings.
    #[tool(none)]
    async fn ping(
        /// Whom.
        host: std::net::Ipv4Addr,
    ) -> String {
        host.to_string()
    }
    let home = |value: Option<&Value>, _: &ReadError| {
        sanitize(
            value
                .filter(|value| *value == "localhost")
                .map(|_| "127.0.0.1"),
        )
    };
    let agent = AgentBuilder::new("worker")
        .tool(Ping)
        .on_error(on_field(home));
    let script = vec![
        Script::call("ping", "{'host': 'localhost',}"),
        Script::text("end"),
    ];
    assert_eq!(watch(agent, script).await.told(), "127.0.0.1");
}

#[tokio::test]
async fn a_panicking_repair_agent_uses_up_a_try() {
    let (agent, asked) = scribe(|repair| match repair.attempt {
        1 => panic!("index out of bounds"),
        _ => Ok(r#"{"n":1}"#.into()),
    });
    let arms = on_args(move |_, _| fix_with(agent.clone()).retries(2));
    let seen = tokio::spawn(async move { call(0, "one", arms).await.told() }).await;
    assert_eq!(seen.expect("the run survives"), "did 1");
    assert_eq!(asked.lock().unwrap()[0].attempt, 2);
}

/// A finished call keeps its receipt, even if a parallel call ends the run.
#[tokio::test]
async fn a_throw_does_not_take_the_receipts_of_calls_that_ran() {
    let done = FnTool::new(
        "done",
        "Done at once.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async { Ok::<_, io::Error>("done") },
    );
    let fails = FnTool::new(
        "fails",
        "Fails later.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            Err::<(), _>("no")
        },
    );
    let agent = AgentBuilder::new("worker")
        .tool(done)
        .tool(fails)
        .on_error(on_failure(|_| throw("enough")));
    let seen = watch(
        agent,
        vec![Script::calls([("done", "{}"), ("fails", "{}")])],
    )
    .await;
    assert_eq!(seen.outcome.result.unwrap_err().kind(), ErrorKind::Thrown);
    let names: Vec<_> = seen
        .outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.name.clone())
        .collect();
    assert!(names.contains(&"done".to_owned()), "{names:?}");
}

/// A tool's body runs an agent in each attempt; the second attempt does not get the stored answer of the first.
#[tokio::test]
async fn a_stored_run_keeps_the_attempts_of_a_body_that_runs_an_agent_apart() {
    use crate::world::{put_down, same};
    use ::agents::journal::MemoryJournal;
    let colleague: Arc<Plain> = Arc::new(AgentBuilder::new("colleague").build());
    let ask = FnTool::new(
        "ask",
        "Asks.",
        Effects::None,
        json!({"type": "object"}),
        move |_, cx| {
            let colleague = colleague.clone();
            async move {
                let answer = colleague
                    .run("help")
                    .await
                    .map_err(|error| error.to_string())?;
                if cx.attempt() == 1 {
                    Err(format!("{answer} is no good"))
                } else {
                    Ok(answer)
                }
            }
        },
    );
    let boss: Plain = AgentBuilder::new("boss")
        .tool(ask)
        .on_error(on_failure(|_| retry().max_attempts(2).backoff(none())))
        .build();
    let script = || {
        ["", "first", "second", "end"].map(|text| match text {
            "" => Script::call("ask", "{}"),
            text => Script::text(text),
        })
    };
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new(script());
    let whole = boss
        .run("go")
        .model(model)
        .journal(journal.clone())
        .outcome()
        .await
        .unwrap();
    let answer = |outcome: &Outcome<String>| {
        outcome
            .outputs
            .receipts()
            .next()
            .unwrap()
            .output
            .as_ref()
            .unwrap()
            .to::<String>()
            .unwrap()
    };
    assert_eq!(answer(&whole), "second");
    for at in put_down(&journal) {
        let (model, _) = ScriptedModel::new(script().into_iter().skip(at.replies()));
        let run = boss.run("go").model(model).journal(at.journal());
        same(&run.outcome().await.unwrap(), &whole, &at);
    }
}

/// A panic in an arm, which is user code, fails only the call.
#[tokio::test]
async fn a_panicking_arm_does_not_end_the_run() {
    let seen = call(0, "one", on_args(|_, _| panic!("never thought of that"))).await;
    assert_eq!(seen.outcome.result.as_ref().unwrap(), "end");
    assert!(
        seen.told()
            .contains("dealing with it panicked: never thought of that"),
        "{}",
        seen.told()
    );
}

/// With strict reading, set on a tool, an agent or a run, nothing is repaired and nothing runs.
#[tokio::test]
async fn strict_is_strict_wherever_it_is_said() {
    /// Counts.
    #[tool(none)]
    async fn lax(
        /// From where.
        n: u32,
    ) -> u32 {
        n
    }
    /// Counts.
    #[tool(none, strict)]
    async fn exact(
        /// From where.
        n: u32,
    ) -> u32 {
        n
    }
    let run = |agent: AgentBuilder<'static, String, String>, name: &'static str, strict: bool| async move {
        let script = [Script::call(name, r#"{"n":"3"}"#), Script::text("end")];
        let (model, _) = ScriptedModel::new(script);
        let agent = agent.model(model).build();
        let run = agent.run("go");
        let outcome = if strict { run.strict() } else { run }
            .outcome()
            .await
            .unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap().clone();
        (receipt.attempts.len(), receipt.repairs.len())
    };
    let lax_agent = || AgentBuilder::new("a").tool(Lax);
    assert_eq!(run(lax_agent(), "lax", false).await, (1, 1));
    assert_eq!(
        run(AgentBuilder::new("a").tool(Exact), "exact", false).await,
        (0, 0)
    );
    assert_eq!(run(lax_agent().strict(), "lax", false).await, (0, 0));
    assert_eq!(run(lax_agent(), "lax", true).await, (0, 0));
}

#[tokio::test]
async fn text_that_was_tried_already_falls_through() {
    let seen = call(
        0,
        "one",
        on_args(|raw, _| fix(raw.as_str()).or(feedback("the hint"))),
    )
    .await;
    assert!(seen.told().ends_with("; the hint"), "{}", seen.told());
}

#[tokio::test]
async fn spent_attempts_fall_through() {
    let arms = on_failure(|_| {
        retry()
            .max_attempts(2)
            .backoff(none())
            .or(feedback("the hint"))
    });
    let seen = call(9, r#"{"n":1}"#, arms).await;
    assert!(seen.told().ends_with("; the hint"), "{}", seen.told());
    assert_eq!(
        seen.outcome
            .outputs
            .receipts()
            .next()
            .unwrap()
            .attempts
            .len(),
        2
    );
}
