//! An agent with fields and one job: its method needs no `#[skill]`, and nothing is chosen.

use crate::world::{put_down, same};
use agents::{
    Agent, console,
    journal::MemoryJournal,
    memory::MemoryBank,
    prelude::agent,
    run::EventKind,
    structure,
    testing::{Script, ScriptedModel},
    tool,
};
use std::sync::{Arc, Mutex};

/// Looks around.
#[tool(none)]
async fn look() -> &'static str {
    "dark"
}

struct Clerk {
    office: &'static str,
}

#[agent(tools = [Look])]
impl Clerk {
    /// You answer letters. Always answer in French.
    async fn answer(&self, letter: String) -> String;

    fn place(&self) -> String {
        format!("the office in {}", self.office)
    }

    fn new(office: &'static str) -> Self {
        Clerk { office }
    }
}

struct Marked;

#[agent]
impl Marked {
    /// You answer letters. Always answer in French.
    #[skill]
    async fn answer(&self, letter: String) -> String;
}

struct Prompted {
    language: &'static str,
}

/// Answers letters for others.
#[agent(prompt = format!("You write {}.", self.language))]
impl Prompted {
    /// You answer letters.
    async fn answer(&self, letter: String) -> String;

    /// House style.
    #[knowledge]
    fn style(&self) -> &'static str {
        "short"
    }
}

struct Quiet;

#[agent(prompt = "You are quiet.")]
impl Quiet {
    async fn answer(&self, letter: String) -> String;
}

struct Adder {
    more: i64,
}

#[agent]
impl Adder {
    /// Adds.
    fn add(&self, to: i64) -> i64 {
        to + self.more
    }

    fn of(more: i64) -> Self {
        Adder { more }
    }
}

struct Keeper {
    bank: Arc<MemoryBank>,
}

#[agent(memory = self.bank.clone())]
impl Keeper {
    /// You keep things in mind.
    async fn keep(&self, what: String) -> String;
}

/// The instructions of the first request.
async fn instructions<A: Agent<In = String, Out = String>>(agent: &A) -> String {
    let (model, handle) = ScriptedModel::new([Script::text("Bonjour")]);
    assert_eq!(agent.run("Hello").model(model).await.unwrap(), "Bonjour");
    handle.requests()[0].prompt().to_owned()
}

#[tokio::test]
async fn the_doc_comment_of_the_job_is_what_the_model_reads() {
    let said = "You answer letters. Always answer in French.";
    let clerk = Clerk::new("Lyon");
    assert_eq!(instructions(&clerk).await, said);
    assert_eq!(instructions(&Marked).await, said);
    assert_eq!(clerk.place(), "the office in Lyon");
    let prompted = Prompted { language: "French" };
    assert_eq!(
        instructions(&prompted).await,
        "You write French.\n\nYou answer letters."
    );
    assert_eq!(instructions(&Quiet).await, "You are quiet.");
}

#[tokio::test]
async fn others_are_told_the_doc_comment_too() {
    assert_eq!(
        Clerk::new("Lyon").description(),
        "You answer letters. Always answer in French."
    );
    let prompted = Prompted { language: "French" };
    assert_eq!(prompted.description(), "Answers letters for others.");
    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    let team = structure!(Quiet.delegates(Marked));
    team.run("go").model(model).await.unwrap();
    let offered = handle.requests()[0].declarations.to_string();
    assert!(offered.contains("Always answer in French."), "{offered}");
}

#[tokio::test]
async fn code_may_do_the_job() {
    assert_eq!(Adder::of(2).run(40).await.unwrap(), 42);
    assert_eq!(Adder { more: 1 }.add(1), 2);
}

#[tokio::test]
async fn the_job_has_the_memory() {
    let keeper = Keeper {
        bank: MemoryBank::new().into(),
    };
    let (model, handle) = ScriptedModel::new([Script::text("kept")]);
    keeper.run("this").model(model).await.unwrap();
    assert!(
        handle.requests()[0]
            .tools
            .contains(&"memory_write".to_owned())
    );
}

#[tokio::test]
async fn nothing_is_chosen_and_nothing_is_said_of_a_choice() {
    let chosen = Arc::new(Mutex::new(Vec::new()));
    let heard = chosen.clone();
    let clerk = Clerk::new("Lyon");
    let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("sombre")]);
    let run = clerk.run("?").model(model).on_event(move |event| {
        if let EventKind::SkillChosen { skill } = &event.kind {
            heard.lock().unwrap().push(skill.clone());
        }
    });
    let journal = MemoryJournal::new();
    run.on_event(console::print_line)
        .journal(journal.clone())
        .await
        .unwrap();
    assert_eq!(*chosen.lock().unwrap(), [""; 0]);
    assert!(
        journal
            .entries()
            .iter()
            .all(|entry| entry.kind() != "chosen")
    );
}

#[tokio::test]
async fn a_stored_run_of_one_job_goes_on() {
    let clerk = Clerk::new("Lyon");
    let script = || [Script::call("look", "{}"), Script::text("sombre")];
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new(script());
    let run = clerk.run("?").model(model).journal(journal.clone());
    let whole = run.outcome().await.unwrap();
    for stored in put_down(&journal) {
        let rest = script().into_iter().skip(stored.replies());
        let (model, _) = ScriptedModel::new(rest);
        let run = clerk.run("?").model(model).journal(stored.journal());
        same(&run.outcome().await.unwrap(), &whole, &stored);
    }
}

#[tokio::test]
async fn one_job_can_be_talked_to() {
    let clerk = Clerk::new("Lyon");
    let (model, handle) = ScriptedModel::new([Script::text("Oui"), Script::text("Non")]);
    let mut chat = clerk.chat().model(model);
    assert_eq!(chat.send("Yes?").await.unwrap(), "Oui");
    assert_eq!(chat.send("No?").await.unwrap(), "Non");
    assert_eq!(handle.requests()[1].messages.len(), 4);
}
