//! Bad arguments lead to a clear error and one receipt, and the run continues.

use crate::world::{schema_of_n, told, work, worker};
use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, Json,
    testing::{Script, ScriptedModel},
    tool::{FnTool, Tool, ToolContext, ToolSpec},
};
use serde_json::json;
use std::{convert::Infallible, sync::LazyLock};

/// Calls `add` with these arguments, and returns the result as the model gets it.
async fn sent(arguments: impl Into<String>) -> String {
    let (outcome, handle) = work([Script::call("add", arguments), Script::text("on we go")]).await;
    assert_eq!(outcome.result.unwrap(), "on we go");
    assert_eq!(outcome.outputs.tool_order.len(), 1);
    told(&handle).remove(0)
}

#[tokio::test]
async fn what_is_no_object_is_refused_with_a_reason() {
    for (arguments, part) in [
        ("not json", "JSON"),
        ("", "empty"),
        ("null", "null"),
        ("[1, 2, 3]", "object"),
        ("\u{0}", "JSON"),
    ] {
        let told = sent(arguments).await;
        assert!(
            told.starts_with("ERROR VALIDATION_ERROR (User) in `add`"),
            "{arguments:?}: {told}"
        );
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
}

#[tokio::test]
async fn a_broken_object_is_at_fault_itself_and_of_a_whole_one_its_field_is() {
    for (arguments, fault) in [
        (
            r#"{"left": 1, "names": ["a", "b"}"#,
            "what can be made out in the text does not fit (field `right`: required, and missing; add it): send one whole object",
        ),
        (
            r#"Here: {"left": 1, "names": {"a": "b", "#,
            "the text broke off (field `right`: required, and missing; add it): send the whole object again, to its closing bracket",
        ),
    ] {
        let told = sent(arguments).await;
        assert!(
            told.contains(&format!("the arguments cannot be read: {fault}; ")),
            "{arguments}: {told}"
        );
    }
    let told = sent(r#"Here: {"left": 1, "names": "a" "b"}"#).await;
    assert!(told.contains("in `add`: field `right`: required"), "{told}");
}

#[tokio::test]
async fn s5_1_fifty_megabytes_are_refused_and_not_sent_back() {
    let arguments = format!("{{\"left\": \"{}\"}}", "x".repeat(50_000_000));
    let (outcome, handle) = work([Script::call("add", arguments), Script::text("on we go")]).await;
    let asked = handle.requests().pop().unwrap();
    assert!(serde_json::to_string(&asked.messages).unwrap().len() < 20_000);
    assert!(serde_json::to_string(&outcome.outputs).unwrap().len() < 20_000);
    let told = told(&handle).remove(0);
    assert!(told.contains("50000012 bytes long"), "{}", &told[..200]);
    assert!(told.len() < 4000);
}

#[tokio::test]
async fn s5_1_two_hundred_levels_are_refused() {
    let deep = format!(
        "{{\"left\": {}1{}, \"right\": 1}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    let told = sent(deep).await;
    assert!(told.contains("VALIDATION_ERROR"), "{told}");
}

/// A tool that accepts all arguments.
struct Any;

impl Tool for Any {
    type Args = Json;
    type Ok = usize;
    type Err = Infallible;

    fn spec(&self) -> &ToolSpec {
        static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
            ToolSpec::new("any", "Takes.", Effects::None, json!({"type": "object"}))
        });
        &SPEC
    }

    async fn call(&self, args: Json, _: &ToolContext) -> Result<usize, Infallible> {
        Ok(args.as_str().len())
    }
}

#[tokio::test]
async fn what_would_fill_the_stack_is_refused_though_the_tool_would_take_it() {
    for deep in [128, 200_000] {
        let (open, close) = ("[".repeat(deep), "]".repeat(deep));
        let arguments = format!(r#"{{"b": {open}{close}, "a": 1}}"#);
        let script = [Script::call("any", arguments), Script::text("on")];
        let (model, handle) = ScriptedModel::new(script);
        let agent = AgentBuilder::<String, String>::new("agent")
            .tool(Any)
            .model(model)
            .build();
        let outcome = agent.run("go").outcome().await.unwrap();
        assert_eq!(outcome.result.unwrap(), "on");
        let told = told(&handle).remove(0);
        assert!(told.contains("brackets nest too deep"), "{told}");
    }
}

#[tokio::test]
async fn a_key_twice_with_two_values_is_refused() {
    let told = sent(r#"{"left": 1, "left": 2, "right": 3}"#).await;
    assert!(told.contains("left"), "{told}");
}

#[tokio::test]
async fn integers_beyond_two_to_the_53_stay_exact() {
    assert_eq!(
        sent(r#"{"left": 9007199254740993, "right": 0}"#).await,
        "9007199254740993"
    );
    let told = sent(r#"{"left": 170141183460469231731687303715884105727, "right": 0}"#).await;
    assert!(told.contains("field `left`"), "{told}");
}

#[tokio::test]
async fn a_lone_surrogate_is_refused_or_kept_but_never_lost() {
    let (outcome, _) = work([
        Script::call("read_file", r#"{"path": "\ud800"}"#),
        Script::text("ok"),
    ])
    .await;
    assert!(outcome.result.is_ok());
    assert_eq!(outcome.outputs.tool_order.len(), 1);
}

#[tokio::test]
async fn a_result_of_ten_megabytes_is_cut_and_the_model_is_told() {
    let huge = FnTool::new(
        "huge",
        "Gives much.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async { Ok::<_, std::io::Error>("é".repeat(5_000_000)) },
    );
    let (model, handle) = ScriptedModel::new([Script::call("huge", "{}"), Script::text("much")]);
    let agent = AgentBuilder::<String, String>::new("reader")
        .tool(huge)
        .model(model)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.truncated);
    assert!(receipt.output.as_ref().unwrap().as_str().len() < 2_000_100);
    assert!(told(&handle)[0].ends_with("[cut: the first 2000000 of 10000000 bytes]"));
}

#[tokio::test]
async fn a_thousand_calls_get_a_thousand_receipts() {
    let calls = (0..1000).map(|n| ("add", format!(r#"{{"left":{n},"right":0}}"#)));
    let (outcome, _) = work([Script::calls(calls), Script::text("never asked")]).await;
    assert_eq!(outcome.outputs.tool_order.len(), 1000);
    let denied = outcome.outputs.receipts().filter(|r| {
        r.error
            .as_ref()
            .is_some_and(|e| e.code == Code::PolicyDenied)
    });
    assert_eq!(denied.count(), 975);
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
}

#[tokio::test]
async fn a_tool_without_arguments_takes_nothing_in_any_form() {
    for arguments in ["{}", "", "null"] {
        let (outcome, _) = work([Script::call("panics", arguments), Script::text("ok")]).await;
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.input.as_str(), "{}");
    }
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_with_its_words() {
    let (model, _) = ScriptedModel::new([Script::fail("the graphics card melted")]);
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .outcome()
        .await
        .unwrap();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert_eq!(
        error.to_string(),
        "agent `worker`, turn 1: the graphics card melted"
    );
}

/// A tool whose schema is stricter than its type.
#[agents::tool(none)]
async fn roll(
    /// Number of dice.
    #[schemars(range(min = 1, max = 6))]
    dice: i64,
) -> i64 {
    dice
}

#[tokio::test]
async fn a_constraint_is_checked_although_the_type_would_take_the_value() {
    let (model, handle) =
        ScriptedModel::new([Script::call("roll", r#"{"dice":50}"#), Script::text("no")]);
    let agent = AgentBuilder::<String, String>::new("player")
        .tool(Roll)
        .model(model)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert!(
        outcome
            .outputs
            .receipts()
            .next()
            .unwrap()
            .attempts
            .is_empty()
    );
    let told = &told(&handle)[0];
    assert!(
        told.contains("field `dice`") && told.contains('6'),
        "{told}"
    );
}

#[tokio::test]
async fn an_integer_that_a_run_time_tool_would_round_is_refused() {
    let schema = schema_of_n();
    let double = FnTool::new(
        "double",
        "Doubles.",
        Effects::None,
        schema,
        |args, _| async move { Ok::<_, std::io::Error>(args["n"].clone()) },
    );
    let script = [
        Script::calls([
            ("double", r#"{"n":18446744073709551617}"#),
            ("double", r#"{"n":18446744073709551615}"#),
            ("double", r#"{"n":-9223372036854775808}"#),
        ]),
        Script::text("no"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::<String, String>::new("doubler")
        .tool(double)
        .model(model)
        .build();
    agent.run("go").await.unwrap();
    let told = told(&handle);
    assert!(
        told[0].contains("18446744073709551617 is too large to be kept exactly"),
        "{}",
        told[0]
    );
    assert_eq!(told[1..], ["18446744073709551615", "-9223372036854775808"]);
}

#[tokio::test]
async fn a_failure_of_ten_megabytes_is_cut_too() {
    let fails = FnTool::new(
        "fails",
        "Fails.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async { Err::<(), _>("x".repeat(10_000_000)) },
    );
    let (model, handle) = ScriptedModel::new([Script::call("fails", "{}"), Script::text("no")]);
    let agent = AgentBuilder::<String, String>::new("reader")
        .tool(fails)
        .model(model)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert!(told(&handle)[0].len() < 17_000 && told(&handle)[0].contains("10000000 bytes in all"));
    assert!(serde_json::to_string(&outcome.outputs).unwrap().len() < 40_000);
}
