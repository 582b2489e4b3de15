//! Conversations that go on after a limit, are shortened, or are held with several agents.

use crate::world::Add;
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error, ErrorKind,
    agent::{Conversation, KeepLast, ModelAgent, Shorten, Skill, Summarize},
    async_trait, branch,
    model::{Message, ToolCall},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

type Desk = ModelAgent<'static, String, String>;

fn desk(model: ScriptedModel) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("desk").prompt("You help.").model(model)
}

/// Creates a tool that counts its executions.
fn pay() -> (FnTool, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let paid = count.clone();
    let schema = json!({"type": "object"});
    let tool = FnTool::new("pay", "Pays.", Effects::Writes, schema, move |_, _| {
        paid.fetch_add(1, SeqCst);
        async { Ok::<_, Error>("paid") }
    });
    (tool, count)
}

fn one_turn() -> Budget {
    Budget::new().max_turns(1)
}

#[tokio::test]
async fn a_message_that_met_a_limit_goes_on_where_it_was() {
    let (model, handle) = ScriptedModel::new([
        Script::call("pay", "{}"),
        Script::text("It is paid."),
        Script::text("Yes."),
    ]);
    let (pay, count) = pay();
    let mut chat = desk(model).tool(pay).build().into_chat();
    let error = chat.send("Pay it.").budget(one_turn()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
    assert_eq!(chat.go_on().unwrap().await.unwrap(), "It is paid.");
    assert_eq!(count.load(SeqCst), 1);
    // System, the message, the call, its result: nothing says that there was no answer.
    assert_eq!(handle.requests()[1].messages.len(), 4);
    assert_eq!(chat.messages().len(), 5);
    let nothing = chat.go_on().unwrap_err();
    assert!(
        nothing.to_string().contains("no unfinished message"),
        "{nothing}"
    );
    chat.send("Really?").await.unwrap();
    assert_eq!(handle.requests()[2].messages.len(), 6);
}

#[tokio::test]
async fn an_unfinished_message_can_be_stored() {
    let (model, _) = ScriptedModel::new([Script::call("pay", "{}"), Script::text("It is paid.")]);
    let (pay, count) = pay();
    let mut chat = desk(model.clone()).tool(pay.clone()).build().into_chat();
    chat.send("Pay it.").budget(one_turn()).await.unwrap_err();
    let row = serde_json::to_string(&chat.snapshot()).unwrap();
    let stored: Conversation = serde_json::from_str(&row).unwrap();
    let mut chat = desk(model)
        .tool(pay)
        .build()
        .into_chat()
        .resume(stored)
        .unwrap();
    assert_eq!(chat.go_on().unwrap().await.unwrap(), "It is paid.");
    assert_eq!(count.load(SeqCst), 1);
}

#[tokio::test]
async fn another_message_ends_what_was_unfinished() {
    let (model, _) = ScriptedModel::new([Script::call("pay", "{}"), Script::text("Fine.")]);
    let (pay, _) = pay();
    let mut chat = desk(model).tool(pay).build().into_chat();
    chat.send("Pay it.").budget(one_turn()).await.unwrap_err();
    chat.send("Never mind.").await.unwrap();
    assert!(chat.go_on().is_err());
}

#[tokio::test]
async fn a_conversation_keeps_its_last_exchanges_whole() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("3"),
        Script::text("4"),
        Script::text("5"),
    ]);
    let mut chat = desk(model)
        .tool(Add)
        .build()
        .into_chat()
        .shorten(KeepLast::exchanges(1));
    for question in ["1 + 2?", "And one more?", "And one more?"] {
        chat.send(question).await.unwrap();
    }
    let requests = handle.requests();
    assert_eq!(
        requests[2].messages.len(),
        1 + 4 + 1,
        "a call stays with its result"
    );
    assert_eq!(requests[3].messages.len(), 1 + 2 + 1);
    assert_eq!(chat.messages().len(), 5);
}

#[tokio::test]
async fn a_refused_answer_begins_no_exchange() {
    let (model, handle) = ScriptedModel::new(["none", "1", "2"].map(Script::text));
    let counter = AgentBuilder::<String, u32>::new("counter")
        .model(model)
        .build();
    let mut chat = counter.into_chat().shorten(KeepLast::exchanges(1));
    chat.send("How many?").await.unwrap();
    chat.send("And now?").await.unwrap();
    let asked: Vec<_> = handle.requests()[2]
        .messages
        .iter()
        .filter(|one| matches!(one, Message::User { .. }))
        .cloned()
        .collect();
    assert_eq!(
        asked.len(),
        3,
        "the message, the refusal, and the message: {asked:?}"
    );
}

#[tokio::test]
async fn a_summary_is_a_part_of_the_send_and_no_part_of_its_text() {
    let (model, handle) = ScriptedModel::from_fn(|asked| match asked.prompt() {
        "Sum up." => Script::text("Ada wants a lathe."),
        _ => Script::text("Yes."),
    });
    let sums = AgentBuilder::<String, String>::new("sums")
        .prompt("Sum up.")
        .build();
    let summary = Summarize::with(sums).after(3).keep(1);
    let mut chat = AgentBuilder::<String, String>::new("desk")
        .build()
        .into_chat()
        .model(model)
        .shorten(summary);
    chat.send("I am Ada.").await.unwrap();
    chat.send("I want a lathe.").await.unwrap();
    let mut text = chat.send("Do you have one?").stream().text();
    let mut deltas = Vec::new();
    while let Some(delta) = text.next().await {
        deltas.push(delta);
    }
    assert_eq!(deltas, [agents::agent::TextDelta::Piece("Yes.".to_owned())]);
    let outcome = text.outcome().await.unwrap();
    assert_eq!(outcome.usage.requests, 2, "the summary counts");
    let requests = handle.requests();
    assert_eq!(requests[2].last(), "user: I am Ada.\nassistant: Yes.\n");
    let shown = serde_json::to_string(&requests[3].messages).unwrap();
    assert!(
        shown.contains("Ada wants a lathe.") && !shown.contains("I am Ada."),
        "{shown}"
    );
}

