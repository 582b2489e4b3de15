//! A control plane in a runtime, on one store.

use super::{activate, operator, prices, reply, scoring};
use agents_control::{ControlPlane, PurposeKey::Scoring, SqliteStore, UsageBy, UsageFilter};
use agents_core::{
    AgentBuilder, Effects,
    testing::{Script, ScriptedModel},
    tool::{FnTool, undone},
};
use agents_runtime::{Runtime, UndoOutcome};
use agents_store::RunFilter;

#[tokio::test]
async fn a_runtime_asks_its_control_plane_and_goes_on_after_a_change() {
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, handle) = ScriptedModel::always(Script::Reply(reply(10, 100)));
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices());
    // The control plane writes into the store before the runtime does.
    activate(&control, scoring()).await;
    let runtime = Runtime::open(store).control(&control);
    let scorer = AgentBuilder::<String, String>::new("scorer")
        .purpose(Scoring)
        .build();
    let scorer = runtime.agent(scorer);
    let outcome = scorer.run("Norway").scope("acme").await.unwrap();
    assert_eq!(outcome, "Oslo");
    activate(&control, scoring().model("p", "other")).await;
    let outcome = scorer.run("Sweden").scope("acme").await.unwrap();
    assert_eq!(outcome, "Oslo");
    assert_eq!(handle.count(), 2);
    let rows = control.usage(&UsageFilter::default()).await.unwrap();
    let models: Vec<_> = rows.iter().map(|row| &*row.model).collect();
    assert_eq!(models, ["other", "m"]);
    assert!(
        rows.iter()
            .all(|row| row.key.org_id == "acme" && !row.run_id.is_empty())
    );
    let filter = UsageFilter::default();
    let agents = control.usage_sums(&filter, UsageBy::Agent).await.unwrap();
    assert_eq!(agents.len(), 1);
    assert_eq!((&*agents[0].of, agents[0].call_count), ("scorer", 2));
}

#[tokio::test]
async fn a_runtime_refuses_a_model_that_is_not_admitted() {
    let store = SqliteStore::in_memory().await.unwrap();
    let (raw, handle) = ScriptedModel::always(Script::text("Oslo"));
    let control = ControlPlane::open(&store);
    let runtime = Runtime::open(store).control(&control);
    let agent = AgentBuilder::<String, String>::new("geographer")
        .model(raw)
        .build();
    let error = runtime.agent(agent).run("Norway").await.unwrap_err();
    assert!(error.to_string().contains("not admitted"), "{error}");
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn an_undo_needs_no_model_that_the_control_plane_admits() {
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, _) = ScriptedModel::new([Script::call("file", "{}"), Script::text("Filed.")]);
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices());
    activate(&control, scoring()).await;
    let schema = serde_json::json!({"type": "object"});
    let file = FnTool::new("file", "Files.", Effects::Writes, schema, |_, _| async {
        Ok::<_, std::io::Error>("filed")
    });
    let file = file.undo(|_, _, _| async { Ok::<_, std::io::Error>(undone()) });
    let runtime = Runtime::open(store).control(&control);
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .purpose(Scoring)
        .tool(file);
    let clerk = runtime.agent(clerk.build());
    assert_eq!(clerk.run("File it.").await.unwrap(), "Filed.");
    let client = runtime.as_client();
    let run = client.runs(&RunFilter::default()).await.unwrap().remove(0);
    let ran = client.executions(&run.id, &operator()).await.unwrap();
    let undone = runtime.undo(&ran[0].execution_id).by(&operator()).await;
    assert_eq!(undone.unwrap(), UndoOutcome::Undone);
}
