//! Texts about agents, their skills and their knowledge.

use std::fmt::Display;

pub(crate) fn one_input(name: impl Display) -> String {
    format!("an agent takes one input: put what `{name}` takes into a struct or a tuple")
}

pub(crate) fn bodiless_not_async(name: impl Display) -> String {
    format!("`{name}` has no body, so a model is asked, over the network; write `async fn {name}`")
}

pub(crate) fn bodiless_result() -> &'static str {
    "a model gives an answer, no `Result`: write the type of the answer alone; what goes wrong is the error of the run"
}

pub(crate) fn bodiless_without_answer(name: impl Display) -> String {
    format!("say what the model is to answer: `fn {name}(..) -> Answer;`")
}

pub(crate) fn no_prompt(name: impl Display) -> String {
    format!("tell the model what `{name}` is: write `/// You are ..` above it, or `prompt = ..`")
}

pub(crate) fn no_prompt_for_skills(name: impl Display, is_described: bool) -> String {
    let others = match is_described {
        true => "; the comment above the `impl` is what other agents are told",
        false => "",
    };
    format!(
        "a model drives `{name}`, so tell it what it is: `#[agent(prompt = \"You are ..\")]`{others}"
    )
}

pub(crate) fn name_of_a_model(name: &str) -> String {
    format!("this is the name of a model; say who runs it: `model = ollama({name:?})`")
}

pub(crate) fn model_and_purpose(name: impl Display) -> String {
    format!("`{name}` has a model, so nobody asks for its purpose; remove `model` or `purpose`")
}

pub(crate) fn purpose_as_text(name: &str) -> String {
    format!(
        "a purpose is a value: `purpose = PurposeKey::Reasoning`, or one of your own, `static TRIAGE: PurposeKey = PurposeKey::extra({name:?})`"
    )
}

pub(crate) fn undescribed_agent(name: impl Display) -> String {
    format!("say what agent `{name}` does: write `/// ..` above it, or `description = ..`")
}

pub(crate) fn no_model_here(key: impl Display, name: impl Display) -> String {
    format!(
        "`{key}` is for a model, and `{name}` has a body: no model is asked; remove the one or the other"
    )
}

pub(crate) fn no_skill(ty: impl Display) -> String {
    format!("`{ty}` has no skill, so nothing could be asked of it: mark a method `#[skill]`")
}

pub(crate) fn bodiless_without_skill(name: impl Display) -> String {
    format!("`{name}` has no body; mark it `#[skill]` if the model is to do the work")
}

pub(crate) fn skill_without_self(name: impl Display) -> String {
    format!("a skill belongs to its agent: write `fn {name}(&self, ..)`")
}

pub(crate) fn by_shared_reference(what: &str) -> String {
    format!(
        "an agent may be asked many things at once, so {what} takes `&self`; keep what changes behind a `Mutex`"
    )
}

pub(crate) fn skills_differ(
    what: &str,
    this: impl Display,
    first: impl Display,
    other: impl Display,
) -> String {
    format!(
        "the skills of one agent share their {what}: this is `{this}`, and `{first}` has `{other}`"
    )
}

pub(crate) fn trait_impl() -> &'static str {
    "an agent is made of an `impl` block of its own: write `impl Type { .. }`, without a trait"
}

pub(crate) fn unnamed_type() -> &'static str {
    "the agent takes its name from its type: write `impl Type { .. }`"
}

pub(crate) fn skill_lists_types(found: impl Display) -> String {
    format!(
        "`{found}` is not the name of a tool; write the tool's type, such as `ReadFile`, or its name in quotes, such as `\"github_*\"`"
    )
}

pub(crate) fn not_among_tools_of_agent(tool: &str, meant: Option<&str>) -> String {
    match meant {
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

/// Text of the error of an attribute in a list; `list` is the key of the attribute `of`.
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