/// Leaves a call without its result.
struct Careless;

#[async_trait]
impl Shorten for Careless {
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
        Ok(Some(messages.iter().take(2).cloned().collect()))
    }
}

#[tokio::test]
async fn a_policy_that_tears_a_call_from_its_result_is_refused() {
    let (model, _) = ScriptedModel::new([
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("3"),
    ]);
    let mut chat = desk(model).tool(Add).build().into_chat().shorten(Careless);
    chat.send("1 + 2?").await.unwrap();
    let error = chat.send("And one more?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(
        error.to_string().contains("of `add` has no result"),
        "{error}"
    );
    assert_eq!(chat.messages().len(), 5);
}

#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Verdict {
    Fine(String),
    Homework,
}

/// Puts a guard before an agent: the guard sees the message, and the agent the conversation.
fn guarded(model: ScriptedModel) -> impl Agent<In = String, Out = String> {
    let guard = AgentBuilder::<String, Verdict>::new("guard").skill(Skill::native(
        "look",
        "Looks.",
        |message: String| async move {
            Ok(match message.contains("solve") {
                true => Verdict::Homework,
                false => Verdict::Fine(message),
            })
        },
    ));
    let refuse = AgentBuilder::<(), String>::new("refuse").skill(Skill::native(
        "refuse",
        "Refuses.",
        |()| async { Ok("I do no homework.".to_owned()) },
    ));
    let (guard, desk, refuse) = (guard.build(), desk(model).build(), refuse.build());
    branch!(
        guard,
        match verdict {
            Verdict::Fine(message) => desk.run(message),
            Verdict::Homework => refuse.run(()),
        }
    )
}

#[tokio::test]
async fn a_guarded_agent_has_the_conversation_with_the_refusals() {
    let (model, handle) = ScriptedModel::new(["Hello, Ada.", "You are Ada."].map(Script::text));
    let mut chat = guarded(model).into_chat();
    assert_eq!(chat.send("I am Ada.").await.unwrap(), "Hello, Ada.");
    assert_eq!(
        chat.send("Please solve x + 1 = 2.").await.unwrap(),
        "I do no homework."
    );
    assert_eq!(chat.send("Who am I?").await.unwrap(), "You are Ada.");
    let said: Vec<_> = handle.requests()[1]
        .messages
        .iter()
        .map(|message| match message {
            Message::User { .. } | Message::Assistant { .. } => message.text().to_owned(),
            _ => String::new(),
        })
        .collect();
    assert_eq!(
        said,
        [
            "",
            "I am Ada.",
            "Hello, Ada.",
            "Please solve x + 1 = 2.",
            "I do no homework.",
            "Who am I?"
        ]
    );
}

#[tokio::test]
async fn the_last_agent_of_a_chain_has_the_conversation_and_the_others_have_not() {
    let (first, asked_first) = ScriptedModel::new(["one", "two"].map(Script::text));
    let (last, asked_last) = ScriptedModel::new(["ONE", "TWO"].map(Script::text));
    let first: Desk = AgentBuilder::new("first").model(first).build();
    let last: Desk = AgentBuilder::new("last").model(last).build();
    let mut chat = first.then(last).into_chat();
    chat.send("1").await.unwrap();
    assert_eq!(chat.send("2").await.unwrap(), "TWO");
    assert_eq!(asked_first.requests()[1].messages.len(), 1);
    assert_eq!(asked_last.requests()[1].messages.len(), 3);
}

#[tokio::test]
async fn a_failed_send_of_a_composition_says_that_something_was_written() {
    let (model, _) = ScriptedModel::new([
        Script::call("pay", "{}"),
        Script::fail("gone"),
        Script::text("Yes, it is."),
    ]);
    let (pay, _) = pay();
    let mut chat = desk(model).tool(pay).build().then(shout()).into_chat();
    chat.send("Pay it.").await.unwrap_err();
    let messages = chat.messages();
    let Some(Message::Assistant { content, .. }) = messages.last() else {
        panic!("{messages:?}");
    };
    assert!(
        content.starts_with("[no answer: ") && content.ends_with("tools that write have run]"),
        "{content}"
    );
    assert!(chat.go_on().is_err());
}

fn shout() -> Desk {
    AgentBuilder::new("shout")
        .skill(Skill::native(
            "shout",
            "Shouts.",
            |text: String| async move { Ok(text.to_uppercase()) },
        ))
        .build()
}

#[tokio::test]
async fn ids_of_new_calls_differ_from_those_of_a_conversation_without_its_beginning() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("3"),
    ]);
    let call = ToolCall {
        id: "call_2_0".into(),
        name: "add".into(),
        arguments: r#"{"left": 2, "right": 2}"#.into(),
    };
    let earlier = [
        Message::User {
            content: "2 + 2?".into(),
        },
        Message::Assistant {
            content: String::new(),
            thinking: None,
            calls: vec![call],
        },
        Message::Tool {
            tool_call_id: "call_2_0".into(),
            name: "add".into(),
            content: "4".into(),
        },
    ];
    let mut chat = desk(model)
        .tool(Add)
        .build()
        .into_chat()
        .with_messages(earlier)
        .unwrap();
    chat.send("1 + 2?").await.unwrap();
    let ids: Vec<_> = handle.requests()[1]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool { tool_call_id, .. } => Some(tool_call_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
}
