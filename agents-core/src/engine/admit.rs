//! Admission: the decision whether a call may be made at all.

use super::{rules::Rules, wording};
use crate::{
    Json,
    context::RunContext,
    definition::AgentDefinition,
    panics::guarded,
    policy::{Action, ModelCall, ToolUse, Verdict},
    run::{ApprovalReason, Stop},
    tool::{NeedsApproval, Prepared, SharedTool},
};

/// Returns the tool of a call if the agent has the tool and calls left, the tool is not blocked, and no policy forbids
/// the call; else the error with which the call ends.
///
/// The agent's own list is the whole list: a tool that is not on it does not exist for this agent, whatever other tools
/// the program has.
pub(super) fn admit(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    seq: u32,
    name: &str,
    tool: Option<&SharedTool>,
) -> Result<SharedTool, String> {
    if seq >= definition.budget.tool_calls() {
        let limit = definition.budget.tool_calls();
        return Err(wording::no_calls_left(limit));
    }
    let Some(tool) = tool else {
        return Err(unknown(definition, name));
    };
    if let Some(reason) = tool.spec().status.blocked() {
        let key = tool.spec().key();
        return Err(wording::blocked(&key, reason));
    }
    match judge(definition, cx, tool, None) {
        Verdict::Deny { reason } => Err(reason),
        // The need for approval is decided later, once there are arguments to show.
        Verdict::Allow | Verdict::Confirm => Ok(tool.clone()),
    }
}

/// Returns the verdict of the run's policies on a call. `args` is `None` until the arguments have been read.
pub(super) fn judge(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    tool: &SharedTool,
    args: Option<&Json>,
) -> Verdict {
    let policies = &cx.root.settings.executor.policies;
    if policies.is_empty() {
        return Verdict::Allow;
    }
    policies.judge(&Action::Tool(ToolUse {
        agent: &definition.name,
        spec: tool.spec(),
        is_delegate: tool.is_part_of_the_run(),
        args,
        usage: cx.root.usage(),
        cost: cx.root.node.paid().total(),
        scope: cx.scope(),
    }))
}

/// Returns the reason to stop the run, if its policies forbid a request to the model; else `None`.
pub(super) fn ask_model(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    turn: u32,
    model: &str,
) -> Option<Stop> {
    let policies = &cx.root.settings.executor.policies;
    if policies.is_empty() {
        return None;
    }
    let action = Action::Model(ModelCall {
        agent: &definition.name,
        turn,
        model,
        usage: cx.root.usage(),
        cost: cx.root.node.paid().total(),
        scope: cx.scope(),
    });
    // A policy that panics has not allowed the request.
    let verdict = guarded(|| policies.judge(&action))
        .unwrap_or_else(|panic| Verdict::deny(wording::rule_panicked(&panic)));
    let reason = match verdict {
        Verdict::Allow => return None,
        Verdict::Confirm => wording::CONFIRMED_REQUEST.to_owned(),
        Verdict::Deny { reason } => reason,
    };
    tracing::warn!(agent = %definition.name, model, reason, "the model may not be asked");
    Some(Stop::Denied {
        agent: (*definition.name).into(),
        reason: wording::model_denied(model, &reason),
    })
}

fn unknown(definition: &AgentDefinition<'_>, name: &str) -> String {
    let quoted = |name: &str| format!("`{name}`");
    if definition.open.iter().any(|skill| skill == name) {
        return wording::skill_for_a_tool(name);
    }
    if !definition.open.is_empty() {
        let open: Vec<_> = definition.open.iter().map(|skill| quoted(skill)).collect();
        return wording::no_skill_chosen(&open);
    }
    let allowed: Vec<_> = definition
        .tools
        .offered()
        .map(|spec| quoted(&spec.name))
        .collect();
    wording::no_tool(name, definition.tools.suggest(name), &allowed)
}

/// Returns the reasons why a call needs approval, in this order: the question that it asks, the tool's declaration, the
/// agent's place in its team, the run's policies, an earlier call of the tool that is in doubt.
pub(super) fn reasons_for_approval(
    rules: &Rules<'_>,
    verdict: &Verdict,
    prepared: &Prepared,
) -> Vec<ApprovalReason> {
    let Rules {
        definition,
        tool,
        context,
        ..
    } = *rules;
    let spec = tool.spec();
    let mut reasons = Vec::new();
    if spec.answers.is_some() {
        reasons.push(ApprovalReason::Question);
    }
    match spec.approval {
        NeedsApproval::Never => {}
        NeedsApproval::Always if spec.has_said => reasons.push(ApprovalReason::Always),
        NeedsApproval::Always => reasons.push(ApprovalReason::External),
        NeedsApproval::When if tool.needs_approval(prepared, context) => {
            reasons.push(ApprovalReason::Condition);
        }
        NeedsApproval::When => {}
    }
    if definition.confirms(&spec.name) {
        reasons.push(ApprovalReason::Place);
    }
    if *verdict == Verdict::Confirm {
        reasons.push(ApprovalReason::Policy);
    }
    if context.cx.is_in_doubt(spec.own_name()) {
        reasons.push(ApprovalReason::InDoubt);
    }
    reasons
}
