//! Memory of agents from one run to the next.

use crate::world::{Add, Plain, scripted_model, told};
use agents::{
    Agent, AgentBuilder,
    agent::Skill,
    memory::{Memory, MemoryBank, MemoryError, Owner},
    testing::{Script, ScriptedModel},
    tool::Scope,
};

fn clerk(bank: &MemoryBank) -> Plain {
    AgentBuilder::new("clerk")
        .tool(Add)
        .memory(bank.clone())
        .build()
}

fn write(content: &str) -> Script {
    Script::call(
        "memory_write",
        serde_json::json!({ "content": content }).to_string(),
    )
}

#[tokio::test]
async fn what_is_written_in_one_run_is_read_in_the_next() {
    let bank = MemoryBank::new();
    let (model, handle) = ScriptedModel::new([
        Script::call("memory_read", "{}"),
        write("ACME pays late\n\n  Bolt & Co like letters "),
        Script::text("noted"),
    ]);
    clerk(&bank)
        .run("ACME pays late")
        .model(model)
        .await
        .unwrap();
    let tools = ["add", "memory_read", "memory_write", "memory_search"];
    assert_eq!(handle.requests()[0].tools, tools);
    assert_eq!(handle.requests()[1].last(), "You remember nothing yet.");
    assert_eq!(told(&handle), ["Remembered."]);

    let (model, handle) = ScriptedModel::new([
        Script::calls([
            ("memory_read", "{}"),
            ("memory_search", r#"{"query": "LATE acme"}"#),
            ("memory_search", r#"{"query": "late letters"}"#),
        ]),
        Script::text("late"),
    ]);
    clerk(&bank)
        .run("Does ACME pay?")
        .model(model)
        .await
        .unwrap();
    assert_eq!(
        told(&handle),
        [
            "ACME pays late\nBolt & Co like letters",
            "ACME pays late",
            "You remember nothing like that."
        ]
    );
}

#[tokio::test]
async fn each_agent_has_its_own_for_each_of_those_it_works_for() {
    let bank = MemoryBank::new();
    let (model, _) = ScriptedModel::new([write("a secret"), Script::text("noted")]);
    clerk(&bank)
        .run("go")
        .model(model)
        .scope(Scope::from("acme").user("ada"))
        .await
        .unwrap();
    let ada = Owner::agent("clerk").scope(Scope::from("acme").user("ada"));
    assert_eq!(bank.lines(&ada), ["a secret"]);

    let others: [(&str, Scope); 4] = [
        ("clerk", Scope::from("acme").user("bob")),
        ("clerk", Scope::from("bolt").user("ada")),
        ("clerk", Scope::default()),
        ("auditor", Scope::from("acme").user("ada")),
    ];
    for (name, scope) in others {
        let (model, handle) = ScriptedModel::new([
            Script::calls([
                ("memory_read", "{}"),
                ("memory_search", r#"{"query": "secret"}"#),
            ]),
            Script::text("nothing"),
        ]);
        let agent = AgentBuilder::<String, String>::new(name)
            .memory(bank.clone())
            .build();
        agent
            .run("go")
            .model(model)
            .scope(scope.clone())
            .await
            .unwrap();
        assert!(
            !told(&handle).concat().contains("a secret"),
            "{name} {scope:?}"
        );
    }
}

#[tokio::test]
async fn what_is_not_worth_keeping_is_refused() {
    let bank = MemoryBank::new().max_lines(2);
    let (model, handle) = ScriptedModel::new([
        Script::calls([
            ("memory_write", r#"{"content": " \n "}"#.to_owned()),
            (
                "memory_write",
                format!(r#"{{"content": "{}"}}"#, "x".repeat(4_001)),
            ),
            (
                "memory_write",
                r#"{"content": "one\ntwo\nthree"}"#.to_owned(),
            ),
        ]),
        Script::text("noted"),
    ]);
    clerk(&bank).run("go").model(model).await.unwrap();
    let told = told(&handle);
    assert!(
        told[0].contains("there is nothing in `content` to remember"),
        "{}",
        told[0]
    );
    assert!(told[1].contains("this is 4001 bytes long"), "{}", told[1]);
    assert_eq!(
        bank.lines(&Owner::agent("clerk")),
        ["two", "three"],
        "the last are kept"
    );
}

#[tokio::test]
async fn only_skills_that_ask_for_it_have_it() {
    let (model, handle) = ScriptedModel::new([Script::text("noted"), Script::text("2")]);
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(Add)
        .memory(MemoryBank::new())
        .skill(
            Skill::model("note", "Notes.")
                .tools([] as [&str; 0])
                .with_memory()
                .when(|input: &String| input.contains("note")),
        )
        .skill(Skill::model("count", "Counts."))
        .model(model)
        .build();
    agent.run("note this").await.unwrap();
    agent.run("1 + 1").await.unwrap();
    let asked = handle.requests();
    assert_eq!(
        asked[0].tools,
        ["memory_read", "memory_write", "memory_search"]
    );
    assert_eq!(asked[1].tools, ["add"]);
}

#[tokio::test]
async fn a_memory_without_a_skill_and_a_skill_without_a_memory_are_refused() {
    async fn said(agent: Plain) -> agents::Error {
        let run = agent.run("go").model(scripted_model([]));
        run.await.unwrap_err()
    }
    let idle = AgentBuilder::<String, String>::new("clerk")
        .memory(MemoryBank::new())
        .skill(Skill::model("count", "Counts."))
        .build();
    assert_eq!(
        said(idle).await.message(),
        "agent `clerk` has a memory that none of its skills asks for; mark one `#[skill(memory)]`, or call `.with_memory()` on it"
    );
    let without = AgentBuilder::<String, String>::new("clerk")
        .skill(Skill::model("count", "Counts.").with_memory())
        .build();
    assert_eq!(
        said(without).await.message(),
        "skill `count` asks for the memory, and agent `clerk` has none; give it one with `.memory(bank)`"
    );
}

#[tokio::test]
async fn a_memory_that_cannot_be_reached_is_a_failure_of_the_call() {
    struct Away;
    #[agents::async_trait]
    impl Memory for Away {
        async fn read(&self, owner: &Owner) -> Result<Vec<String>, MemoryError> {
            Err(format!("{}'s shelf is away", owner.agent).into())
        }
        async fn write(&self, _: &Owner, _: Vec<String>) -> Result<(), MemoryError> {
            Err("away".into())
        }
    }
    let (model, handle) = ScriptedModel::new([
        Script::call("memory_search", r#"{"query": "ACME"}"#),
        Script::text("I do not know"),
    ]);
    let shelf: std::sync::Arc<dyn Memory> = std::sync::Arc::new(Away);
    let agent = AgentBuilder::<String, String>::new("clerk")
        .memory(shelf)
        .build();
    agent.run("go").model(model).await.unwrap();
    assert!(told(&handle)[0].contains("clerk's shelf is away"));
}

#[tokio::test]
async fn k5_what_a_tool_gave_is_not_kept_word_for_word_nor_is_a_secret() {
    const RULE: &str = "Refunds above 100 EUR need a second signature by an officer.";
    let bank = MemoryBank::new();
    let rule = agents::tool::FnTool::new(
        "rule",
        "Reads a rule.",
        agents::Effects::Reads,
        serde_json::json!({ "type": "object", "properties": {} }),
        |_, _| async { Ok::<_, std::io::Error>(RULE) },
    );
    let clerk: Plain = AgentBuilder::new("clerk")
        .memory(bank.clone())
        .tool(rule)
        .build();
    let (model, handle) = ScriptedModel::new([
        Script::call("rule", "{}"),
        write("The rule says: refunds above 100 EUR need a second signature by an officer"),
        write("The operator asked about refunds; the key is sesame-4711"),
        Script::call("memory_read", "{}"),
        write("The operator asked about refunds; the key is lost"),
        Script::text("done"),
    ]);
    let outcome = clerk.run("go").model(model).secret("key", "sesame-4711");
    let outcome = outcome.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let refused = handle.requests()[2].last().to_owned();
    assert!(
        refused.contains("this is what `rule` gave, word for word"),
        "{refused}"
    );
    let kept = bank.lines(&Owner::agent("clerk"));
    assert_eq!(
        kept.len(),
        2,
        "what was remembered may be said again: {kept:?}"
    );
    assert!(kept[0].starts_with("The operator asked about refunds; the key is "));
    assert!(!kept[0].contains("4711"), "{kept:?}");
}
