//! Replies that consist of one call of an unknown tool.

use crate::world::{told, worker};
use agents::{
    Agent,
    model::Reply,
    run::EventKind,
    testing::{Script, ScriptedModel},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex};

/// Runs a worker with this reply. Returns its answer, the results of calls as the model got them, and the text shown
/// to the listener.
async fn run<O: agents::agent::Data + schemars::JsonSchema>(
    content: &str,
    prompted: bool,
) -> (O, Vec<String>, String) {
    let reply = Reply {
        content: content.to_owned(),
        prompted,
        ..Reply::default()
    };
    let (model, handle) = ScriptedModel::new([Script::Reply(reply), Script::text("done")]);
    let shown = Arc::new(Mutex::new(String::new()));
    let seen = shown.clone();
    let answer = worker::<O>()
        .run("go")
        .model(model)
        .on_event(move |event| {
            if let EventKind::Text(piece) = &event.kind {
                seen.lock().unwrap().push_str(piece);
            }
        })
        .await
        .unwrap();
    let shown = shown.lock().unwrap().clone();
    (answer, told(&handle), shown)
}

const NEARLY: [&str; 3] = [
    r#"{"name": "Add", "arguments": {"left": 1, "right": 2}}"#,
    "```json\n{\"name\": \"ad\", \"arguments\": {\"left\": 1, \"right\": 2}}\n```",
    "\n{\"name\":\"read_fiel\",\"arguments\":{}}\n",
];

/// A name that resembles no tool's name.
const FAR: &str = r#"{"name": "Zoë Quist", "arguments": {"for": 3, "against": 1}}"#;

#[tokio::test]
async fn of_a_tool_that_was_nearly_named_it_is_a_call() {
    for text in NEARLY {
        for prompted in [false, true] {
            let (answer, told, shown) = run::<String>(text, prompted).await;
            assert_eq!(answer, "done", "{text}");
            assert!(told[0].contains("did you mean"), "{text}: {told:?}");
            assert_eq!(shown, "done", "{text}");
        }
    }
}

#[tokio::test]
async fn of_any_tool_it_is_a_call_where_the_prompt_asked_for_that() {
    let (answer, told, shown) = run::<String>(FAR, true).await;
    assert_eq!((&*answer, &*shown), ("done", "done"));
    assert!(told[0].contains("there is no tool `Zoë Quist`"), "{told:?}");

    let (answer, told, shown) = run::<String>(FAR, false).await;
    assert_eq!((&*answer, &*shown), (FAR, FAR));
    assert!(told.is_empty());
}

#[derive(Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Debate {
    name: String,
    arguments: Map<String, Value>,
}

#[tokio::test]
async fn it_is_the_answer_where_it_fits_what_the_agent_answers() {
    for text in [FAR, NEARLY[0]] {
        let (answer, told, shown) = run::<Debate>(text, true).await;
        assert_eq!(answer, serde_json::from_str::<Debate>(text).unwrap());
        assert!(told.is_empty());
        assert_eq!(shown, text);
    }
}

#[tokio::test]
async fn in_prose_or_with_more_beside_it_it_is_none() {
    for text in [
        format!("I would write {}", NEARLY[0]),
        format!("{} and that is all.", NEARLY[0]),
        format!("{}\n{}", NEARLY[0], NEARLY[0]),
        r#"{"name": "Add", "arguments": {"left": 1}, "because": "of that"}"#.to_owned(),
        r#"{"name": "Add", "arguments": [1, 2]}"#.to_owned(),
        r#"[{"name": "Add", "arguments": {"left": 1}}]"#.to_owned(),
        r#"{"name": "Add", "arguments": {"left": 1"#.to_owned(),
    ] {
        let (answer, told, shown) = run::<String>(&text, true).await;
        assert_eq!(answer, text);
        assert_eq!(shown, text);
        assert!(told.is_empty());
    }
}
