//! Arguments with types of other crates, which need a schema from attributes.

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
    tool,
};
use serde::{Deserialize, Deserializer};

struct Stamp(u64);

#[derive(Deserialize)]
struct Place(String);

#[derive(schemars::JsonSchema)]
struct Colour(String);

mod stamp {
    use super::*;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Stamp, D::Error> {
        u64::deserialize(from).map(Stamp)
    }
}

fn colour<'de, D: Deserializer<'de>>(from: D) -> Result<Colour, D::Error> {
    String::deserialize(from).map(Colour)
}

/// Notes.
#[tool(none, approval = when(|args, _| args.at.0 > 3))]
async fn note(
    /// Time of the event.
    #[serde(with = "stamp")]
    #[schemars(with = "u64")]
    at: Stamp,
    /// Place of the event.
    #[schemars(with = "String")]
    place: Place,
    /// Colour of the event.
    #[serde(deserialize_with = "colour")]
    colour: Colour,
) -> String {
    format!("{} {} {}", at.0, place.0, colour.0)
}

#[test]
fn how_they_are_read_and_described_is_said_on_the_parameter() {
    let properties = &Note.spec().input_schema["properties"];
    assert_eq!(properties["at"]["type"], "integer");
    assert_eq!(properties["place"]["type"], "string");
    let colour = properties["colour"].to_string();
    assert!(colour.contains("/Colour"), "{colour}");
}

#[tokio::test]
async fn they_are_called_with_what_was_read() {
    let (model, handle) = ScriptedModel::new([
        Script::call("note", r#"{"at": 3, "place": "Ghent", "colour": "red"}"#),
        Script::text("done"),
    ]);
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Note)
        .build();
    clerk.run("go").model(model).await.unwrap();
    assert_eq!(handle.requests()[1].last(), "3 Ghent red");
}
