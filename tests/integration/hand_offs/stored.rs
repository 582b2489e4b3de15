//! Hand-offs of runs that are stored.

use agents::{
    Agent, AgentBuilder,
    agent::ModelAgent,
    journal::{MemoryJournal, Recorded},
    testing::{Script, ScriptedModel},
};

fn triage(model: ScriptedModel) -> ModelAgent<'static, String, String> {
    let refunds = AgentBuilder::<String, String>::new("refunds")
        .prompt("You pay back.")
        .build();
    AgentBuilder::new("triage")
        .prompt("You find out.")
        .model(model)
        .hand_off(refunds)
        .build()
}

/// Creates a model that hands over as `triage`, and answers as anybody else.
fn model() -> ScriptedModel {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.prompt() {
        "You find out." => Script::call("hand_off_to_refunds", "{}"),
        _ => Script::text("Paid."),
    });
    model
}

#[tokio::test]
async fn a_run_goes_on_at_every_entry_and_ends_alike() {
    let journal = MemoryJournal::new();
    let run = triage(model())
        .run("Money!")
        .journal(journal.clone())
        .outcome()
        .await;
    assert_eq!(run.unwrap().result.unwrap(), "Paid.");
    let entries = journal.entries();
    assert!(entries.len() > 8);
    for end in 1..=entries.len() {
        let journal = MemoryJournal::of(entries[..end].to_vec());
        let outcome = triage(model())
            .run("Money!")
            .journal(journal.clone())
            .outcome()
            .await
            .unwrap();
        assert_eq!(outcome.result.unwrap(), "Paid.", "after {end} entries");
        assert_eq!(outcome.outputs.tool_order.len(), 1, "after {end} entries");
        assert_eq!(outcome.usage.requests, 2, "after {end} entries");
        assert!(Recorded::of(journal.entries()).is_ok());
    }
}
