//! Arguments with several wrong fields: the model is told of all in one turn, and the arms get all.

use agents::{
    Agent, AgentBuilder,
    prelude::*,
    recovery::{CallError, Deserialization, Repair, feedback},
    testing::{Script, ScriptedModel},
    tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Class {
    First,
    Second,
}

/// Books a room.
#[tool(none)]
async fn book(
    /// Where.
    city: String,
    /// Which one.
    class: Class,
    /// How long.
    #[schemars(range(min = 1, max = 30))]
    nights: u8,
    /// For whom.
    #[serde(default)]
    guests: Vec<String>,
) -> String {
    format!("{city} {class:?} {nights} {guests:?}")
}

tool! {
    /// Books a table.
    #[tool(none)]
    async fn dine(
        /// City of the restaurant.
        city: String,
        /// Number of guests.
        guests: u8,
        /// Hour of the meal.
        hour: u8,
    ) -> String {
        format!("{city} {guests} {hour}")
    }

    on_error {
        deserialization_error(_, e) if e.all().count() == 3 => feedback(format!(
            "{} first of {}",
            e.path(),
            e.all().map(|one| one.path().to_owned()).collect::<Vec<_>>().join(", "),
        )),
        deserialization_error(_, e) if e.field("guests") => sanitize(2),
        deserialization_error(_, e) if e.field("hour") => sanitize(19),
    }
}

/// Runs a call; returns its receipt, and the result as the model got it.
async fn called(tool: &str, arguments: Value) -> (Value, String) {
    let (model, handle) = ScriptedModel::new([
        Script::call(tool, arguments.to_string()),
        Script::text("done"),
    ]);
    let agent = AgentBuilder::<String, String>::new("a")
        .tool(Book)
        .tool(Dine)
        .build();
    let outcome = agent.run("go").model(model).outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    let told = handle.requests()[1].last().to_owned();
    (serde_json::to_value(receipt).unwrap(), told)
}

const ALL: &str = concat!(
    r#"4 things do not fit: "#,
    r#"field `city`: required, and missing; add it; it has to follow {"description":"Where.","type":"string"}; "#,
    r#"field `class`: expected one of "first", "second", got "third"; "#,
    r#"it has to follow {"description":"Which one.","enum":["first","second"],"type":"string"}; "#,
    r#"field `guests[1]`: expected a string, got an object; it has to follow {"type":"string"}; "#,
    r#"field `nights`: 99 is too large; "#,
    r#"it has to follow {"description":"How long.","format":"uint8","maximum":30,"minimum":1,"type":"integer"}"#,
);

#[tokio::test]
async fn all_are_told_at_once() {
    let wrong = json!({"class": "third", "nights": 99, "guests": ["A", {}]});
    let (receipt, told) = called("book", wrong).await;
    assert_eq!(
        told,
        format!("ERROR VALIDATION_ERROR (User) in `book`: {ALL}")
    );
    let error = &receipt["error"];
    assert_eq!(error["message"], ALL);
    assert_eq!(
        error["details"]["path"], "class",
        "the first that was found"
    );
    let paths: Vec<_> = error["details"]["misfits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|misfit| misfit["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["city", "class", "guests[1]", "nights"]);
}

#[tokio::test]
async fn of_one_it_is_said_as_ever() {
    let wrong = json!({"city": "A", "class": "third", "nights": "3"});
    let (receipt, told) = called("book", wrong).await;
    assert_eq!(
        told,
        "ERROR VALIDATION_ERROR (User) in `book`: field `class`: expected one of \"first\", \"second\", got \"third\"; \
         it has to follow {\"description\":\"Which one.\",\"enum\":[\"first\",\"second\"],\"type\":\"string\"}",
    );
    assert_eq!(receipt["error"]["details"].get("misfits"), None);
}

#[tokio::test]
async fn an_arm_sees_the_first_and_all() {
    let (_, told) = called("dine", json!({"guests": "few", "hour": "late"})).await;
    assert!(
        told.ends_with("; guests first of city, guests, hour"),
        "{told}"
    );
    let (receipt, told) = called(
        "dine",
        json!({"city": "A", "guests": "few", "hour": "late"}),
    )
    .await;
    assert_eq!(told, "A 2 19");
    assert_eq!(receipt["repairs"].as_array().unwrap().len(), 2, "{receipt}");
}

tool! {
    /// Looks up.
    #[tool(none)]
    async fn look(
        /// Name of what is looked up.
        what: String,
        /// Number of times.
        times: u8,
    ) -> String {
        format!("{what} {times}")
    }

    on_error { deserialization_error(_, _) => fix(agent = Mender) }
}

/// Repairs exactly the fields named in the request.
#[agent]
fn mender(repair: Repair) -> String {
    let told = |field: &str| repair.error.contains(&format!("field `{field}`"));
    match told("what") && told("times") {
        true => r#"{"what": "stars", "times": 3}"#.to_owned(),
        false => "{}".to_owned(),
    }
}

#[tokio::test]
async fn a_repair_agent_is_told_of_all() {
    let (model, handle) = ScriptedModel::new([
        Script::call("look", r#"{"times": "often"}"#),
        Script::text("done"),
    ]);
    let agent = AgentBuilder::<String, String>::new("a").tool(Look).build();
    agent.run("go").model(model).await.unwrap();
    assert_eq!(handle.requests()[1].last(), "stars 3");
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    reasons: Vec<String>,
    score: u8,
    title: String,
}

#[tokio::test]
async fn of_an_answer_all_are_told_at_once_as_well() {
    let (model, handle) = ScriptedModel::new([
        Script::text("```json\n{\"reasons\": [{}], \"score\": \"poor\"}\n```"),
        Script::text(r#"{"reasons": [], "score": 3, "title": "A"}"#),
    ]);
    let critic = AgentBuilder::<String, Verdict>::new("critic").build();
    let verdict = critic.run("Judge.").model(model).await.unwrap();
    assert_eq!(verdict.score, 3);
    let told = handle.requests()[1].last().to_owned();
    let faults = told.find("3 things do not fit: field `reasons[0]`: ");
    assert!(
        faults.is_some_and(|at| told[at..].contains("; field `title`: required")),
        "{told}"
    );
}

/// The arm for the wrong field runs, whatever other fields the lenient reading can repair.
#[tokio::test]
async fn what_is_settled_without_the_model_is_not_at_fault() {
    for arguments in [
        json!({"city": 7, "guests": "two", "hour": 20}),
        json!({"City": "Oslo", "guests": "two", "hour": "20"}),
    ] {
        let (receipt, told) = called("dine", arguments).await;
        assert!(told.ends_with(" 2 20"), "{told}");
        assert_eq!(receipt["attempts"], json!([{ "number": 1 }]));
    }
    let (receipt, told) = called("book", json!({"city": 7, "class": "first"})).await;
    assert!(
        told.contains("field `nights`: required, and missing; add it") && !told.contains("`city`"),
        "{told}"
    );
    assert_eq!(receipt["error"]["details"]["path"], "nights");
}

/// The hint comes from the arm for the first wrong field; missing fields come last.
#[tokio::test]
async fn the_arm_for_the_field_at_fault_first_gives_the_hint() {
    let hints = |arguments: Value| async move {
        let script = [
            Script::call("dine", arguments.to_string()),
            Script::text("done"),
        ];
        let (model, handle) = ScriptedModel::new(script);
        let agent = AgentBuilder::<String, String>::new("a")
            .tool(Dine)
            .on_error_of_named("dine", |error, _| match error {
                CallError::Deserialization(_, e) => {
                    Some(feedback::<Deserialization>(format!("hint for {}", e.path())).into())
                }
                _ => None,
            })
            .build();
        agent.run("go").model(model).await.unwrap();
        handle.requests()[1].last().to_owned()
    };
    for (arguments, field) in [
        (json!({"guests": null, "hour": 20}), "guests"),
        (json!({"hour": "late", "guests": null}), "guests"),
    ] {
        let told = hints(arguments).await;
        assert!(told.ends_with(&format!("; hint for {field}")), "{told}");
    }
}
