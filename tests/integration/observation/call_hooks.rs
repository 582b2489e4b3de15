//! The hook `on_receipt` is called once for every receipt, with the cost of the models within the call.

use crate::world::{Add, Plain, spec};
use agents::{
    Agent, AgentBuilder, Effects,
    model::{Reply, Usage},
    recovery::{CallError, InvalidArgs, fix_with},
    run::{Cost, ToolCallMetadata, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    io,
    sync::{Arc, Mutex},
};

/// Calls that the hook was told of, with their receipts.
#[derive(Clone, Default)]
struct Bill(Arc<Mutex<Vec<(ToolEnvelope, ToolCallMetadata)>>>);

impl Bill {
    fn hook(&self) -> impl Fn(&ToolEnvelope, &ToolCallMetadata) + Send + Sync + 'static {
        let lines = self.0.clone();
        move |receipt, call| lines.lock().unwrap().push((receipt.clone(), call.clone()))
    }

    /// Returns the tokens and the cost of the calls of a tool, in order.
    fn of(&self, tool: &str) -> Vec<(u64, Option<Cost>)> {
        let lines = self.0.lock().unwrap();
        let lines = lines.iter().filter(|(receipt, _)| receipt.name == tool);
        lines
            .map(|(_, call)| (call.tokens.unwrap(), call.cost))
            .collect()
    }
}

/// A reply that takes a million tokens.
fn dear(content: &str) -> Script {
    let content = content.to_owned();
    Script::with(move |_| Reply {
        content: content.clone(),
        usage: Usage {
            input_tokens: 1_000_000,
            requests: 1,
            ..Usage::default()
        },
        ..Reply::default()
    })
}

#[tokio::test]
async fn t13_the_hook_is_told_of_every_receipt_with_its_cost() {
    let (mender, _) = ScriptedModel::always(dear(r#"{"left": 1, "right": 2}"#));
    let mender: Arc<Plain> = Arc::new(AgentBuilder::new("mender").model(mender).build());
    let (helper, _) = ScriptedModel::always(dear("of the helper"));
    let helper: Plain = AgentBuilder::new("helper").model(helper).build();
    let helper = Arc::new(helper);
    let asks = {
        let helper = helper.clone();
        FnTool::with_spec(spec("ask", Effects::Reads), move |_, _| {
            let helper = helper.clone();
            async move { helper.run("?").await.map_err(io::Error::other) }
        })
    };
    // A run of its own in the body has receipts of its own. Its cost belongs to the call around it.
    let alone = {
        let helper = helper.clone();
        FnTool::with_spec(spec("alone", Effects::Reads), move |_, _| {
            let helper = helper.clone();
            async move {
                let outcome = helper.run("?").price("*", 7.0, 7.0).outcome().await;
                outcome.unwrap().result.map_err(io::Error::other)
            }
        })
    };
    let (model, _) = ScriptedModel::new([
        Script::calls([
            ("add", "one and two"),
            ("ask", "{}"),
            ("alone", "{}"),
            ("manual", "{}"),
            ("nobody", "{}"),
        ]),
        Script::calls(vec![("ask", "{}"); 30]),
    ]);
    let agent: Plain = AgentBuilder::new("clerk")
        .tool(Add)
        .tool(asks)
        .tool(alone)
        .knowledge("manual", "The manual.", || "Read it.")
        .on_error(move |error, _| match error {
            CallError::InvalidArgs(..) => Some(fix_with::<InvalidArgs>(mender.clone()).into()),
            _ => None,
        })
        .model(model)
        .build();
    let bill = Bill::default();
    let run = agent.run("go").price("*", 3.0, 3.0).on_receipt(bill.hook());
    let outcome = run.outcome().await.unwrap();

    // As many as receipts, and the same ones, whatever became of the calls.
    let told: Vec<_> = bill.0.lock().unwrap().clone();
    assert_eq!(told.len(), outcome.outputs.receipts().count());
    for (receipt, call) in &told {
        assert_eq!(&*outcome.outputs.tools_by_id[&receipt.call_id], receipt);
        assert_eq!((&call.tool_name, call.ok), (&receipt.name, receipt.is_ok()));
        assert_eq!(
            (call.started_at, call.ended_at),
            (receipt.t_start, receipt.t_end)
        );
        assert_eq!(*call.trace_id, *outcome.trace.id);
    }
    assert!(told.iter().any(|(receipt, _)| receipt.name == "manual"));
    assert!(
        told.iter().filter(|(_, call)| !call.ok).count() > 6,
        "30 calls are too many"
    );

    let million = 1_000_000;
    assert_eq!(
        bill.of("add"),
        [(million, Some(Cost::of(3.0)))],
        "the repair"
    );
    assert_eq!(
        bill.of("ask")[0],
        (million, Some(Cost::of(3.0))),
        "an agent in the body"
    );
    assert_eq!(
        bill.of("alone"),
        [(million, Some(Cost::of(7.0)))],
        "a run of its own"
    );
    assert_eq!(bill.of("nobody"), [(0, Some(Cost::ZERO))]);
    // What was told and the turns of the agent itself are all there is.
    let within: u64 = told
        .iter()
        .filter_map(|(_, call)| call.cost)
        .map(Cost::nanos)
        .sum();
    assert!(outcome.cost.unwrap().nanos() >= within);
}

#[tokio::test]
async fn a_cost_is_unknown_where_a_model_within_the_call_has_no_price() {
    let (helper, _) = ScriptedModel::always(Script::text("of the helper"));
    let helper: Arc<Plain> = Arc::new(AgentBuilder::new("helper").model(helper).build());
    let asks = FnTool::with_spec(spec("ask", Effects::Reads), move |_, _| {
        let helper = helper.clone();
        async move { helper.run("?").await.map_err(io::Error::other) }
    });
    let (model, _) = ScriptedModel::new([
        Script::calls([("ask", "{}"), ("add", r#"{"left": 1, "right": 2}"#)]),
        Script::text("done"),
    ]);
    let agent: Plain = AgentBuilder::new("clerk")
        .tool(Add)
        .tool(asks)
        .model(model)
        .build();
    let bill = Bill::default();
    let panics =
        |_: &ToolEnvelope, _: &ToolCallMetadata| panic!("a hook that panics stops nothing");
    let run = agent.run("go").on_receipt(panics).on_receipt(bill.hook());
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(bill.of("ask")[0].1, None);
    assert_eq!(bill.of("add"), [(0, Some(Cost::ZERO))]);
}
