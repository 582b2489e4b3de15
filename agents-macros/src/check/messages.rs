//! Every wording: what is wrong, then the way out; lower case, no full stop, code in backticks.

mod members;
mod team;

pub(crate) use members::*;
pub(crate) use team::*;

use crate::parse::keys::{Key, Verb};
use quote::ToTokens;
use std::fmt::Display;
use syn::Ident;

// Syntax.

pub(crate) const NOT_A_FUNCTION: &str = "a tool is a function: expected `async fn`";
pub(crate) const NOT_AN_AGENT: &str =
    "an agent is a function or an `impl` block: expected `fn` or `impl`";
pub(crate) const AFTER_THE_TOOL: &str = "nothing but `on_error { .. }` can follow the function";
pub(crate) const COMMA_BEFORE_ARM: &str = "expected `,` before the next arm";

pub(crate) fn parameter_without_type(name: &Ident) -> String {
    format!("`{name}` needs a type: write `{name}: Type`")
}

pub(crate) fn second_tool(name: &Ident) -> String {
    format!("one tool in one `tool!`: give `{name}` a `tool!` of its own")
}

pub(crate) fn on_error_twice() -> &'static str {
    "a tool has one `on_error`: put all the arms into it"
}

pub(crate) fn attribute_with_equals(path: &syn::Path) -> String {
    let path = path.to_token_stream();
    format!("write `#[{path}(..)]`, with parentheses")
}

// Keys.

/// `unknown kind ..; did you mean ..?`, or all that there are if nothing is near.
pub(crate) fn unknown(what: &str, found: impl Display, known: &[&str]) -> String {
    match super::names::nearest(&found.to_string(), known) {
        Some(nearest) => format!("unknown {what} `{found}`; did you mean `{nearest}`?"),
        None => format!("unknown {what} `{found}`; expected {}", one_of(known)),
    }
}

pub(crate) fn twice(name: impl Display) -> String {
    format!("`{name}` is given twice; keep one")
}

pub(crate) fn takes_nothing(name: impl Display) -> String {
    format!("`{name}` takes no value; write `{name}` alone")
}

pub(crate) fn written_as(key: &Key) -> String {
    format!("`{}` is written `{}`", key.name, key.usage)
}

pub(crate) fn crate_wants_a_path() -> &'static str {
    "`crate` takes a path, without quotes: `crate = path::to::agents`"
}

pub(crate) fn budget_wants_values(found: impl Display) -> String {
    format!("`{found}` is not a bound; write `budget(max_turns = 10)`, each bound with its value")
}

pub(crate) fn spread_of_a_list(found: impl Display) -> String {
    format!("a range is not a tool; write `..{found}` to add all the tools of `{found}`")
}

// Tools.

pub(crate) fn no_effects(name: impl Display) -> String {
    format!(
        "say what `{name}` does to the world: `#[tool(none)]`, `#[tool(reads)]` or `#[tool(writes)]`"
    )
}

pub(crate) fn two_effects(names: &[&str]) -> String {
    format!(
        "{} exclude each other; keep the strongest that is true",
        all_of(names)
    )
}

pub(crate) fn cached_write() -> &'static str {
    "a tool that writes has to run each time; remove `cache`"
}

pub(crate) fn external_without_effects() -> &'static str {
    "`external` says that effects leave the organisation, `none` that there are no effects; write `reads` or `writes`, or remove `external`"
}

pub(crate) fn undescribed(what: &str, name: impl Display) -> String {
    format!("tell the model what {what} `{name}` is for: write `/// ..` above it")
}

pub(crate) fn not_async(name: impl Display) -> String {
    format!("a tool is an async function; write `async fn {name}`")
}

pub(crate) fn no_body(name: impl Display) -> String {
    format!(
        "a tool does its work itself: give `{name}` a body; only an `#[agent]` can leave it to a model"
    )
}

