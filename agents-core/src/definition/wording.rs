//! Texts about what an agent brings to its turns.

use crate::{model::PurposeKey, tool::Pattern};

pub(super) const NOT_TEXT: &str = "the answer is not text";
pub(super) const TAKEN_OUT: &str = "taken out of the text around it";
pub(super) const VALUE_ALONE: &str =
    "the text says more than the value; write the value alone in the last line";

/// Text of the error of an answer that could have meant something else.
pub(super) fn uncertain(note: &str) -> String {
    format!("not certain ({note}); write the value alone, as JSON has it")
}

pub(super) const KNOWLEDGE_OF_ANOTHER: &str = "only the agent that has this knowledge can read it";

pub(super) fn prompt_of(agent: &str) -> String {
    format!("the prompt of agent `{agent}`")
}

// ---- models ----

/// Text of the error of an agent without a model. `repair_agents` are those of the agent's arms, in backticks.
pub(super) fn no_model(agent: &str, repair_agents: &[String]) -> String {
    let along = match repair_agents {
        [] => String::new(),
        names => format!(
            "; the repair agents of its arms ({}) use the same model, unless they bring their own",
            names.join(", ")
        ),
    };
    format!(
        "agent `{agent}` has no model; name one with `#[agent(model = ..)]` or `AgentBuilder::model`, or give one to the whole run with `.run(..).model(..)`{along}"
    )
}

/// Text of the error of a purpose without a model. `skill` is the skill that has the purpose, if it is not the agent's
/// own.
pub(super) fn no_model_for(agent: &str, skill: Option<&str>, purpose: &PurposeKey) -> String {
    let who = match skill {
        None => format!("agent `{agent}`"),
        Some(skill) => format!("skill `{skill}` of agent `{agent}`"),
    };
    format!(
        "{who} has the purpose `{purpose}`, and the run knows no models for purposes; give it a control plane with `.run(..).purposes(..)`, or a model with `.run(..).model(..)`"
    )
}

// ---- tools ----

pub(super) fn source_of(names: &Pattern) -> String {
    format!("the source of the tools `{names}`")
}

pub(super) fn stray_in_list(names: &Pattern, stray: &str) -> String {
    format!(
        "the source of the tools `{names}` lists `{stray}`, which does not match; correct the pattern of the source, or the name of the tool"
    )
}

/// Text of the error of a policy that asks for less than the tools demand. `tools` are names in backticks.
pub(super) fn loosened(agent: &str, pattern: &Pattern, tools: &[String]) -> String {
    let tools = tools.join(", ");
    format!(
        "the policy of agent `{agent}` for `{pattern}` asks for less approval than {tools} demands; a policy can only ask for more, so change the tool or remove the policy"
    )
}

/// `share` is not more than 0, or more than 1.
pub(super) fn no_share(agent: &str, share: f64) -> String {
    format!(
        "the `context` of {agent} is shortened at {share} of the window; give a share of more than 0 and at most 1, such as `.at(0.75)`"
    )
}

// ---- folders of knowledge ----

pub(super) const FURTHER_FILE: &str =
    "A further file, by its name. Leave it out for the text that says what the files are for.";
