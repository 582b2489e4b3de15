//! Repair: a failure becomes a question to the arms and the repair agents.
//!
//! [`Candidates`](crate::journal::candidates::Candidates), which is data, decides what follows from the answers.

use super::wording;
use crate::{
    context::RunContext,
    definition::AgentDefinition,
    engine::rules::Rules,
    error::{Origin, ToolError},
    journal::{Call, Failed},
    panics::guarded_while,
    recovery::{ErrorContext, FixError, Kind, Plan, Repair, RepairAgentRef, SharedFixer, kinds},
    run::Stop,
};
use std::{pin::pin, time::Duration};

/// Asks the arms what to do about a new failure of a call; returns `None` if no arm decides. The arms are not asked
/// about a call that was denied.
pub(crate) fn decide(rules: &Rules<'_>, call: &Call) -> Option<Plan> {
    let error = &call.candidates.failed()?.error;
    if matches!(error, ToolError::Execution { cause, .. } if cause.origin() == Origin::Denied) {
        return None;
    }
    let context = ErrorContext {
        tool: rules.tool().spec().name.to_string(),
        args: match error {
            ToolError::Execution { args, .. } => Some(args.clone()),
            ToolError::Deserialization { raw_value, .. } => {
                crate::Json::parse(raw_value.clone()).ok()
            }
            _ => None,
        },
        attempt: call.executions(),
        previous: call.candidates.tried(),
        run_id: rules.cx().root.run_id.clone(),
        scope: rules.cx().scope().clone(),
        time_left: rules.cx().time_left(),
    };
    rules.arms().decide(&**rules.tool(), error, &context)
}

/// Returns the report of a call's failure that this repair agent is given; `None` if there is no failure.
pub(crate) fn repair(fixer: &RepairAgentRef, rules: &Rules<'_>, call: &Call) -> Option<Repair> {
    let spec = rules.tool().spec();
    let Failed { text, error } = call.candidates.failed()?;
    Some(Repair {
        tool: spec.name.to_string(),
        description: spec.description.to_string(),
        stage: stage(error).to_owned(),
        raw: text.clone(),
        error: error.to_string(),
        schema: spec.input_schema.clone(),
        attempt: call.candidates.asked(fixer.name()) + 1,
        previous: call.candidates.previous(),
    })
}

fn stage(error: &ToolError) -> &'static str {
    match error {
        ToolError::InvalidArgs { .. } => kinds::InvalidArgs::NAME,
        ToolError::Deserialization { .. } => kinds::Deserialization::NAME,
        ToolError::Execution { .. } | ToolError::Escalation { .. } => kinds::Execution::NAME,
    }
}

/// Result of asking a repair agent for a text in place of one that failed.
pub(crate) struct Repaired {
    pub(crate) answer: Result<String, FixError>,
    /// Number of tokens spent so far at the place of the repair agent. In a stored run, these include the tokens that
    /// earlier processes spent there.
    pub(crate) spent: u64,
    /// Time that the repair agent took for its answer.
    pub(crate) took: Duration,
}

/// Asks a repair agent at the place `cx` for a text, and counts its tokens and its time.
pub(crate) async fn ask(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    fixer: &RepairAgentRef,
    repair: Repair,
) -> Repaired {
    must_be_listed(definition, cx, fixer, &repair.tool).await;
    let started = cx.now();
    let answer = run(definition, cx, fixer, repair).await;
    Repaired {
        answer,
        spent: cx.spent(),
        took: cx.now().since(started),
    }
}

/// Runs the repair agent, and returns its answer or the reason why there is none. If the whole run ends, the function
/// does not return.
async fn run(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    fixer: &RepairAgentRef,
    repair: Repair,
) -> Result<String, FixError> {
    let Some(agent) = find(definition, fixer, &repair.tool) else {
        let name = fixer.name();
        return Err(FixError::Unable(wording::repair_agent_unknown(name)));
    };
    let Some(scope) = cx.repair_scope() else {
        return Err(FixError::Unable(wording::NESTED_TOO_DEEP.into()));
    };
    let cx = cx.repairing(&scope);
    let answer = {
        let mut work = pin!(guarded_while(agent.repair(&cx, repair)));
        tokio::select! {
            biased;
            end = scope.ended() => {
                cx.here().abandon(wording::REPAIR_ENDED_WITH_IT);
                Err(end)
            }
            answer = &mut work => match answer {
                Ok(answer) => answer.map_err(FixError::from),
                Err(panic) => Err(FixError::Failed(wording::repair_agent_panicked(&panic))),
            },
        }
    };
    cx.here().begin_other_work();
    answer
}

/// Returns the repair agent itself: the one that the arm has named or, in a stored run that goes on, the listed one of
/// that name. `None` if no such repair agent is listed.
fn find(
    definition: &AgentDefinition<'_>,
    fixer: &RepairAgentRef,
    tool: &str,
) -> Option<SharedFixer> {
    let named = fixer.live().cloned();
    named.or_else(|| listed(definition, fixer, tool))
}

/// Returns the repair agent of that name that the agent or the tool lists, by which a stored run finds it again.
fn listed(
    definition: &AgentDefinition<'_>,
    fixer: &RepairAgentRef,
    tool: &str,
) -> Option<SharedFixer> {
    let of_name = |fixers: &[SharedFixer]| {
        let mut fixers = fixers.iter();
        fixers
            .find(|listed| listed.fixer_name() == fixer.name())
            .cloned()
    };
    of_name(&definition.fixers).or_else(|| of_name(&definition.tools.get(tool)?.fixers()))
}

/// Checks that a stored run would find the repair agent again.
///
/// A repair agent that only a helper function names cannot be seen when the agent is built. If it is not listed, a
/// warning is logged at its first use. A stored run ends there, before it depends on the repair agent.
async fn must_be_listed(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    fixer: &RepairAgentRef,
    tool: &str,
) {
    if fixer.live().is_none() || listed(definition, fixer, tool).is_some() {
        return;
    }
    let (agent, name) = (&*definition.name, fixer.name());
    let reason = wording::repair_agent_not_listed(name);
    let settings = &cx.root.settings;
    if settings.writer.is_none() {
        tracing::warn!(agent, fixer = name, %reason, "an unlisted repair agent is asked");
        return;
    }
    let agent = agent.into();
    match cx.stop(Stop::Unfit { agent, reason }).await {}
}
