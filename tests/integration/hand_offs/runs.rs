//! Hand-offs within one run.

use crate::world::Add;
use agents::{
    Agent, ErrorKind,
    agent::{ModelAgent, Skill},
    model::Message,
    prelude::*,
    run::{Event, EventKind},
    testing::{Script, ScriptedModel},
};
use std::sync::{Arc, Mutex};

/// You pay customers back.
#[agent(hand_off = [Triage])]
async fn refunds(message: String) -> String;

/// You sell.
#[agent]
async fn sales(message: String) -> String;

/// You find out what a customer wants.
#[agent(tools = [Add], hand_off = [Refunds, Sales])]
async fn triage(message: String) -> String;

fn hand_off(to: &str) -> Script {
    Script::call(format!("hand_off_to_{to}"), r#"{"reason": "it is theirs"}"#)
}

#[tokio::test]
async fn the_next_agent_sees_all_that_was_said_and_answers() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        hand_off("refunds"),
        Script::text("Your money is on its way."),
    ]);
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = events.clone();
    let outcome = Triage
        .run("I want 1 + 2 euros back.")
        .model(model)
        .on_event(move |event: &Event| {
            if let EventKind::HandedOff { to } = &event.kind {
                told.lock()
                    .unwrap()
                    .push((event.agent.to_string(), to.clone()));
            }
        })
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "Your money is on its way.");
    assert_eq!(
        *events.lock().unwrap(),
        [("triage".to_owned(), "refunds".to_owned())]
    );

    let requests = handle.requests();
    assert_eq!(
        requests[0].tools,
        ["add", "hand_off_to_refunds", "hand_off_to_sales"]
    );
    let last = &requests[2];
    assert_eq!(
        (last.prompt(), &last.tools[..]),
        (
            "You pay customers back.",
            &["hand_off_to_triage".to_owned()][..]
        )
    );
    let said: Vec<_> = last.messages[1..]
        .iter()
        .map(|message| match message {
            Message::User { content } => format!("user: {content}"),
            Message::Assistant { calls, .. } => format!("calls {}", calls[0].name),
            Message::Tool { content, .. } => format!("result: {content}"),
            Message::System { content } => format!("system: {content}"),
        })
        .collect();
    assert_eq!(
        said,
        [
            "user: I want 1 + 2 euros back.",
            "calls add",
            "result: 3",
            "calls hand_off_to_refunds",
            "result: The conversation is with `refunds` now, who answers.",
        ]
    );
    // It is recorded as what it is, and not as a failure.
    let receipts = &outcome.outputs.tool_order;
    assert_eq!(receipts.len(), 2);
    assert!(outcome.escalations.is_empty());
}

#[tokio::test]
async fn an_agent_that_handed_on_does_not_get_the_conversation_back_in_one_run() {
    let (model, handle) = ScriptedModel::new([
        hand_off("refunds"),
        hand_off("triage"),
        Script::text("I do it."),
    ]);
    assert_eq!(Triage.run("Money!").model(model).await.unwrap(), "I do it.");
    let requests = handle.requests();
    let results = requests[2].results();
    let (_, last) = results.last().unwrap();
    assert!(
        last.contains("`triage` had the conversation before you"),
        "{last}"
    );
}

#[tokio::test]
async fn the_other_calls_of_the_reply_are_carried_out_first() {
    let (model, handle) = ScriptedModel::new([
        Script::calls([
            ("hand_off_to_refunds", "{}"),
            ("add", r#"{"left": 1, "right": 2}"#),
            ("hand_off_to_sales", "{}"),
        ]),
        Script::text("Done."),
    ]);
    assert_eq!(Triage.run("Money!").model(model).await.unwrap(), "Done.");
    let request = &handle.requests()[1];
    assert_eq!(request.prompt(), "You pay customers back.");
    let results: Vec<_> = request
        .results()
        .into_iter()
        .map(|(_, result)| result.to_owned())
        .collect();
    assert_eq!(results[1], "3");
    assert!(
        results[2].contains("handed to another agent already"),
        "{results:?}"
    );
}

#[tokio::test]
async fn typed_agents_hand_over_typed_answers() {
    let (model, _) = ScriptedModel::new([hand_off("counter"), Script::text("42")]);
    let counter = AgentBuilder::<Vec<String>, u32>::new("counter").build();
    let first = AgentBuilder::<Vec<String>, u32>::new("first")
        .hand_off(counter)
        .model(model)
        .build();
    assert_eq!(first.run(vec!["a".to_owned()]).await.unwrap(), 42);
}

#[tokio::test]
async fn code_takes_over_with_the_input() {
    let (model, _) = ScriptedModel::new([hand_off("shout")]);
    let shout = AgentBuilder::<String, String>::new("shout")
        .skill(Skill::native(
            "shout",
            "Shouts.",
            |text: String| async move { Ok(text.to_uppercase()) },
        ))
        .build();
    let first = AgentBuilder::<String, String>::new("first")
        .hand_off(shout)
        .model(model)
        .build();
    assert_eq!(first.run("hello").await.unwrap(), "HELLO");
}

#[tokio::test]
async fn hand_offs_that_cannot_work_are_defects() {
    let named = |name: &'static str| -> ModelAgent<'static, String, String> {
        AgentBuilder::new(name).build()
    };
    let (model, _) = ScriptedModel::new([]);
    let same = AgentBuilder::<String, String>::new("clerk")
        .hand_off(named("clerk"))
        .build();
    let error = same.run("?").model(model).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(
        error
            .to_string()
            .contains("hands the conversation to itself"),
        "{error}"
    );

    let code = AgentBuilder::<String, String>::new("code")
        .skill(Skill::native("say", "Says.", |text: String| async move {
            Ok(text)
        }))
        .hand_off(named("clerk"))
        .build();
    let error = code.run("?").await.unwrap_err();
    assert!(
        error.to_string().contains("all of its skills have bodies"),
        "{error}"
    );
}
