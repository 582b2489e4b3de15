//! Arguments and answers as models write them.

use super::*;
use crate::world::scripted_agent;
use ::agents::{Code, Effects, reader, recovery::*, run::Approval, tool::FnTool, tool::ToolSpec};
use serde_json::json;

/// Returns the answer to a call without arms.
async fn check(arguments: &str, told: &str) {
    let seen = call(0, arguments, no_arms()).await;
    assert_eq!(seen.told(), told, "{arguments}");
}

// 23
#[tokio::test]
async fn a_number_for_a_string_and_a_string_for_a_number_are_read() {
    check(r#"{"n": 1, "name": 42}"#, "did 1 for 42").await;
    check(r#"{"n": "1"}"#, "did 1").await;
}

// 24: a value of the wrong type is a `deserialization_error`, not an `invalid_args`.
#[tokio::test]
async fn a_word_for_a_number_is_mended_without_another_turn() {
    let arms = on_field(|value, fault| {
        assert!(fault.field("n"));
        sanitize(
            value
                .and_then(Value::as_str)
                .filter(|word| *word == "abc")
                .map(|_| 7),
        )
    });
    let seen = call(0, r#"{"n": "abc"}"#, arms).await;
    assert_eq!(
        (seen.runs, seen.model.count(), seen.told().as_str()),
        (1, 2, "did 7")
    );
}

// 25
#[tokio::test]
async fn a_wrong_type_without_arms_names_the_tool_and_the_field() {
    let seen = call(0, r#"{"n": "abc"}"#, no_arms()).await;
    assert!(
        seen.told()
            .starts_with("ERROR VALIDATION_ERROR (User) in `job`: field `n`: "),
        "{}",
        seen.told()
    );
    assert!(!seen.told().contains("line 1 column"), "{}", seen.told());
    assert_eq!((seen.runs, seen.receipt().attempts.len()), (0, 0));
    assert_eq!(seen.error().details.as_ref().unwrap()["path"], "n");
}

// 26
#[tokio::test]
async fn x9_mended_arguments_are_validated_again_with_the_new_error() {
    let faults: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen_faults = faults.clone();
    let arms = on_field(move |value, fault| {
        seen_faults.lock().unwrap().push(fault.to_string());
        sanitize(match value.and_then(Value::as_str) {
            Some("abc") => Some(json!("def")),
            Some("def") => Some(json!(9)),
            _ => None,
        })
    });
    let seen = call(0, r#"{"n": "abc"}"#, arms).await;
    assert_eq!(seen.told(), "did 9");
    let faults = faults.lock().unwrap();
    assert!(faults.len() == 2 && faults[0] != faults[1], "{faults:?}");
}

// 26, further: repaired arguments need approval again.
#[tokio::test]
async fn x9_mended_arguments_are_approved_again() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = asked.clone();
    let spec = ToolSpec::new(
        "post",
        "Posts.",
        Effects::Writes,
        json!({"type": "object", "properties": {"to": {}}}),
    )
    .approval(::agents::tool::NeedsApproval::When);
    let tool = FnTool::with_spec(spec, |args, _| async move {
        if args["to"] == "a" {
            Err("nobody there")
        } else {
            Ok("sent")
        }
    });
    let script = [Script::call("post", r#"{"to":"a"}"#), Script::text("end")];
    let agent = scripted_agent("worker", script)
        .tool(tool)
        .on_error(on_failure(|_| fix(r#"{"to":"b"}"#)))
        .build();
    let approver = move |request: ::agents::run::ApprovalRequest| {
        seen.lock().unwrap().push(request.args.as_str().to_owned());
        async { Approval::Approve }
    };
    agent.run("go").approver(approver).await.unwrap();
    assert_eq!(*asked.lock().unwrap(), [r#"{"to":"a"}"#, r#"{"to":"b"}"#]);
}

// 27: the model then gets the error, and the run continues.
#[tokio::test]
async fn eight_texts_at_most_are_tried_for_one_call() {
    let (agent, asked) = scribe(|repair| Ok(format!("nonsense {}", repair.attempt)));
    let seen = call(
        0,
        "three",
        on_args(move |_, _| fix_with(agent.clone()).retries(100)),
    )
    .await;
    assert_eq!(asked.lock().unwrap().len(), 8);
    assert_eq!(seen.receipt().repairs.len(), 8);
    assert_eq!(seen.outcome.result.unwrap(), "end");
    let count = AtomicU32::new(0);
    let arms = on_field(move |_, _| sanitize("x".repeat(1 + count.fetch_add(1, SeqCst) as usize)));
    let seen = call(0, r#"{"n": "three"}"#, arms).await;
    assert_eq!(seen.receipt().repairs.len(), 8);
}

// 28, 29: nothing is never read as `{}` unless the tool takes nothing; the raw text is kept.
#[tokio::test]
async fn nothing_is_not_an_empty_object_unless_the_tool_takes_nothing() {
    for nothing in ["", "  ", "null"] {
        let seen = call(0, nothing, no_arms()).await;
        assert!(
            seen.told().contains("send a JSON object"),
            "{nothing:?}: {}",
            seen.told()
        );
        assert_eq!(
            (
                seen.runs,
                seen.receipt().input.to::<String>().unwrap().as_str()
            ),
            (0, nothing)
        );
        let ping = FnTool::new(
            "ping",
            "Pings.",
            Effects::None,
            json!({"type": "object"}),
            |args, _| async move { Ok::<_, io::Error>(args) },
        );
        let script = vec![Script::call("ping", nothing), Script::text("end")];
        assert_eq!(
            watch(AgentBuilder::new("worker").tool(ping), script)
                .await
                .told(),
            "{}"
        );
    }
}

// 29
#[tokio::test]
async fn scalars_lists_and_garbage_are_refused_with_the_raw_text_kept() {
    for raw in ["42", "true", "\"n\"", "[1, 2]", "lorem ipsum", "{{{"] {
        let seen = call(0, raw, no_arms()).await;
        let error = seen.error();
        assert_eq!(
            (seen.runs, error.kind.as_str(), error.code),
            (0, "InvalidArgs", Code::ValidationError),
            "{raw}"
        );
        assert_eq!(error.details.as_ref().unwrap()["raw_args"], raw);
        assert!(
            seen.told().contains("the arguments have to follow {"),
            "{}",
            seen.told()
        );
    }
}

// 30
#[tokio::test]
async fn keys_that_are_not_strings_become_strings() {
    check("{n: 6}", "did 6").await;
    assert_eq!(
        reader::lenient("{1: 'one', true: 2}").unwrap().json,
        r#"{"1":"one","true":2}"#
    );
}

// 31: too long arguments are an error of the call; the run continues.
#[tokio::test]
async fn arguments_over_the_limit_are_refused_by_their_bytes_on_the_wire() {
    let (model, handle) = ScriptedModel::new([
        Script::call("job", r#"{"n":1,"name":"ééé"}"#),
        Script::text("end"),
    ]);
    let runs = Arc::new(AtomicU32::new(0));
    let agent: Plain = AgentBuilder::new("worker")
        .tool(Job {
            runs: runs.clone(),
            failures: 0,
        })
        .model(model)
        .build();
    assert_eq!(agent.run("go").max_argument_bytes(22).await.unwrap(), "end");
    let told = handle.requests()[1].last().to_owned();
    assert!(told.contains("23 bytes long, and 22 are allowed"), "{told}");
    assert_eq!(runs.load(SeqCst), 0);
}

// 32
#[tokio::test]
async fn an_unknown_tool_is_answered_with_those_there_are() {
    let script = vec![
        Script::call("jobs", "{}"),
        Script::call("job", r#"{"n":1}"#),
        Script::text("end"),
    ];
    let seen = see(0, script, no_arms()).await;
    assert!(
        seen.told()
            .contains("there is no tool `jobs`; did you mean `job`?"),
        "{}",
        seen.told()
    );
    assert_eq!(seen.receipt().input.as_str(), "{}");
    assert_eq!(seen.error().code, Code::PolicyDenied);
    assert_eq!(seen.outcome.result.unwrap(), "end");
}

// 33
#[tokio::test]
async fn fences_prose_and_trailing_commas_are_read_away() {
    check("```json\n{\"n\": 3,}\n```", "did 3").await;
    check(
        "Sure! Here are the arguments: {\"n\": 3} Anything else?",
        "did 3",
    )
    .await;
    check("<tool_call>{\"n\": 3,}</tool_call>", "did 3").await;
    assert!(reader::lenient("no JSON here").is_err());
}

// 33, further: a change is never silent.
#[tokio::test]
async fn what_reading_changed_is_told_and_in_the_receipt() {
    let seen = call(0, "{\"n\": 3,}", no_arms()).await;
    assert!(!seen.receipt().repairs.is_empty());
    assert_eq!(
        seen.count(|kind| matches!(kind, EventKind::CallRepaired { .. })),
        1
    );
    let seen = call(0, "{\"n\": 3}", no_arms()).await;
    assert!(seen.receipt().repairs.is_empty());
}

// 33, further: an event lists the changes of the current arguments only.
#[tokio::test]
async fn a_change_is_told_once_of_the_arguments_that_are_used() {
    let mended = |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::Execution(_) => Some(fix::<Execution>("four").or(fix("{'n': '4'}")).into()),
        _ => None,
    };
    let seen = call(1, "{\"n\": 3,}", mended).await;
    let told = seen.events.iter().filter_map(|event| match &event.kind {
        EventKind::CallRepaired { repairs, .. } => Some(repairs.to_string()),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(seen.told(), "did 4");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(!told[0].contains("anew"), "{told:?}");
    assert!(
        told[1].starts_with("`fix` gave the arguments anew; ")
            && told[1].matches("anew").count() == 1,
        "{told:?}"
    );
    assert!(
        seen.receipt().repairs.to_string().starts_with(&told[0]),
        "the receipt has all of them"
    );
}

// 34
#[tokio::test]
async fn large_integers_stay_exact() {
    let echo = FnTool::new(
        "echo",
        "Echoes.",
        Effects::None,
        json!({"type": "object", "properties": {"id": {"type": "integer"}}}),
        |args, _| async move { Ok::<_, io::Error>(args["id"].clone()) },
    );
    for id in ["3000000000", "9007199254740993", "18446744073709551615"] {
        let script = vec![
            Script::call("echo", format!("{{'id': {id},}}")),
            Script::text("end"),
        ];
        let seen = watch(AgentBuilder::new("worker").tool(echo.clone()), script).await;
        assert_eq!(seen.told(), id);
    }
}

// 35: cut off between values it is a call; cut off within one it is none: `4` may have been `42`.
#[tokio::test]
async fn a_printed_call_that_was_cut_off_is_one_if_what_was_said_is_whole() {
    let whole = r#"<tool_call>{"name": "job", "arguments": {"n": 4}"#;
    let seen = see(0, vec![Script::text(whole), Script::text("end")], no_arms()).await;
    assert_eq!(seen.told(), "did 4");
    for text in [
        r#"<tool_call>{"name": "job", "arguments": {"n": 4"#,
        r#"{"name": 7, "arguments": {"n": 4}}"#,
        "[1, 2, 3]",
    ] {
        let seen = see(0, vec![Script::text(text)], no_arms()).await;
        assert_eq!(seen.runs, 0, "{text}");
        assert_eq!(seen.outcome.result.unwrap(), text);
    }
}

// 36
#[tokio::test]
async fn an_unknown_variant_is_refused_and_an_integer_fits_a_double() {
    let schema = json!({"type": "object", "properties": {
        "unit": {"enum": ["metre", "mile"]}, "x": {"type": "number"},
    }, "required": ["unit"]});
    let echo = FnTool::new(
        "echo",
        "Echoes.",
        Effects::None,
        schema,
        |args, _| async move { Ok::<_, io::Error>(args) },
    );
    let told = async |arguments: &str| {
        let script = vec![Script::call("echo", arguments), Script::text("end")];
        watch(AgentBuilder::new("worker").tool(echo.clone()), script)
            .await
            .told()
    };
    assert_eq!(
        told(r#"{"unit":"mile","x":1}"#).await,
        r#"{"unit":"mile","x":1}"#
    );
    for wrong in [r#"{"unit":"parsec"}"#, r#"{"x":1}"#] {
        assert!(
            told(wrong).await.starts_with("ERROR VALIDATION_ERROR"),
            "{wrong}"
        );
    }
}
