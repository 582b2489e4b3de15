//! A run can be put down between any two steps and picked up again.

use crate::world::worker;
use agents::{
    Agent,
    run::Snapshot,
    testing::{Script, ScriptedModel},
};
use std::sync::{Arc, Mutex};

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

/// A model that goes on where a conversation stands.
fn rest(after: usize) -> ScriptedModel {
    ScriptedModel::new(script().into_iter().skip(after)).0
}

#[tokio::test]
async fn every_snapshot_leads_to_the_same_end() {
    let kept: Arc<Mutex<Vec<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let agent = worker::<u32>();
    let whole = agent
        .run("go")
        .model(rest(0))
        .on_checkpoint(move |snapshot| keep.lock().unwrap().push(snapshot))
        .outcome()
        .await
        .unwrap();
    let snapshots = kept.lock().unwrap().clone();
    assert_eq!(
        snapshots.len(),
        7,
        "three replies, two rounds of calls, and each of two calls made together"
    );
    for snapshot in snapshots {
        let text = serde_json::to_string(&snapshot).unwrap();
        let turns = text.matches(r#""role":"assistant""#).count();
        let loaded: Snapshot = serde_json::from_str(&text).unwrap();
        let resumed = agent
            .resume(loaded)
            .model(rest(turns))
            .outcome()
            .await
            .unwrap();
        assert_eq!(resumed.run_id, whole.run_id);
        assert_eq!(
            resumed.result.as_ref().unwrap(),
            whole.result.as_ref().unwrap()
        );
        assert_eq!(resumed.outputs.tool_order, whole.outputs.tool_order);
        assert_eq!(resumed.outputs.response, whole.outputs.response);
        assert_eq!(resumed.usage, whole.usage);
    }
}

#[tokio::test]
async fn a_snapshot_belongs_to_its_agent() {
    let kept: Arc<Mutex<Option<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let keeper = move |snapshot| *keep.lock().unwrap() = Some(snapshot);
    worker::<u32>()
        .run("go")
        .model(rest(0))
        .on_checkpoint(keeper)
        .await
        .unwrap();
    let snapshot = kept.lock().unwrap().clone().unwrap();
    let other = agents::AgentBuilder::<String, u32>::new("other").build();
    let error = other.resume(snapshot).model(rest(0)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the stored run belongs to agent `worker`, not to `other`"
    );
}

/// A stored plan names its repair agent; the tool whose arms named it has it.
#[tokio::test]
async fn a_stored_plan_finds_the_repair_agent_of_a_tool_s_own_arms() {
    use agents::{AgentBuilder, prelude::*};

    /// Mends. It is asked twice: the first answer is no help.
    #[agent(model = ScriptedModel::new([Script::text("no help"), Script::text(r#"{"n": 1}"#)]).0, budget(max_turns = 1))]
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

    let kept: Arc<Mutex<Vec<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let script = || vec![Script::call("count", "one, please"), Script::text("end")];
    let agent = AgentBuilder::<String, String>::new("counter")
        .tool(Count)
        .build();
    let (model, _) = ScriptedModel::new(script());
    let keeper = move |snapshot| keep.lock().unwrap().push(snapshot);
    agent
        .run("go")
        .model(model)
        .on_checkpoint(keeper)
        .await
        .unwrap();
    // Where the repair agent has answered for the first time.
    let stored = serde_json::to_string(&kept.lock().unwrap()[1]).unwrap();
    assert!(
        stored.contains("mender") && !stored.contains("no help\",\"error"),
        "{stored}"
    );
    let (model, _) = ScriptedModel::new(script().into_iter().skip(1));
    let resumed = agent
        .resume(serde_json::from_str(&stored).unwrap())
        .model(model)
        .outcome()
        .await
        .unwrap();
    let receipt = resumed.outputs.receipts().next().unwrap();
    assert!(
        !format!("{receipt:?}").contains("is not known"),
        "{receipt:?}"
    );
    assert_eq!(resumed.result.unwrap(), "end");
}
