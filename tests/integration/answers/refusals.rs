//! Refusals of answers, as the model reads them.

use agents::{
    Agent, AgentBuilder,
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A day, in the form of a date.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(transparent)]
struct Day(#[schemars(extend("format" = "date"))] String);

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_date = text.len() == 10 && text.split('-').count() == 3;
        match is_date {
            true => Ok(Day(text)),
            false => Err(serde::de::Error::custom(
                "input contains invalid characters",
            )),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Flight {
    number: String,
    day: Day,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Found { flight: Flight },
    NotFound { reason: String },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Tagged {
    Flight(Flight),
    NotFound { reason: String },
    Unclear,
}

/// Returns what the model is told of this answer.
async fn told<O: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static>(
    answer: &str,
) -> String {
    let (model, handle) = ScriptedModel::new([Script::text(answer)]);
    let agent = AgentBuilder::<String, O>::new("finder")
        .model(model)
        .build();
    let _ = agent.run("?").await;
    handle
        .requests()
        .get(1)
        .map(|asked| asked.last().to_owned())
        .unwrap_or_default()
}

/// Checks that the model is told this about the answer.
async fn check<O: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static>(
    answer: &str,
    expected: &str,
) {
    let told = told::<O>(answer).await;
    let rest = told.strip_prefix("Your answer cannot be used: ");
    let rest = rest.and_then(|rest| {
        rest.strip_suffix(". Answer again, with nothing but JSON that follows the schema.")
    });
    assert_eq!(rest, Some(expected), "{answer}");
}

const DATE: &str = r#"expected a date such as "2026-11-24", got "#;

#[tokio::test]
async fn a_missed_format_is_named_with_an_example() {
    check::<Flight>(
        r#"{"number": "LH 1", "day": "soon"}"#,
        &format!("field `day`: {DATE}\"soon\""),
    )
    .await;
    check::<Flight>(
        r#"{"number": "LH 1", "day": 7}"#,
        &format!("field `day`: {DATE}7"),
    )
    .await;
    // Inside of variants, where the type only knows that none fits.
    let wrong = r#"{"flight": {"number": "LH 1", "day": "soon"}}"#;
    check::<Untagged>(wrong, &format!("field `flight.day`: {DATE}\"soon\"")).await;
    let wrong = r#"{"Flight": {"number": "LH 1", "day": "soon"}}"#;
    check::<Tagged>(wrong, &format!("field `Flight.day`: {DATE}\"soon\"")).await;
}

#[tokio::test]
async fn an_answer_that_is_no_variant_gets_the_list() {
    let untagged = r#"it is none of the variants; write one of {"flight": ..}, {"reason": ..}"#;
    let tagged =
        r#"it is none of the variants; write one of "Unclear", {"Flight": ..}, {"NotFound": ..}"#;
    for answer in [r#"{"why": "none"}"#, "none"] {
        check::<Untagged>(answer, untagged).await;
        check::<Tagged>(answer, tagged).await;
    }
}

#[tokio::test]
async fn within_a_variant_the_field_is_named() {
    let missing = "field `flight.day`: required, and missing; add it";
    check::<Untagged>(r#"{"flight": {"number": "LH 1"}}"#, missing).await;
    let missing = "field `Flight.day`: required, and missing; add it";
    check::<Tagged>(r#"{"flight": {"number": "LH 1"}}"#, missing).await;
}