pub(crate) fn not_generic(what: &str) -> String {
    format!(
        "a {what} is one concrete function: name the types instead of taking them as parameters"
    )
}

pub(crate) fn no_lifetimes(what: &str) -> String {
    format!(
        "a {what} owns what it is given: remove the lifetime and write owned types, such as `String` for `&str`"
    )
}

pub(crate) fn no_modifier(what: &str, modifier: &str) -> String {
    format!("a {what} cannot be `{modifier}`; call such a function from the body")
}

pub(crate) fn not_a_receiver(what: &str) -> String {
    format!(
        "a {what} is a free function, without `self`; take what it needs as `#[inject] name: Type`"
    )
}

pub(crate) fn agent_receiver() -> &'static str {
    "an agent function is free, without `self`; put a method into an `#[agent] impl` and mark it `#[skill]`"
}

pub(crate) fn not_a_name(what: &str) -> String {
    format!("{what} needs a name: write `name: Type`, and take it apart in the body")
}

pub(crate) fn no_impl_trait(what: &str) -> String {
    format!("{what} has one concrete type: name it instead of `impl Trait`")
}

pub(crate) fn borrowed(owner: &str, it: &str, instead: impl Display) -> String {
    format!("{owner} owns {it}; write `{instead}`")
}

pub(crate) fn context_by_reference(name: &str) -> String {
    format!("the context is lent to a tool; write `&{name}`")
}

pub(crate) fn context_for_agents() -> &'static str {
    "an agent function takes its input alone; the run it stands in is found by itself when it runs another agent"
}

pub(crate) fn inject_takes_nothing() -> &'static str {
    "`#[inject]` takes no arguments: the value comes from the tool's field"
}

pub(crate) fn inject_and_serde() -> &'static str {
    "an injected parameter is no part of what the model sends: remove this, or `#[inject]`"
}

pub(crate) fn parameter_attribute(what: impl Display) -> String {
    format!(
        "`#[{what}]` is not expected on a parameter; expected `#[serde(..)]`, `#[schemars(..)]` or `#[inject]`"
    )
}

pub(crate) fn agent_parameter_attribute(what: impl Display) -> String {
    format!("`#[{what}]` is not expected on the input of an agent")
}

pub(crate) fn not_snake_case(name: impl Display) -> String {
    format!(
        "the type of `{name}` would have the same name; write the function's name in snake case"
    )
}

pub(crate) fn example_of_nothing(tool: impl Display) -> String {
    format!("write an example as the arguments of a call: `#[example(name = value)]` for `{tool}`")
}

pub(crate) fn example_leaves_out(name: impl Display) -> String {
    format!("the example leaves out `{name}`, without which the call cannot be read")
}

pub(crate) const HIDDEN_RESULT: &str = "this type is a `Result` under another name; write `Result<..>` out, so that an `Err` is a failure of the tool and not an answer";

// Agents.

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

pub(crate) fn no_prompt_for_skills(name: impl Display) -> String {
    format!("a model drives `{name}`, so tell it what it is: `#[agent(prompt = \"You are ..\")]`")
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

// Arms.

pub(crate) fn wrong_patterns(kind: &str, takes: &[&str], found: usize) -> String {
    let patterns = takes.join(", ");
    format!(
        "`{kind}` hands over {}, not {found}: write `{kind}({patterns})`",
        number(takes.len())
    )
}

pub(crate) fn not_on_a_tool() -> &'static str {
    "a tool has no final answer; `invalid_output` belongs to an agent's `on_error!`"
}

pub(crate) fn unknown_modifier(verb: impl Display, key: impl Display, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("`{verb}` takes no `{key} = ..`");
    }
    unknown(&format!("`{verb}` key"), key, known)
}

