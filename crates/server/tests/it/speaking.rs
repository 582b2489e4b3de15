//! Questions that are answered, and instructions that are given, by form and by JSON.

use crate::house::{House, attribute};
use agents::{
    AgentBuilder,
    testing::{Script, ScriptedModel},
    tool::{Ask, alias},
};
use agents_runtime::{Action, AgentRef, Principal, Progress, Roles, RunRef, Runtime, SqliteStore};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Seat in a plane.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
enum Seat {
    Window,
    Aisle,
}

/// Passenger of a flight.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Passenger {
    /// Name as in the passport.
    name: String,
    bags: u8,
    seat: Seat,
    /// Meal, if any.
    meal: Option<String>,
}

/// Returns a house with a clerk that asks with the tool that is its input, and answers with what it was told.
async fn house(roles: Roles) -> (House, AgentRef<String, String>) {
    let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap()).roles(roles);
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call(asked.last(), r#"{"question": "Where <b>do</b> you sit?"}"#),
        [(_, told), ..] => Script::text(told),
    });
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Ask::<Seat>::to_user().default(Seat::Aisle))
        .tool(alias(Ask::<Passenger>::to_user(), "ask_passenger"))
        .model(model);
    let clerk = runtime.agent(clerk.build());
    let house = House::of(runtime, None);
    tokio::spawn(house.runtime.clone().work(CancellationToken::new()));
    (house, clerk)
}

