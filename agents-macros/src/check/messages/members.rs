//! What is said of the methods of an agent: its skills and its knowledge.

use crate::check::names;
use std::fmt::Display;

pub(crate) fn skill_lists_types(found: impl Display) -> String {
    format!(
        "`{found}` is not the name of a tool; write the tool's type, such as `ReadFile`, or its name in quotes, such as `\"github_*\"`"
    )
}

pub(crate) fn not_among_tools_of_agent(tool: &str, listed: &[&str]) -> String {
    match names::nearest(tool, listed) {
        Some(meant) => format!("`{tool}` is not among the agent's tools; did you mean `{meant}`?"),
        None => format!(
            "`{tool}` is not among the agent's tools; add it to `tools = [..]` of `#[agent(..)]`, or remove it here"
        ),
    }
}

pub(crate) fn field_of_a_function(field: impl Display) -> String {
    format!(
        "an agent that is a function has no fields: make it a struct with an `#[agent] impl`, and `{field}` a field of that"
    )
}

pub(crate) fn marked_twice() -> &'static str {
    "a method is a skill or knowledge, and is marked once: remove this"
}

pub(crate) fn knowledge_takes_nothing() -> &'static str {
    "`#[knowledge]` takes nothing: its name is the method's, and its description the doc comment"
}

pub(crate) fn knowledge_at_hand(name: impl Display) -> String {
    format!(
        "knowledge is text at hand: write `fn {name}(&self) -> String`; what has to be fetched, and so can fail, is a tool"
    )
}

pub(crate) fn knowledge_without_body(name: impl Display) -> String {
    format!("knowledge is text at hand: give `{name}` a body that returns it")
}

pub(crate) fn knowledge_without_input() -> &'static str {
    "the model asks for knowledge by its name alone; what takes an argument is a tool"
}

pub(crate) fn knowledge_without_self(name: impl Display) -> String {
    format!("knowledge belongs to its agent: write `fn {name}(&self)`")
}

pub(crate) fn knowledge_without_model(ty: impl Display) -> String {
    format!(
        "knowledge is told to a model, and no model drives a skill of `{ty}`; give it a skill without a body, or remove this"
    )
}

pub(crate) fn no_memory(ty: impl Display) -> String {
    format!("`{ty}` has no memory to use here; give it one: `#[agent(memory = ..)]`")
}

pub(crate) fn idle_memory() -> &'static str {
    "no skill asks for the memory; mark those that may use it `#[skill(memory)]`"
}

pub(crate) fn policy_is_a_pair(found: impl Display) -> String {
    format!(
        "`{found}` is not a policy for tools by their names; write `(\"github_*\", ToolPolicy::new().confirm())`"
    )
}

/// `list` is the key of the attribute `of`.
pub(crate) fn attribute_in_a_list(of: &str, list: impl Display) -> String {
    let instead = match (of, list.to_string().as_str()) {
        ("skill", _) => {
            "write the skill twice, each time with its own list, under `#[cfg(..)]` and under `#[cfg(not(..))]`"
        }
        (_, "fixers") => {
            "put the `#[cfg]` into a function that gives the agent, and list what it gives: `fixer()`"
        }
        (_, "policies") => {
            "write the attribute twice, each time with its own list, under `#[cfg_attr(.., agent(..))]` and under `#[cfg_attr(not(..), agent(..))]`"
        }
        _ => "put the `#[cfg]` into a function that gives the others, and write `..others()`",
    };
    format!("what is listed here is always there; {instead}")
}
