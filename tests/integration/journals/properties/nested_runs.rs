//! Nested runs with separate journals.

use agents::{
    Agent, AgentBuilder, Effects,
    journal::MemoryJournal,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn a_run_within_another_goes_on_with_its_own_journal() {
    let (model, handle) = ScriptedModel::new([Script::text("helped")]);
    let helper = AgentBuilder::<String, String>::new("helper").model(model);
    let (helper, journal) = (Arc::new(helper.build()), MemoryJournal::new());
    let schema = json!({"type": "object"});
    let ask = FnTool::new("ask", "Asks.", Effects::None, schema, move |_, _| {
        let (helper, journal) = (helper.clone(), journal.clone());
        async move { helper.run("go").journal(journal).await }
    });
    let round = || [Script::call("ask", "{}"), Script::text("done")];
    let (model, _) = ScriptedModel::new(round().into_iter().chain(round()));
    let lead = AgentBuilder::<String, String>::new("lead")
        .tool(ask)
        .model(model)
        .build();
    for _ in 0..2 {
        let outcome = lead.run("go").outcome().await.unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""helped""#);
    }
    assert_eq!(handle.count(), 1, "its outcome was stored");
}
