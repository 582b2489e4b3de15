//! The size of a journal is linear in the length of its run.

use agents::{
    Agent, AgentBuilder, Budget, Effects,
    journal::{Entry, MemoryJournal},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;

/// Number of turns of a long run.
const TURNS: u32 = 200;

#[tokio::test]
async fn s5_12_late_turns_of_a_long_run_take_no_more_bytes_than_early_ones() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let read = FnTool::new(
        "read",
        "Reads.",
        Effects::Reads,
        schema,
        |args, _| async move { Ok::<_, String>(format!("read {args}")) },
    );
    let script = (0..TURNS).map(|n| Script::call("read", format!(r#"{{"n":{}}}"#, 1000 + n)));
    let (model, _) = ScriptedModel::new(script.chain([Script::text("done")]));
    let bounds = Budget::new()
        .max_turns(2 * TURNS)
        .max_tool_calls(2 * TURNS)
        .max_recursion(4 * TURNS);
    let agent = AgentBuilder::<String, String>::new("reader")
        .tool(read)
        .model(model)
        .budget(bounds)
        .build();
    let journal = MemoryJournal::new();
    agent.run("go").journal(journal.clone()).await.unwrap();
    let entries = journal.entries();
    let bytes = |entries: &[Entry]| -> usize {
        let len = |entry: &Entry| serde_json::to_string(entry).unwrap().len();
        entries.iter().map(len).sum()
    };
    let is_turn = |entry: &&[Entry]| entry[0].fact().starts_with(r#"{"asked""#);
    let turns: Vec<usize> = entries
        .chunk_by(|_, next| !next.fact().starts_with(r#"{"asked""#))
        .filter(is_turn)
        .map(bytes)
        .collect();
    assert_eq!(turns.len(), TURNS as usize + 1);
    let (first, last) = (&turns[..100], &turns[100..200]);
    let (first, last): (usize, usize) = (first.iter().sum(), last.iter().sum());
    println!(
        "{} bytes a turn at first, {} at last",
        first / 100,
        last / 100
    );
    assert!(last * 10 <= first * 11, "{first} bytes, then {last}");
}
