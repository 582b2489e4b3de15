//! A run as a stream of its answer, as far as it is written.

use super::typing::Typing;
use agents::{
    Agent, AgentBuilder,
    agent::{Partial, PartialStream},
    recovery::{CallError, InvalidOutput, fix},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Book {
    title: String,
    pages: u32,
    #[serde(default)]
    tags: Vec<String>,
}

async fn read<O: Serialize + serde::de::DeserializeOwned>(
    stream: &mut PartialStream<'_, O>,
) -> Vec<Partial<O>> {
    let mut all = Vec::new();
    while let Some(partial) = stream.next().await {
        all.push(partial);
    }
    all
}

fn books(pieces: &[&str; 6]) -> agents::agent::ModelAgent<'static, String, Book> {
    AgentBuilder::new("librarian")
        .model(Typing::new([pieces]))
        .build()
}

#[tokio::test]
async fn each_partial_answer_has_all_that_is_known() {
    let librarian = books(&[
        "Here: {\"title\": \"War",
        " and Peace\", \"pag",
        "es\": 12",
        "25, \"tags\":",
        " [\"long\", \"ru",
        "ssian\"]}",
    ]);
    let mut stream = librarian.run("?").stream().partials();
    let all = read(&mut stream).await;
    let jsons: Vec<_> = all.iter().map(Partial::json).collect();
    assert_eq!(
        jsons,
        [
            r#"{"title":"War"}"#,
            r#"{"title":"War and Peace"}"#,
            r#"{"title":"War and Peace","pages":1225}"#,
            r#"{"title":"War and Peace","pages":1225,"tags":["long","ru"]}"#,
            r#"{"title":"War and Peace","pages":1225,"tags":["long","russian"]}"#,
            r#"{"title":"War and Peace","pages":1225,"tags":["long","russian"]}"#,
        ]
    );
    assert_eq!((all[0].open(), all[0].value()), (Some("title"), None));
    assert_eq!(all[0].field::<String>("title").as_deref(), Some("War"));
    assert_eq!(all[0].field::<u32>("pages"), None);
    assert_eq!(
        all[2].value().unwrap().pages,
        1225,
        "what is missing has a default"
    );
    let complete: Vec<_> = all.iter().map(Partial::is_complete).collect();
    assert_eq!(complete, [false, false, false, false, false, true]);
    let book = stream.outcome().await.unwrap().result.unwrap();
    assert_eq!(all[5].value(), Some(book));
}

#[tokio::test]
async fn the_last_one_is_the_answer_even_if_an_arm_gave_it() {
    let librarian = AgentBuilder::<String, Book>::new("librarian")
        .model(Typing::new([&[
            "{\"title\": \"Emma\", ",
            "\"pages\": \"few\"}",
        ]]))
        .on_error(|error, _| match error {
            CallError::InvalidOutput(..) => {
                Some(fix::<InvalidOutput>(r#"{"title": "Emma", "pages": 474}"#).into())
            }
            _ => None,
        })
        .build();
    let mut stream = librarian.run("?").stream().partials();
    let all = read(&mut stream).await;
    assert_eq!(all[0].json(), r#"{"title":"Emma"}"#);
    let last = all.last().unwrap();
    assert!(last.is_complete());
    assert_eq!(last.value().unwrap().pages, 474);
}

#[tokio::test]
async fn an_answer_that_is_text_grows_as_text() {
    let model = Typing::new([&["Good ", "morning"]]);
    let greeter = AgentBuilder::<String, String>::new("greeter")
        .model(model)
        .build();
    let all = read(&mut greeter.run("?").stream().partials()).await;
    let values: Vec<_> = all.iter().filter_map(Partial::value).collect();
    assert_eq!(values, ["Good ", "Good morning", "Good morning"]);
}

#[tokio::test]
async fn a_run_without_an_answer_has_no_whole_one() {
    let model = Typing::new([&["{\"title\": \"Emma\", \"pages\": ", "none}"]]);
    let librarian = AgentBuilder::<String, Book>::new("librarian")
        .model(model)
        .budget(agents::Budget::new().max_turns(1))
        .build();
    let mut stream = librarian.run("?").stream().partials();
    let all = read(&mut stream).await;
    assert!(!all.is_empty() && !all.iter().any(Partial::is_complete));
    assert!(stream.outcome().await.unwrap().result.is_err());
}
