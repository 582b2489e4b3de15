use crate::world::{agent_with, spec, told, work, worker};
use agents::{
    Agent, Code, Effects,
    model::{Message, Reply, ToolCall},
    run::ToolEnvelope,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

#[tokio::test]
async fn a_call_runs_and_the_answer_follows() {
    let (outcome, handle) = work([
        Script::call("add", r#"{"left":17,"right":25}"#),
        Script::text("42"),
    ])
    .await;
    assert_eq!(outcome.result.unwrap(), "42");
    assert_eq!(told(&handle), ["42"]);
    let receipt = outcome.outputs.last_tool.unwrap();
    assert_eq!(receipt.input.as_str(), r#"{"left":17,"right":25}"#);
    assert_eq!(receipt.attempts.len(), 1);
}

#[tokio::test]
async fn t6_a_wrong_type_is_reported_with_field_code_and_class() {
    let (outcome, handle) = work([
        Script::call("add", r#"{"left":"x","right":1}"#),
        Script::text("no"),
    ])
    .await;
    let receipt = outcome.outputs.receipts().next().unwrap();
    let error = receipt.error.as_ref().unwrap();
    assert_eq!(
        (error.code, error.kind.as_str()),
        (Code::ValidationError, "DeserializationError")
    );
    let told = &told(&handle)[0];
    for part in [
        "VALIDATION_ERROR",
        "User",
        "`add`",
        "field `left`",
        "\"x\"",
        "integer",
    ] {
        assert!(told.contains(part), "`{part}` is missing in: {told}");
    }
    assert!(outcome.outputs.last_tool.is_none());
}

#[tokio::test]
async fn a_missing_field_is_named() {
    let (_, handle) = work([Script::call("add", r#"{"left":1}"#), Script::text("no")]).await;
    assert!(told(&handle)[0].contains("right"), "{:?}", told(&handle));
}

#[tokio::test]
async fn e3_an_unknown_tool_is_answered_with_the_allowed_names() {
    let (outcome, handle) = work([
        Script::call("read_fiel", r#"{"path":"a"}"#),
        Script::text("no"),
    ])
    .await;
    let told = &told(&handle)[0];
    assert!(
        told.contains("did you mean `read_file`?") && told.contains("`add`"),
        "{told}"
    );
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::PolicyDenied);
    assert_eq!(outcome.result.unwrap(), "no");
}

#[tokio::test]
async fn e11_a_panic_is_caught_and_the_run_lives() {
    let (outcome, handle) = work([Script::call("panics", "{}"), Script::text("phew")]).await;
    assert_eq!(outcome.result.unwrap(), "phew");
    assert!(told(&handle)[0].contains("the disk is on fire"));
    let receipt = outcome.outputs.tools_by_id.values().next().unwrap();
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::Unknown);
}

#[tokio::test(start_paused = true)]
async fn e10_a_tool_that_never_returns_times_out() {
    let (outcome, handle) = work([Script::call("hang", "{}"), Script::text("gave up")]).await;
    assert_eq!(outcome.result.unwrap(), "gave up");
    assert!(
        told(&handle)[0].contains("TIMEOUT (Transient)"),
        "{:?}",
        told(&handle)
    );
}

#[tokio::test(start_paused = true)]
async fn e9_independent_calls_run_together_and_are_answered_in_order() {
    let began = tokio::time::Instant::now();
    let calls = (0..10u64).map(|n| ("wait", format!(r#"{{"millis":{}}}"#, 200 - n)));
    let (outcome, handle) = work([Script::calls(calls), Script::text("done")]).await;
    assert!(
        began.elapsed() < Duration::from_millis(300),
        "{:?}",
        began.elapsed()
    );
    let expected: Vec<String> = (0..10u64).map(|n| (200 - n).to_string()).collect();
    assert_eq!(told(&handle), expected);
    let receipts: Vec<_> = outcome
        .outputs
        .receipts()
        .filter_map(|r| r.output.as_ref())
        .map(ToString::to_string)
        .collect();
    assert_eq!(receipts, expected);
}

#[tokio::test]
async fn answers_carry_the_id_of_their_call_even_when_a_model_repeats_one() {
    let call = |id: &str, left: u32| ToolCall {
        id: id.into(),
        name: "add".into(),
        arguments: format!(r#"{{"left":{left},"right":0}}"#),
    };
    let calls = vec![call("a", 1), call("a", 2), call("", 3), call("b", 4)];
    let (model, handle) = ScriptedModel::new([
        Script::Reply(Reply {
            calls,
            ..Reply::default()
        }),
        Script::text("ok"),
    ]);
    worker::<String>().run("go").model(model).await.unwrap();
    let request = handle.requests().pop().unwrap();
    let mut asked = Vec::new();
    let mut answered = Vec::new();
    for message in &request.messages {
        match message {
            Message::Assistant { calls, .. } => {
                asked.extend(calls.iter().map(|call| call.id.clone()))
            }
            Message::Tool { tool_call_id, .. } => answered.push(tool_call_id.clone()),
            _ => {}
        }
    }
    assert_eq!(asked, answered);
    assert_eq!(
        asked
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        4,
        "{asked:?}"
    );
}

#[tokio::test]
async fn e13_after_a_failure_the_model_tries_again_changes_its_call_says_so_or_gives_up() {
    let missing = r#"{"path":"missing"}"#;
    for (script, results, answer) in [
        // Again.
        (
            vec![missing, missing],
            [false, false].as_slice(),
            "still no such file",
        ),
        // With other arguments.
        (
            vec![missing, r#"{"path":"a"}"#],
            &[false, true],
            "a has text",
        ),
        // It tells its user.
        (vec![missing], &[false], "there is no such file"),
        // It goes on with something else.
        (vec![missing, ""], &[false, true], "the sum is 3"),
    ] {
        let calls = script.iter().map(|args| match *args {
            "" => Script::call("add", r#"{"left":1,"right":2}"#),
            args => Script::call("read_file", args),
        });
        let (outcome, handle) = work(calls.chain([Script::text(answer)])).await;
        let ok: Vec<_> = outcome
            .outputs
            .receipts()
            .map(ToolEnvelope::is_ok)
            .collect();
        assert_eq!(
            (ok.as_slice(), &*outcome.result.unwrap()),
            (results, answer)
        );
        assert!(handle.requests()[1].results()[0].1.contains("no such file"));
        // The run repeats nothing by itself.
        assert!(
            outcome
                .outputs
                .receipts()
                .all(|receipt| receipt.attempts.len() == 1)
        );
    }
}

#[tokio::test]
async fn e14_what_a_body_repeats_is_one_attempt() {
    let tries = Arc::new(AtomicU32::new(0));
    let count = tries.clone();
    let tool = FnTool::with_spec(spec("fetch", Effects::Reads), move |_, _| {
        let tries = count.clone();
        async move {
            // The private retry of a body.
            for _ in 0..2 {
                if tries.fetch_add(1, SeqCst) > 0 {
                    return Ok("fetched");
                }
            }
            Err(io::Error::other("reset"))
        }
    });
    let (agent, handle) = agent_with([tool], [Script::call("fetch", "{}"), Script::text("done")]);
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(tries.load(SeqCst), 2);
    assert_eq!(outcome.outputs.last_tool.unwrap().attempts.len(), 1);
    assert_eq!(told(&handle), ["fetched"]);
}

#[tokio::test]
async fn e12_a_tool_s_error_reaches_the_model_in_its_own_words() {
    let (_, handle) = work([
        Script::call("read_file", r#"{"path":"missing"}"#),
        Script::text("no"),
    ])
    .await;
    assert_eq!(
        told(&handle)[0],
        "ERROR UNKNOWN (Terminal) in `read_file`: no such file"
    );
}

#[tokio::test]
async fn a_string_result_is_told_bare_and_anything_else_as_json() {
    let (_, handle) = work([
        Script::call("read_file", r#"{"path":"a","lines":2}"#),
        Script::text("ok"),
    ])
    .await;
    assert_eq!(told(&handle)[0], "a:Some(2)");
}

#[tokio::test]
async fn a_printed_call_is_understood() {
    let printed = "I'll add them.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"left\": 1, \"right\": 2}}\n</tool_call>";
    let (outcome, handle) = work([Script::text(printed), Script::text("3")]).await;
    assert_eq!(outcome.result.unwrap(), "3");
    assert_eq!(told(&handle), ["3"]);
}

/// A printed call of an unknown tool is answered with an error; it is not taken for the final answer.
#[tokio::test]
async fn a_printed_call_of_an_unknown_tool_is_a_call() {
    let printed = r#"<tool_call>{"name": "Add", "arguments": {"left": 1, "right": 2}}</tool_call>"#;
    let (outcome, handle) = work([Script::text(printed), Script::text("three")]).await;
    assert_eq!(outcome.result.unwrap(), "three");
    assert!(told(&handle)[0].contains("there is no tool `Add`; did you mean `add`?"));
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::PolicyDenied);
}
