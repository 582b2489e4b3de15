//! Stage 1: may this call be made at all?

use crate::{
    Json,
    agent::Brain,
    error::{Cause, ToolError},
    run::{ApprovalRequest, CallState},
    tool::{SharedTool, ToolContext, ToolSpec},
};

/// The tool, if the agent has it and has calls left.
///
/// The agent's own list is the whole list: a tool that is not on it does not exist for this agent,
/// whatever else the program knows.
pub(super) fn admit(brain: &Brain<'_>, call: &CallState) -> Result<SharedTool, ToolError> {
    if call.seq >= brain.budget.tool_calls() {
        let limit = brain.budget.tool_calls();
        return Err(denied(
            call,
            format!("all {limit} tool calls are used up; answer with what you have"),
        ));
    }
    let Some(tool) = brain.tools.get(&call.call.name) else {
        return Err(denied(call, unknown(brain, &call.call.name)));
    };
    if let Some(reason) = tool.spec().status.blocked() {
        let key = tool.spec().key();
        return Err(denied(call, format!("`{key}` is blocked: {reason}")));
    }
    Ok(tool.clone())
}

fn denied(call: &CallState, reason: String) -> ToolError {
    ToolError::Execution {
        args: Json::string(&call.call.arguments),
        cause: Cause::denied(reason),
    }
}

fn unknown(brain: &Brain<'_>, name: &str) -> String {
    let suggestion = match brain.tools.suggest(name) {
        Some(meant) => format!(" did you mean `{meant}`?"),
        None => String::new(),
    };
    let allowed: Vec<_> = brain
        .tools
        .offered()
        .map(|spec| format!("`{}`", spec.name))
        .collect();
    match allowed.is_empty() {
        true => format!("there is no tool `{name}`; you have no tools, so answer in text"),
        false => format!(
            "there is no tool `{name}`;{suggestion} you have {}",
            allowed.join(", ")
        ),
    }
}

/// Whether a call needs approval: by the agent's place in its team, else by the tool's own word.
pub(super) fn needs_approval(
    brain: &Brain<'_>,
    tool: &SharedTool,
    prepared: &crate::tool::Prepared,
    cx: &ToolContext,
) -> bool {
    use crate::tool::Approval;
    match tool.spec().approval {
        _ if brain.confirms(&tool.spec().name) => true,
        Approval::Never => false,
        Approval::Always => true,
        Approval::When => tool.needs_approval(prepared, cx),
    }
}

pub(super) fn approval_request(
    brain: &Brain<'_>,
    tool: &SharedTool,
    args: Json,
    context: &ToolContext,
) -> ApprovalRequest {
    let ToolSpec { name, effects, .. } = tool.spec();
    ApprovalRequest {
        agent_name: brain.name.to_string(),
        tool_name: name.to_string(),
        args,
        effects: *effects,
        call_id: context.call_id.to_string(),
    }
}
