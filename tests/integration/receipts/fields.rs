//! Shapes of outputs and receipts that users rely on.

use crate::world::work;
use agents::{
    Agent,
    run::{AgentOutputs, ToolEnvelope},
    testing::{Script, ScriptedModel},
};
use proptest::prelude::*;
use serde_json::{Value, json};

#[tokio::test]
async fn o1_o11_the_wire_has_exactly_these_fields() {
    let script = [
        Script::calls([
            ("add", r#"{"left":1,"right":2}"#),
            ("add", r#"{"left":"one","right":2}"#),
        ]),
        Script::text("3"),
    ];
    let (outcome, _) = work(script).await;
    let wire = serde_json::to_value(&outcome.outputs).unwrap();
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(&wire),
        ["last_tool", "response", "tool_order", "tools_by_id"]
    );
    let receipt = |at: usize| wire["tools_by_id"][wire["tool_order"][at].as_str().unwrap()].clone();
    let (good, bad) = (receipt(0), receipt(1));
    assert_eq!(
        keys(&good),
        [
            "attempts", "call_id", "input", "name", "output", "t_end", "t_start", "version"
        ]
    );
    assert_eq!(
        keys(&bad),
        [
            "attempts", "call_id", "error", "input", "name", "t_end", "t_start", "version"
        ]
    );
    assert_eq!(
        keys(&bad["error"]),
        ["class", "code", "details", "kind", "message"]
    );
    assert_eq!(
        (&good["name"], &good["version"], &good["output"]),
        (&json!("add"), &json!("1.0.0"), &json!(3))
    );
    assert_eq!(wire["last_tool"], good);
    assert!(good["t_start"].as_str().unwrap().ends_with('Z'));
    let back: AgentOutputs = serde_json::from_value(wire).unwrap();
    assert_eq!(back, outcome.outputs);
}

#[tokio::test]
async fn o9_ids_do_not_depend_on_spelling_and_do_on_digits() {
    async fn id(arguments: &str) -> String {
        let (outcome, _) = work([Script::call("add", arguments), Script::text("")]).await;
        outcome.outputs.tool_order[0].to_string()
    }
    assert_eq!(
        id(r#"{"left":1,"right":2}"#).await,
        id(" { \"right\" : 2,\n\"left\":1 }").await
    );
    assert_ne!(
        id(r#"{"left":9007199254740993,"right":0}"#).await,
        id(r#"{"left":9007199254740992,"right":0}"#).await
    );
}

/// Generates calls of every kind.
fn call() -> impl Strategy<Value = (String, String)> {
    prop_oneof![
        (any::<i32>(), any::<i32>())
            .prop_map(|(l, r)| ("add".into(), format!(r#"{{"left":{l},"right":{r}}}"#))),
        ".{0,40}".prop_map(|text| ("add".into(), text)),
        Just(("panics".into(), "{}".into())),
        Just(("read_file".into(), r#"{"path":"missing"}"#.into())),
        Just(("write_file".into(), r#"{"path":"x"}"#.into())),
        ("[a-z_]{1,9}", ".{0,9}"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(agents_needs::cases(300)))]

    /// Every call leaves one receipt, in the model's order, with either an output or an error. The model gets the
    /// result of each call once.
    #[test]
    fn o2_every_call_leaves_one_receipt(replies in prop::collection::vec(prop::collection::vec(call(), 1..5), 1..4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let names: Vec<String> = replies.iter().flatten().map(|(name, _)| name.clone()).collect();
        let script = replies.into_iter().map(Script::calls).chain([Script::text("end")]).collect::<Vec<_>>();
        let (outcome, handle) = runtime.block_on(work(script));
        prop_assert_eq!(outcome.result.unwrap(), "end");
        let receipts: Vec<&ToolEnvelope> = outcome.outputs.receipts().collect();
        prop_assert_eq!(receipts.iter().map(|receipt| receipt.name.clone()).collect::<Vec<_>>(), names.clone());
        for receipt in &receipts {
            prop_assert!(receipt.output.is_some() != receipt.error.is_some());
        }
        let request = handle.requests().pop().unwrap();
        let told = request.messages.iter().filter(|message| matches!(message, agents::model::Message::Tool { .. }));
        prop_assert_eq!(told.count(), names.len());
    }
}

#[test]
fn x3_an_escalation_on_the_wire() {
    use agents::{Severity, ToolError};
    let original = ToolError::InvalidArgs {
        raw_args: "{..}".into(),
        parse_error: "no JSON".into(),
        expected_schema: json!({"type": "object"}),
    };
    let error = ToolError::Escalation {
        source: "json_fixer".into(),
        reason: "schema mismatch, not a formatting issue".into(),
        severity: Severity::Medium,
        original: Box::new(original),
        attempts: 3,
    };
    let expected = json!({
        "code": "VALIDATION_ERROR",
        "class": "User",
        "kind": "EscalationError",
        "message": "`json_fixer` gave up (MEDIUM): schema mismatch, not a formatting issue",
        "details": {
            "source": "json_fixer",
            "severity": "MEDIUM",
            "attempts": 3,
            "original": {
                "code": "VALIDATION_ERROR",
                "class": "User",
                "kind": "InvalidArgs",
                "message": "the arguments cannot be read: no JSON",
                "details": {"raw_args": "{..}", "expected_schema": {"type": "object"}},
            },
        },
        "reason": "schema mismatch, not a formatting issue",
    });
    assert_eq!(serde_json::to_value(error.receipt()).unwrap(), expected);
    let names = [
        Severity::Low,
        Severity::Medium,
        Severity::High,
        Severity::Critical,
    ];
    assert_eq!(
        serde_json::to_value(names).unwrap(),
        json!(["LOW", "MEDIUM", "HIGH", "CRITICAL"])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(agents_needs::cases(50)))]

    /// The shape of outputs is the same for every configuration of a run.
    #[test]
    fn o3_the_shape_never_depends_on_the_configuration(
        strict in any::<bool>(),
        listened in any::<bool>(),
        bytes in 1..3_000_000_usize,
        tokens in prop::option::of(0..60_u64),
        turns in 1..4_u32,
        tenant in "[a-z]{0,8}",
    ) {
        use crate::world::worker;
        use agents::run::Budget;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let outcome = runtime.block_on(async {
            let script = [Script::calls([("add", r#"{"left":"1","right":2}"#), ("nope", "")]), Script::text("end")];
            let (model, _) = ScriptedModel::new(script);
            let agent = worker::<String>();
            let budget = Budget::new().max_turns(turns);
            let budget = tokens.map_or(budget.clone(), |tokens| budget.tokens(tokens));
            let run = agent.run("go").model(model).scope(tenant).budget(budget);
            let run = run.max_output_bytes(bytes).max_argument_bytes(bytes);
            let run = if strict { run.strict() } else { run };
            let run = if listened { run.on_event(|_| {}) } else { run };
            run.outcome().await.unwrap()
        });
        let wire = serde_json::to_value(&outcome.outputs).unwrap();
        let mut keys: Vec<_> = wire.as_object().unwrap().keys().map(String::as_str).collect();
        keys.retain(|key| *key != "last_tool");
        prop_assert_eq!(keys, ["response", "tool_order", "tools_by_id"]);
        prop_assert_eq!(wire.get("last_tool").is_some(), outcome.outputs.receipts().any(ToolEnvelope::is_ok));
        prop_assert_eq!(serde_json::from_value::<AgentOutputs>(wire).unwrap(), outcome.outputs);
    }
}

/// Orders items.
#[agents::tool(none)]
async fn order(
    /// The lines.
    lines: Vec<Line>,
    /// Speed of the delivery.
    #[serde(default)]
    speed: Option<Speed>,
    /// The day.
    day: u8,
) -> usize {
    let _ = (speed, day);
    lines.len()
}

/// A line.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Line {
    what: String,
    count: u32,
    price: Option<f64>,
}

/// Speed of a delivery.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Speed {
    Slow,
    Fast,
}

#[tokio::test]
async fn what_a_value_had_to_become_is_on_the_receipt() {
    for (sent, path, target) in [
        (
            r#"{"lines": [{"what": "pen", "count": "few"}], "day": 1}"#,
            "lines[0].count",
            "u32",
        ),
        (
            r#"{"lines": [{"what": [[]], "count": 1}], "day": 1}"#,
            "lines[0].what",
            "String",
        ),
        (
            r#"{"lines": [{"what": "pen", "count": 1, "price": "dear"}], "day": 1}"#,
            "lines[0].price",
            "Option<f64>",
        ),
        (
            r#"{"lines": [], "day": 1, "speed": "Sideways"}"#,
            "speed",
            "Option<Speed>",
        ),
        (r#"{"lines": [5], "day": 1}"#, "lines[0]", "Line"),
        (r#"{"lines": 5.5, "day": 1}"#, "lines", "Vec<Line>"),
        (r#"{"lines": []}"#, "day", "u8"),
    ] {
        let (model, _) = ScriptedModel::new([Script::call("order", sent), Script::text("end")]);
        let agent = agents::AgentBuilder::<String, String>::new("clerk").tool(Order);
        let outcome = agent
            .build()
            .run("go")
            .model(model)
            .outcome()
            .await
            .unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        let details = receipt.error.as_ref().unwrap().details.as_ref().unwrap();
        assert_eq!(
            (&details["path"], &details["target_type"]),
            (&json!(path), &json!(target)),
            "{sent}"
        );
    }
}

#[test]
fn x1_an_error_has_one_name_on_the_wire() {
    use agents::{Severity, ToolError, error::Cause};
    let invalid = ToolError::InvalidArgs {
        raw_args: "{..}".into(),
        parse_error: "no JSON".into(),
        expected_schema: json!({"type": "object"}),
    };
    let cause = || Cause::text(agents::Code::Unknown, "disk full");
    let errors = [
        invalid.clone(),
        ToolError::Deserialization {
            raw_value: "{}".into(),
            path: "lines".into(),
            target_type: "u32".into(),
            cause: cause(),
        },
        ToolError::Execution {
            args: agents::Json::of(&()).unwrap(),
            cause: cause(),
        },
        ToolError::Escalation {
            source: "json_fixer".into(),
            reason: "schema mismatch".into(),
            severity: Severity::Medium,
            original: Box::new(invalid),
            attempts: 3,
        },
    ];
    for error in errors {
        let written = serde_json::to_value(&error).unwrap();
        let name = written.as_object().unwrap().keys().next().unwrap();
        assert_eq!(
            (&**name, &*error.receipt().kind),
            (error.kind(), error.kind())
        );
        // The serialised form of an earlier version.
        let old = json!({ (name.trim_end_matches("Error")): written[name] });
        assert_eq!(serde_json::from_value::<ToolError>(old).unwrap(), error);
        assert_eq!(serde_json::from_value::<ToolError>(written).unwrap(), error);
    }
}