/// Starts a run of Ada's that asks with this tool, and returns it with the path of its request.
async fn asks(
    house: &House,
    clerk: &AgentRef<String, String>,
    tool: &str,
) -> (RunRef<String>, String) {
    let ada = Principal::new("ada", "acme");
    let run = clerk
        .run(tool)
        .scope("acme")
        .by(&ada)
        .start()
        .await
        .unwrap();
    for _ in 0..2_000 {
        let path = format!("/api/approvals?run={}", run.id());
        let listed = house.get("acme/ada", &path).await.json();
        if let Some(id) = listed["approvals"][0]["id"].as_str() {
            return (run, format!("/approvals/{id}"));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run does not ask");
}

async fn answer_of(run: &RunRef<String>) -> String {
    match run.wait(Duration::from_secs(20)).await.unwrap() {
        Progress::Done(outcome) => outcome.result.unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_choice_is_a_field_of_the_card_with_its_default() {
    let (house, clerk) = house(Roles::new()).await;
    let (run, path) = asks(&house, &clerk, "ask_user").await;
    let page = house.get("acme/ada", &path).await;
    for part in [
        "Where &lt;b&gt;do&lt;/b&gt; you sit?",
        "it asks a question",
        "name=\"argument.answer\"",
        "<option value=\"Window\">Window</option>",
        "<option value=\"Aisle\" selected>Aisle</option>",
        "If nobody answers in time",
        "value=\"answer\"",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    assert!(!page.body.contains("value=\"approve\""), "{}", page.body);
    let token = attribute(&page.body, "name=\"token\" value").to_owned();
    for (decision, seat, status) in [
        ("approve", "Window", StatusCode::UNPROCESSABLE_ENTITY),
        ("answer", "Wing", StatusCode::UNPROCESSABLE_ENTITY),
        ("answer", "Window", StatusCode::SEE_OTHER),
    ] {
        let form = [
            ("token", &*token),
            ("decision", decision),
            ("argument.answer", seat),
        ];
        let answer = house.post("acme/ada", &path, &form).await;
        assert_eq!(answer.status, status, "{decision} {seat}: {}", answer.body);
    }
    assert_eq!(answer_of(&run).await, "Window");
}

#[tokio::test]
async fn an_answer_with_fields_has_a_field_for_each() {
    let (house, clerk) = house(Roles::new()).await;
    let (run, path) = asks(&house, &clerk, "ask_passenger").await;
    let page = house.get("acme/ada", &path).await;
    for name in [
        "argument.name",
        "argument.bags",
        "argument.seat",
        "argument.meal",
    ] {
        assert!(page.body.contains(&format!("name=\"{name}\"")), "{name}");
    }
    // A choice within the answer is a choice of the form, too.
    assert!(
        page.body.contains("<option value=\"Window\">"),
        "{}",
        page.body
    );
    let token = attribute(&page.body, "name=\"token\" value").to_owned();
    let filled = |bags| {
        [
            ("token", token.clone()),
            ("decision", "answer".to_owned()),
            ("argument.name", "Ada".to_owned()),
            ("argument.bags", bags),
            ("argument.seat", "Aisle".to_owned()),
            ("argument.meal", String::new()),
        ]
    };
    for (bags, status) in [
        ("300", StatusCode::UNPROCESSABLE_ENTITY),
        ("2", StatusCode::SEE_OTHER),
    ] {
        let form = filled(bags.to_owned());
        let form: Vec<_> = form.iter().map(|(name, value)| (*name, &**value)).collect();
        let answer = house.post("acme/ada", &path, &form).await;
        assert_eq!(answer.status, status, "{bags}: {}", answer.body);
    }
    let answer: Value = serde_json::from_str(&answer_of(&run).await).unwrap();
    assert_eq!(
        answer,
        json!({"name": "Ada", "bags": 2, "seat": "Aisle", "meal": null})
    );
}

#[tokio::test]
async fn json_answers_are_checked_and_only_questions_take_them() {
    let (house, clerk) = house(Roles::new()).await;
    let (run, path) = asks(&house, &clerk, "ask_user").await;
    let path = format!("/api{path}");
    for (body, why) in [
        (
            json!({"decision": "answer"}),
            "the field `answer` is missing",
        ),
        (
            json!({"decision": "deny", "answer": "Aisle"}),
            "leave one of them out",
        ),
        (json!({"decision": "approve"}), "asks a question"),
        (
            json!({"decision": "answer", "answer": "Wing"}),
            "does not fit the question",
        ),
    ] {
        let answer = house.post_json("acme/ada", &path, &body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert!(answer.body.contains(why), "{why}: {}", answer.body);
    }
    let whole = house.get("acme/ada", &path).await.json();
    assert_eq!(whole["request"]["question"]["form"]["default"], "Aisle");
    let answer = json!({"decision": "answer", "answer": "Aisle"});
    assert_eq!(
        house.post_json("acme/ada", &path, &answer).await.status,
        StatusCode::OK
    );
    assert_eq!(answer_of(&run).await, "Aisle");

    let request = house.ask("acme", r#"{"amount": 1}"#).await;
    let path = format!("/api/approvals/{}", request.id);
    let refused = house.post_json("acme/grace", &path, &answer).await;
    assert!(
        refused.body.contains("asks no question"),
        "{}",
        refused.body
    );
}

#[tokio::test]
async fn an_instruction_is_given_on_the_page_and_by_json() {
    let roles = Roles::new().for_action(Action::Say, "lead");
    let (house, clerk) = house(roles).await;
    let (run, path) = asks(&house, &clerk, "ask_user").await;
    let page = format!("/runs/{}", run.id());
    let shown = house.get("acme/grace", &page).await.body;
    assert!(!shown.contains("Tell the agent"), "{shown}");
    let shown = house.get("acme/grace/lead", &page).await.body;
    assert!(shown.contains("Tell the agent"), "{shown}");
    let token = attribute(&shown, "name=\"token\" value").to_owned();
    let form = [
        ("token", &*token),
        ("action", "say"),
        ("text", "By the <door>."),
    ];
    let said = house.post("acme/grace/lead", &page, &form).await;
    assert_eq!(said.status, StatusCode::SEE_OTHER, "{}", said.body);
    let api = format!("/api/runs/{}", run.id());
    let say = json!({"action": "say", "text": "And quickly."});
    assert_eq!(
        house.post_json("acme/grace", &api, &say).await.status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        house.post_json("acme/grace/lead", &api, &say).await.status,
        StatusCode::OK
    );
    let empty = json!({"action": "say"});
    let refused = house.post_json("acme/grace/lead", &api, &empty).await;
    assert!(
        refused.body.contains("the instruction is empty"),
        "{}",
        refused.body
    );

    let answer = json!({"decision": "answer", "answer": "Aisle"});
    house
        .post_json("acme/ada", &format!("/api{path}"), &answer)
        .await;
    answer_of(&run).await;
    let shown = house.get("acme/grace/lead", &page).await.body;
    assert!(
        shown.contains("grace says: By the &lt;door&gt;."),
        "{shown}"
    );
}
