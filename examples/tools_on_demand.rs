//! An agent with twelve tools of a tracker, of which it is offered the two that it asks for.
//!
//! `cargo run --example tools_on_demand`
//!
//! No server is needed: a scripted model makes the calls, and the tracker is a list in memory. With
//! `mcp::lazy(..)` in place of the list, and with a model of a provider, the rest of the program stays the same.

use agents::{
    prelude::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{FnTool, RemoteTool, deferred},
};
use serde_json::json;

/// Returns the tools that the tracker lists, as a server of MCP does.
fn tracker() -> Vec<FnTool> {
    let kinds = ["issue", "comment", "label", "milestone"];
    let verbs = ["list", "create", "delete"];
    let names = kinds.iter().flat_map(|kind| verbs.map(|verb| (kind, verb)));
    names.map(|(kind, verb)| listed(kind, verb)).collect()
}

fn listed(kind: &str, verb: &str) -> FnTool {
    let tool: RemoteTool = serde_json::from_value(json!({
        "name": format!("tracker_{verb}_{kind}"),
        "description": format!("Can {verb} a {kind}."),
        "inputSchema": {
            "type": "object",
            "properties": { "project": { "type": "string" }, "number": { "type": "integer" } },
            "required": ["project"],
        },
        "annotations": { "readOnlyHint": verb == "list" },
    }))
    .expect("a tool of MCP");
    let name = tool.name.clone();
    tool.into_tool(move |args, _| {
        let done = format!("{name} is done: {args}");
        async move { Ok::<_, std::io::Error>(done) }
    })
}

/// Tells the time.
#[agents::tool(reads)]
async fn read_clock() -> String {
    "noon".to_owned()
}

/// You keep the tracker of a project in order.
#[agent(tools = [ReadClock, ..deferred(tracker())])]
async fn keeper(request: String) -> String;

/// Approves every request and tells of it. A call of a listed tool that writes asks for approval, whether or not the
/// model has searched for the tool.
async fn ask(request: ApprovalRequest) -> Approval {
    println!("  approved: {} {}", request.tool_name, request.args);
    Approval::Approve
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model makes the calls; the tracker is a list in memory.");
    let (model, handle) = ScriptedModel::new([
        Script::call("search_tools", r#"{"query": "delete a label"}"#),
        Script::call(
            "tracker_delete_label",
            r#"{"project": "ferry", "number": 7}"#,
        ),
        Script::text("Label 7 is gone."),
        // The names are known, so that the model need not search.
        Script::call("tracker_list_milestone", r#"{"project": "ferry"}"#),
        Script::text("There are two milestones."),
    ]);
    let mut chat = Keeper.chat().model(model);
    for request in ["Delete label 7 of ferry.", "Which milestones has it?"] {
        println!("> {request}");
        println!("= {}", chat.send(request).approver(ask).await?);
    }
    println!("offered to the model, request by request:");
    for request in handle.requests() {
        println!("  {}", request.tools.join(" "));
    }
    Ok(())
}
