//! A run as a stream of its answer's text.

use super::typing::{Typing, Writing};
use crate::world::Add;
use agents::{
    Agent, AgentBuilder,
    agent::{ModelAgent, Skill, TextDelta, TextStream},
    team::Member,
};

fn agent(name: &str, model: Typing) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new(name.to_owned()).model(model)
}

fn writer(name: &str, pieces: &[&str; 2]) -> ModelAgent<'static, String, String> {
    agent(name, Typing::new([pieces])).build()
}

/// Reads the stream to its end; a reset is a bar.
async fn read<O>(mut text: TextStream<'_, O>) -> (String, O) {
    let mut all = String::new();
    while let Some(delta) = text.next().await {
        match delta {
            TextDelta::Piece(piece) => all.push_str(&piece),
            TextDelta::Reset => all.push('|'),
        }
    }
    (all, text.outcome().await.unwrap().result.unwrap())
}

#[tokio::test]
async fn words_before_a_call_are_taken_back() {
    let model = Typing::new([
        Writing::from(&["Let me ", "add."]).then_call("add", r#"{"left":1,"right":2}"#),
        Writing::from(&["It is ", "three."]),
    ]);
    let adder = agent("adder", model).tool(Add).build();
    let (text, answer) = read(adder.run("1 + 2").stream().text()).await;
    assert_eq!(
        (&*text, &*answer),
        ("Let me add.|It is three.", "It is three.")
    );
}

#[tokio::test]
async fn text_of_a_delegate_is_not_the_text_of_the_answer() {
    let model = Typing::new([
        Writing::from(&[]).then_call("helper", r#"{"input":"go"}"#),
        Writing::from(&["Done", "."]),
    ]);
    let helper = agent("helper", Typing::new([&["I am ", "helping"]])).build();
    let boss = agent("boss", model).build();
    let team = Member::new(boss).delegate(helper).build();
    let (text, answer) = read(team.run("go").stream().text()).await;
    assert_eq!((&*text, &*answer), ("Done.", "Done."));
}

#[tokio::test]
async fn the_last_agent_of_a_chain_writes_the_answer() {
    let chain = writer("first", &["dra", "ft"]).then(writer("second", &["fin", "al"]));
    let (text, answer) = read(chain.run("go").stream().text()).await;
    assert_eq!((&*text, &*answer), ("draft|final", "final"));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_taken_back() {
    let model = Typing::new([&["no", "ne"], &["4", "2"]]);
    let counter = AgentBuilder::<String, u32>::new("counter")
        .model(model)
        .build();
    let (text, answer) = read(counter.run("?").stream().text()).await;
    assert_eq!((&*text, answer), ("none|42", 42));
}

#[tokio::test]
async fn the_choice_of_a_skill_is_no_text_and_stops_none() {
    let model = Typing::new([&["poe", "try"], &["Roses ", "are red"]]);
    let author = agent("author", model)
        .skill(Skill::model("poetry", "Writes verse."))
        .skill(Skill::model("prose", "Writes prose."))
        .build();
    let (text, answer) = read(author.run("A poem").stream().text()).await;
    assert_eq!((&*text, &*answer), ("Roses are red", "Roses are red"));
}

#[tokio::test]
async fn a_send_of_a_chat_is_a_stream_as_well() {
    let mut chat = agent("host", Typing::new([&["Hel", "lo"], &["A", "da"]]))
        .build()
        .into_chat();
    let (text, _) = read(chat.send("I am Ada.").stream().text()).await;
    assert_eq!(text, "Hello");
    let (text, _) = read(chat.send("Who am I?").stream().text()).await;
    assert_eq!(text, "Ada");
    assert_eq!(chat.messages().len(), 4);
}
