//! An agent that asks before it pays.

use agents::{
    AgentBuilder, Effects,
    agent::ModelAgent,
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, ToolSpec, conflict, undone},
};
use serde_json::{Value, json};
use std::io;

/// Returns an agent that pays with the arguments that are its input, and one euro after a revision. Its answer is what it
/// has paid, and to whom, if somebody was named. A payment can be taken back, unless its recipient is the state.
pub(crate) fn payer() -> ModelAgent<'static, String, String> {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call("pay", asked.last()),
        [(_, told)] if told.contains("make it again") => Script::call("pay", r#"{"amount": 1}"#),
        [(_, told), ..] => Script::text(told),
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "description": "Amount in euros."},
            "to": {"type": "string"},
            "urgent": {"type": "boolean"},
        },
        "required": ["amount"],
        // Hostile arguments have names of their own.
        "additionalProperties": true,
    });
    let spec =
        ToolSpec::new("pay", "Pays.", Effects::Writes, schema).approval(NeedsApproval::Always);
    let pay = FnTool::with_spec(spec, |args: Value, _| async move {
        let amount = &args["amount"];
        Ok::<_, io::Error>(match args["to"].as_str() {
            Some(to) => format!("paid {amount} to {to}"),
            None => format!("paid {amount}"),
        })
    });
    let pay = pay.undo(|args: Value, _: Value, _| async move {
        Ok::<_, io::Error>(match args["to"].as_str() {
            Some("state") => conflict("the state gives nothing back"),
            _ => undone(),
        })
    });
    AgentBuilder::<String, String>::new("payer")
        .tool(pay)
        .model(model)
        .build()
}