pub(crate) fn value_too_many(
    Verb {
        name, plain, next, ..
    }: &Verb,
    value: &str,
) -> String {
    match (next, plain) {
        (Some("max_attempts"), _) if value.contains('(') => {
            format!("`{name}` takes its back-off by its name: write `backoff = {value}`")
        }
        (Some(key), _) => format!("`{name}` takes this by its name: write `{key} = {value}`"),
        (None, plain) => format!("`{name}` takes {}: leave `{value}` out", number(*plain)),
    }
}

pub(crate) fn arm_by_kind(kinds: &[&str]) -> String {
    format!(
        "an arm names the kind of failure that it is for, {}; what no arm answers goes to the next layer by itself",
        one_of(kinds)
    )
}

pub(crate) fn function_for_tool(function: &Ident) -> String {
    let ty = super::names::type_name(function);
    format!(
        "`{function}` is a function; a tool goes by its type: write `{ty}`, which `#[tool]` leaves beside it"
    )
}

pub(crate) fn bound_in_arm(name: impl Display) -> String {
    format!(
        "`{name}` lives in this arm only, and a stored run has to find the agent again: name a type, as in `fix(agent = JsonFixer)`, or a field; or list the agent under `fixers = [..]` and write `fix_with(..)`"
    )
}

pub(crate) fn function_for_agent(function: &Ident) -> String {
    let ty = super::names::type_name(function);
    format!(
        "`{function}` is a function; an agent goes by its type: write `{ty}`, which `#[agent]` leaves beside it"
    )
}

pub(crate) fn never_falls_through(verb: &str) -> String {
    format!("this `.or(..)` is never reached: `{verb}` always decides; put it last")
}

pub(crate) fn never_retries(number: u64) -> String {
    format!("`max_attempts = {number}` never retries; write 2 or more, or remove the arm")
}

pub(crate) fn never_asks() -> &'static str {
    "`retries = 0` never asks the agent; write 1 or more, or remove it"
}

pub(crate) fn arms_need_a_tool() -> &'static str {
    "say whose failures these are: `on_error!(ReadFile, match error { .. })`"
}

pub(crate) fn named_in_an_agent() -> &'static str {
    "a tool is known by its name to the agents that have it: put this into an `#[agent] impl`, or name the tool's type"
}

pub(crate) fn arms_twice(of: impl Display) -> String {
    format!("{of} has two `on_error!`; put all the arms into one")
}

pub(crate) fn handled_twice() -> &'static str {
    "the agent has two `on_escalation!`; put all there is to say into one"
}

pub(crate) fn not_for_escalations(verb: impl Display) -> String {
    format!(
        "`{verb}` answers a failed call, and an escalation is past that; write one of `retry_with_model(..)`, `reroute_to_skill(Self::..)`, `reroute_to(..)`, `return_partial_result(..)`, `escalate(..)`, `inherit()`, `throw(..)`"
    )
}

pub(crate) fn not_a_skill(name: &str, known: &[&str]) -> String {
    match super::names::nearest(name, known) {
        Some(nearest) => {
            format!("`{name}` is not a skill of this agent; did you mean `Self::{nearest}`?")
        }
        None => format!(
            "`{name}` is not a skill of this agent; mark it `#[skill]`, or name {}",
            one_of(known)
        ),
    }
}

pub(crate) fn escalation_outside() -> &'static str {
    "`on_escalation!` belongs to an agent; write it within an `#[agent] impl` block, or call `.on_escalation(..)` on an `AgentBuilder`"
}

pub(crate) fn not_among_tools(tool: impl Display) -> String {
    format!("`{tool}` is not among this agent's tools; add it to `tools = [..]`, or remove this")
}

fn number(n: usize) -> String {
    match n {
        1 => "one thing".to_owned(),
        n => format!("{n} things"),
    }
}

fn one_of(known: &[&str]) -> String {
    match known {
        [one] => format!("`{one}`"),
        many => format!("one of `{}`", many.join("`, `")),
    }
}

fn all_of(names: &[&str]) -> String {
    match names {
        [before @ .., last] => format!("`{}` and `{last}`", before.join("`, `")),
        [] => String::new(),
    }
}
