//! Runs can be interrupted between any two steps and resumed.

use crate::world::{put_down, put_down_after, same, scripted_model, worker};
use agents::{
    Agent,
    journal::MemoryJournal,
    testing::{Script, ScriptedModel},
};

fn script() -> Vec<Script> {
    vec![
        Script::calls([
            ("add", r#"{"left":1,"right":2}"#),
            ("read_file", r#"{"path":"missing"}"#),
        ]),
        Script::call("add", r#"{"left":"3","right":4}"#),
        Script::text("7"),
    ]
}

/// Returns a model that continues the script after this number of replies.
fn rest(after: usize) -> ScriptedModel {
    scripted_model(script().into_iter().skip(after))
}

#[tokio::test]
async fn from_every_entry_it_comes_to_the_same_end() {
    let journal = MemoryJournal::new();
    let agent = worker::<u32>();
    let run = agent.run("go").model(rest(0)).journal(journal.clone());
    let whole = run.outcome().await.unwrap();
    let all = put_down(&journal);
    assert!(all.len() > 20, "{}", all.len());
    for at in all {
        let run = agent.run("go").model(rest(at.replies()));
        let resumed = run.journal(at.journal()).outcome().await.unwrap();
        same(&resumed, &whole, &at);
    }
}

/// A stored plan names its repair agent, which is found in the arms of the tool.
#[tokio::test]
async fn a_stored_plan_finds_the_repair_agent_of_a_tool_s_own_arms() {
    use agents::{AgentBuilder, prelude::*};

    /// Repairs. Its first answer is invalid, so it is asked twice.
    #[agent(model = scripted_model([Script::text("no help"), Script::text(r#"{"n": 1}"#)]), budget(max_turns = 1))]
    async fn mender(request: String) -> String;

    tool! {
        /// Counts.
        #[tool(none)]
        async fn count(
            /// From where.
            n: u32,
        ) -> u32 { n }

        on_error {
            invalid_args(_, _) => fix(agent = Mender, retries = 3),
        }
    }

    let journal = MemoryJournal::new();
    let script = || vec![Script::call("count", "one, please"), Script::text("end")];
    let agent = AgentBuilder::<String, String>::new("counter")
        .tool(Count)
        .build();
    let (model, _) = ScriptedModel::new(script());
    let run = agent.run("go").model(model).journal(journal.clone());
    run.await.unwrap();
    // The run is interrupted after the repair agent's first answer.
    let stored = put_down_after(&journal, "replied", 2);
    assert!(stored.text().contains("mender"), "{}", stored.text());
    assert_eq!(stored.count("repaired"), 0);
    let (model, _) = ScriptedModel::new(script().into_iter().skip(1));
    let run = agent.run("go").model(model).journal(stored.journal());
    let resumed = run.outcome().await.unwrap();
    let receipt = resumed.outputs.receipts().next().unwrap();
    assert!(
        !format!("{receipt:?}").contains("is not known"),
        "{receipt:?}"
    );
    assert_eq!(resumed.result.unwrap(), "end");
}
