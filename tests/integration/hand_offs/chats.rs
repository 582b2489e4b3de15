//! Hand-offs in a conversation of several messages.

use agents::{
    Agent, AgentBuilder,
    agent::{Conversation, ModelAgent},
    testing::{Script, ScriptedModel},
};

type Desk = ModelAgent<'static, String, String>;

fn named(name: &'static str) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new(name).prompt(format!("You are {name}."))
}

/// A reception that hands over to refunds, who hand over to a person at the bank.
fn reception() -> Desk {
    let bank = named("bank").build();
    let refunds = named("refunds").hand_off(bank).build();
    named("reception").hand_off(refunds).build()
}

fn hand_off(to: &str) -> Script {
    Script::call(format!("hand_off_to_{to}"), "{}")
}

#[tokio::test]
async fn the_conversation_stays_with_the_agent_that_has_it() {
    let (model, handle) = ScriptedModel::new([
        Script::text("Hello."),
        hand_off("refunds"),
        Script::text("How much?"),
        Script::text("It is coming."),
    ]);
    let mut chat = reception().into_chat().model(model);
    chat.send("Hello!").await.unwrap();
    assert_eq!(chat.answering(), "reception");
    chat.send("Money!").await.unwrap();
    assert_eq!(chat.answering(), "refunds");
    assert_eq!(chat.send("Three euros.").await.unwrap(), "It is coming.");
    let last = &handle.requests()[3];
    assert_eq!(last.prompt(), "You are refunds.");
    // System, three messages of the user, three of agents that answered, and the hand-off with its result.
    assert_eq!(last.messages.len(), 1 + 2 + 1 + 2 + 1 + 1);
    assert_eq!(last.last(), "Three euros.");
}

#[tokio::test]
async fn a_stored_conversation_is_continued_with_the_agent_that_has_it() {
    let (model, handle) = ScriptedModel::new([
        hand_off("refunds"),
        hand_off("bank"),
        Script::text("Your account?"),
        Script::text("Thank you."),
    ]);
    let mut chat = reception().into_chat().model(model.clone());
    chat.send("Money!").await.unwrap();
    assert_eq!(chat.answering(), "bank");
    let row = serde_json::to_string(&chat.snapshot()).unwrap();

    let stored: Conversation = serde_json::from_str(&row).unwrap();
    let mut chat = reception().into_chat().model(model).resume(stored).unwrap();
    assert_eq!(chat.answering(), "bank");
    assert_eq!(chat.send("DE00").await.unwrap(), "Thank you.");
    assert_eq!(handle.requests()[3].prompt(), "You are bank.");
}

#[tokio::test]
async fn a_conversation_may_be_handed_back_in_another_message() {
    use agents::prelude::*;

    /// You are the desk.
    #[agent(hand_off = [Cashier])]
    async fn desk(message: String) -> String;

    /// You are the cashier.
    #[agent(hand_off = [Desk])]
    async fn cashier(message: String) -> String;

    let (model, handle) = ScriptedModel::new([
        hand_off("cashier"),
        Script::text("Paid."),
        hand_off("desk"),
        Script::text("Good bye."),
        Script::text("Still here."),
    ]);
    let mut chat = Desk.into_chat().model(model);
    chat.send("Money!").await.unwrap();
    assert_eq!(chat.answering(), "cashier");
    chat.send("That is all.").await.unwrap();
    assert_eq!(chat.answering(), "desk");
    chat.send("Are you there?").await.unwrap();
    assert_eq!(handle.requests()[4].prompt(), "You are the desk.");
}

#[tokio::test]
async fn a_failed_send_leaves_the_conversation_where_it_was() {
    let (model, _) = ScriptedModel::new([
        hand_off("refunds"),
        Script::fail("the server is gone"),
        Script::text("Hello."),
    ]);
    let mut chat = reception().into_chat().model(model);
    chat.send("Money!").await.unwrap_err();
    assert_eq!(chat.answering(), "reception");
    assert!(chat.messages().is_empty());
    assert_eq!(chat.send("Hello?").await.unwrap(), "Hello.");
}

#[tokio::test]
async fn an_agent_that_is_no_longer_there_is_an_error() {
    let (model, _) = ScriptedModel::new([hand_off("refunds"), Script::text("How much?")]);
    let mut chat = reception().into_chat().model(model.clone());
    chat.send("Money!").await.unwrap();
    let stored = chat.snapshot();
    let mut chat = named("reception")
        .build()
        .into_chat()
        .model(model)
        .resume(stored)
        .unwrap();
    let error = chat.send("Hello?").await.unwrap_err().to_string();
    assert!(
        error.contains("`refunds`, which is not among the hand-offs of agent `reception`"),
        "{error}"
    );
}
