//! Wrong arguments: arms and model get the exact field, and an arm can repair it.

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
    tool,
    tool::ToolSet,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "shown by Debug")]
struct Size {
    width: u8,
    height: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "shown by Debug")]
#[serde(tag = "type")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "shown by Debug")]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
enum Step {
    Wait { secs: u8 },
    Say(String),
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Low,
    High,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "shown by Debug")]
struct Page {
    number: u32,
}

tool! {
    /// Draws.
    #[tool(none)]
    async fn draw(
        /// Title of the drawing.
        #[serde(rename = "theTitle", alias = "title")]
        name: String,
        /// Size of the drawing.
        #[serde(default)]
        size: Option<Size>,
        /// Sizes of the layers.
        #[serde(default)]
        layers: Vec<Size>,
        /// Shape to draw.
        #[serde(default)]
        shape: Option<Shape>,
        /// Next step.
        #[serde(default)]
        step: Option<Step>,
        /// Page of the drawing.
        #[serde(flatten)]
        page: Page,
    ) -> String {
        format!("{name} {size:?} {layers:?} {shape:?} {step:?} {page:?}")
    }

    on_error {
        deserialization_error(None, e) if e.field("theTitle") => sanitize("untitled"),
        deserialization_error(None, e) if e.path().ends_with("height") => sanitize(7),
        deserialization_error(None, e) if e.field("number") => sanitize(1),
        deserialization_error(None, e) if e.field("shape.type") => sanitize("Square"),
        deserialization_error(None, e) if e.field("shape.side") => sanitize(2.0),
        deserialization_error(None, e) if e.field("step.data") => sanitize("hello"),
    }
}

tool! {
    /// Replaces any wrong field by `supplied`.
    #[tool(none)]
    async fn unguarded(
        /// The first.
        first: String,
        /// The second.
        second: String,
    ) -> String {
        format!("{first} {second}")
    }

    on_error { deserialization_error(_, _) => sanitize("supplied") }
}

/// Counts.
#[tool(none)]
async fn count(
    /// By number.
    #[serde(default)]
    numbers: BTreeMap<u8, String>,
    /// By level.
    #[serde(default)]
    levels: BTreeMap<Level, u8>,
) -> String {
    format!("{numbers:?} {levels:?}")
}

/// Returns the text that the model gets as the result of a call.
async fn told(tool: &str, arguments: Value) -> String {
    let (model, handle) = ScriptedModel::new([
        Script::call(tool, arguments.to_string()),
        Script::text("done"),
    ]);
    let tools = ToolSet::new().with(Draw).with(Unguarded).with(Count);
    let agent = AgentBuilder::<String, String>::new("a")
        .tools(tools)
        .build();
    agent.run("go").model(model).await.unwrap();
    handle.requests()[1].last().to_owned()
}

#[tokio::test]
async fn a_missing_argument_is_supplied_and_nothing_else() {
    for (arguments, ran) in [
        (json!({}), "untitled None [] None None Page { number: 1 }"),
        (
            json!({"number": 3}),
            "untitled None [] None None Page { number: 3 }",
        ),
        (
            json!({"title": "t"}),
            "t None [] None None Page { number: 1 }",
        ),
        (
            json!({"title": "t", "number": 1, "size": {"width": 4}}),
            "t Some(Size { width: 4, height: 7 }) [] None None Page { number: 1 }",
        ),
        (
            json!({"title": "t", "number": 1, "layers": [{"width": 1, "height": 2}, {"width": 4}]}),
            "t None [Size { width: 1, height: 2 }, Size { width: 4, height: 7 }] None None Page { number: 1 }",
        ),
        (
            json!({"title": "t", "number": 1, "shape": {}}),
            "t None [] Some(Square { side: 2.0 }) None Page { number: 1 }",
        ),
        (
            json!({"title": "t", "number": 1, "step": {"type": "say"}}),
            "t None [] None Some(Say(\"hello\")) Page { number: 1 }",
        ),
    ] {
        assert_eq!(told("draw", arguments.clone()).await, ran, "{arguments}");
    }
    assert_eq!(
        told("unguarded", json!({"second": "b"})).await,
        "supplied b"
    );
    assert_eq!(told("unguarded", json!({})).await, "supplied supplied");
    assert_eq!(
        told("unguarded", json!({"first": {"x": 1}, "second": "b"})).await,
        "supplied b"
    );
}

#[tokio::test]
async fn the_model_is_told_which_field_is_missing_and_what_it_takes() {
    let said = told(
        "draw",
        json!({"title": "t", "number": 1, "shape": {"type": "Circle"}}),
    )
    .await;
    assert_eq!(
        said,
        r#"ERROR VALIDATION_ERROR (User) in `draw`: field `shape.radius`: required, and missing; add it; it has to follow {"format":"double","type":"number"}"#
    );
}

#[tokio::test]
async fn of_a_tag_all_names_are_told() {
    let said = told(
        "draw",
        json!({"title": "t", "number": 1, "shape": {"type": "Hexagon"}}),
    )
    .await;
    assert!(
        said.ends_with(r#"field `shape.type`: unknown variant `Hexagon`, expected `Circle` or `Square`; it has to follow {"enum":["Circle","Square"]}"#),
        "{said}"
    );
    let said = told(
        "draw",
        json!({"title": "t", "number": 1, "step": {"type": "run"}}),
    )
    .await;
    assert!(
        said.ends_with(r#"it has to follow {"enum":["wait","say"]}"#),
        "{said}"
    );
}

#[tokio::test]
async fn entries_of_a_map_are_not_left_out() {
    for (arguments, at) in [
        (
            json!({"numbers": {"1": "a", "two": "b"}}),
            "field `numbers`: ",
        ),
        (
            json!({"levels": {"Low": 1, "Middle": 2}}),
            "unknown variant `Middle`",
        ),
    ] {
        let said = told("count", arguments).await;
        assert!(
            said.starts_with("ERROR VALIDATION_ERROR") && said.contains(at),
            "{said}"
        );
    }
    let said = told(
        "count",
        json!({"numbers": {"1": 2}, "levels": {"low": "3"}}),
    )
    .await;
    assert_eq!(said, r#"{1: "2"} {Low: 3}"#);
}
