//! Replaced texts: a change of a call or an answer records what it replaced.

use crate::bakery::Trouble;
use agents::{
    Agent, Outcome,
    prelude::*,
    reader::ChangeKind,
    run::{RepairKind, RepairStep},
    testing::{Script, ScriptedModel},
};

tool! {
    /// Order bread.
    #[tool(reads)]
    async fn order(
        /// Kind of bread.
        what: String,
        /// Number of pieces.
        count: u32,
    ) -> Result<String, Trouble> {
        match what.as_str() {
            "gas" => Err(Trouble::Gas),
            _ => Ok(format!("{count} of {what}")),
        }
    }

    on_error {
        invalid_args(_, _) => fix(r#"{"what":"rolls","count":"many"}"#),
        deserialization_error(_, error) if error.field("count") => sanitize(12),
        execution_error(_) => fix(r#"{"what":"rye","count":1}"#),
    }
}

/// You order.
#[agent(tools = [Order])]
async fn orderer(wish: String) -> String;

async fn ordered(arguments: &str) -> Outcome<String> {
    let (model, _) = ScriptedModel::new([Script::call("order", arguments), Script::text("done")]);
    let run = Orderer.run("bread").model(model);
    let run = run.secret("till", "sesame-open");
    run.outcome().await.unwrap()
}

/// Returns the changes of the only call, with kind, path, note and replaced text.
async fn changes(arguments: &str) -> Vec<(RepairKind, String, String, Option<String>)> {
    let outcome = ordered(arguments).await;
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.is_ok(), "{receipt:?}");
    let told = |change: &RepairStep| {
        let RepairStep {
            kind,
            path,
            note,
            was,
            uncertain: _,
        } = change.clone();
        (kind, path, note, was)
    };
    receipt.repairs.iter().map(told).collect()
}

fn fixed(
    path: &str,
    note: &str,
    was: Option<&str>,
) -> (RepairKind, String, String, Option<String>) {
    (
        RepairKind::Fixed,
        path.into(),
        note.into(),
        was.map(str::to_owned),
    )
}

#[tokio::test]
async fn a_value_that_was_sanitized() {
    assert_eq!(
        changes(r#"{"what": "rolls", "count": "a couple"}"#).await,
        [fixed(
            "count",
            "`sanitize` replaced it",
            Some(r#""a couple""#)
        )]
    );
    assert_eq!(
        changes(r#"{"what": "rolls"}"#).await,
        [fixed("count", "`sanitize` supplied it", None)]
    );
}

#[tokio::test]
async fn arguments_that_were_fixed() {
    let anew = "`fix` gave the arguments anew";
    // The unreadable text, and a value in its replacement.
    assert_eq!(
        changes("rolls,\n many").await,
        [
            fixed("", anew, Some("rolls,  many")),
            fixed("count", "`sanitize` replaced it", Some(r#""many""#)),
        ]
    );
    // The executed arguments; the model's own arguments are kept as well.
    assert_eq!(
        changes(r#"{"what":"gas","count":1}"#).await,
        [fixed("", anew, Some(r#"{"what":"gas","count":1}"#))]
    );
}

#[tokio::test]
async fn as_much_of_it_as_is_worth_telling_and_no_secret() {
    // A secret is masked in full texts, and in shortened ones that keep only its beginning.
    let filler = "rolls ".repeat(100);
    let long = format!("sesame-open {}sesame-open{filler}", &filler[..183]);
    let [(.., Some(was)), _] = &changes(&long).await[..] else {
        panic!()
    };
    assert!(was.starts_with("[secret:till] rolls rolls"), "{was}");
    assert!(was.ends_with('…') && was.chars().count() == 201, "{was}");
    assert!(!was.contains("sesa"), "{was}");
}

#[tokio::test]
async fn a_key_that_was_dropped() {
    assert_eq!(
        changes(r#"{"what": "rolls", "count": 2, "currency": "JPY", "pay": {"at": [1, 2]}}"#).await,
        ["currency", "pay"].map(|path| {
            let was = if path == "pay" {
                r#"{"at": [1, 2]}"#
            } else {
                r#""JPY""#
            };
            let note = "left out, since the schema does not know it";
            (
                ChangeKind::DroppedKey.into(),
                path.to_owned(),
                note.to_owned(),
                Some(was.to_owned()),
            )
        })
    );
}

struct Counter;

#[agent(prompt = "You count.")]
impl Counter {
    /// Counts.
    #[skill]
    async fn count(&self, what: String) -> u32;

    on_error!(match error {
        invalid_output(_, _) => fix("12"),
    });
}

#[tokio::test]
async fn an_answer_that_was_fixed() {
    let (model, _) = ScriptedModel::new([Script::text("a dozen")]);
    let outcome = Counter.run("rolls").model(model).outcome().await.unwrap();
    let [change] = &outcome.repairs.0[..] else {
        panic!("{:?}", outcome.repairs)
    };
    assert_eq!(change.note, "`fix` gave the answer anew");
    assert_eq!(change.was.as_deref(), Some("a dozen"));
}
