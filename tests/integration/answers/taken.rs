//! Texts that are taken as a typed answer, and texts that are not: the table of the book.

use agents::{
    Agent, AgentBuilder,
    agent::Data,
    testing::{Script, ScriptedModel},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Day of the calendar.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
struct Date(String);

impl JsonSchema for Date {
    fn schema_name() -> Cow<'static, str> {
        "Date".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date"})
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts: Vec<_> = text.split('-').map(str::parse::<u32>).collect();
        match parts[..] {
            [Ok(1000..=9999), Ok(1..=12), Ok(1..=31)] => Ok(Date(text)),
            _ => Err("no date".to_owned()),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Urgency {
    /// It can wait.
    Low,
    /// It cannot wait.
    High,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Bill {
    payer: String,
    amount: u32,
}

/// Returns the answer that is taken from a text, as JSON; `None` if the model is asked again, and then answers `other`.
async fn taken<O: Data + JsonSchema>(text: &str, other: &str) -> Option<Value> {
    let (model, handle) = ScriptedModel::new([text, other].map(Script::text));
    let agent = AgentBuilder::<String, O>::new("one").model(model).build();
    let answer = agent.run("Answer.").await.unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    (handle.count() == 1).then_some(answer)
}

async fn taken_as(of: &str, text: &str) -> Option<Value> {
    match of {
        "f64" => taken::<f64>(text, "0.5").await,
        "u32" => taken::<u32>(text, "7").await,
        "bool" => taken::<bool>(text, "true").await,
        "Option<u32>" => taken::<Option<u32>>(text, "7").await,
        "Date" => taken::<Date>(text, "\"2026-01-01\"").await,
        "Urgency" => taken::<Urgency>(text, "\"Low\"").await,
        "Vec<u32>" => taken::<Vec<u32>>(text, "[]").await,
        "Bill" => taken::<Bill>(text, r#"{"payer": "B", "amount": 1}"#).await,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn texts_are_taken_as_the_book_says() {
    let page = include_str!("../../../book/src/final-answers.md");
    let (_, table) = page
        .split_once("| type | text | answer |\n|-|-|-|\n")
        .unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [of, text, answer] = cells[..] else {
            panic!("{row}");
        };
        let code = |cell: &str| {
            let cell = cell.trim_matches(' ');
            let inner = cell.trim_start_matches('`').trim_end_matches('`');
            // Code that holds backticks stands between two of them, and a space.
            inner.trim().replace("\\n", "\n")
        };
        let text = match text.strip_prefix("```` ") {
            Some(text) => text.strip_suffix(" ````").unwrap().replace("\\n", "\n"),
            None => code(text),
        };
        let expected =
            (answer != "asked again").then(|| serde_json::from_str(&code(answer)).unwrap());
        let got = taken_as(&code(of), &text).await;
        if got != expected {
            wrong.push(format!("{of}: {text:?} gives {got:?}, not {expected:?}"));
        }
        count += 1;
    }
    assert!(
        wrong.is_empty() && count > 40,
        "{count} rows:\n{}",
        wrong.join("\n")
    );
}
