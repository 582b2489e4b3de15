//! Texts about the arms of `on_error!` and of `on_escalation!`.

use super::{number, one_of};
use std::fmt::Display;
use syn::Ident;

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

pub(crate) fn no_such_key(verb: impl Display, key: impl Display) -> String {
    format!("`{verb}` takes no `{key} = ..`: leave it out")
}

/// Text of the error of a value too many in a verb. `next` is the key that was probably meant for the value. `plain` is
/// the number of values without a key.
pub(crate) fn value_too_many(name: &str, plain: usize, next: Option<&str>, value: &str) -> String {
    match (next, plain) {
        (Some("max_attempts"), _) if value.contains('(') => {
            format!("`{name}` takes its back-off by its name: write `backoff = {value}`")
        }
        (Some(key), _) => format!("`{name}` takes this by its name: write `{key} = {value}`"),
        (None, plain) => format!("`{name}` takes {}: leave `{value}` out", number(plain)),
    }
}

pub(crate) fn arm_by_kind(kinds: &[&str]) -> String {
    format!(
        "an arm names the kind of failure that it is for, {}; what no arm answers goes to the next layer by itself",
        one_of(kinds)
    )
}

pub(crate) fn kinds_joined(first: impl Display, second: impl Display) -> String {
    format!(
        "each kind of failure hands over something of its own, so `{first}` and `{second}` cannot be one arm: write an arm for each"
    )
}

pub(crate) fn function_for_tool(function: &Ident, ty: &Ident) -> String {
    format!(
        "`{function}` is a function; a tool goes by its type: write `{ty}`, which `#[tool]` leaves beside it"
    )
}

/// Text of the error of a function in a list of tools. There a tool is a value, for which its type alone may be too
/// little.
pub(crate) fn function_in_list(function: &Ident, ty: &Ident) -> String {
    let told = function_for_tool(function, ty);
    format!(
        "{told}; with an `#[inject]`ed parameter it is `{ty} {{ .. }}`, and what goes in there is held by an agent that is a struct with an `#[agent] impl`"
    )
}

pub(crate) fn bound_in_arm(name: impl Display) -> String {
    format!(
        "`{name}` lives in this arm only, and a stored run has to find the agent again: name a type, as in `fix(agent = JsonFixer)`, or a field; or list the agent under `fixers = [..]` and write `fix_with(..)`"
    )
}

pub(crate) fn function_for_agent(function: &Ident, ty: &Ident) -> String {
    format!(
        "`{function}` is a function; an agent goes by its type: write `{ty}`, which `#[agent]` leaves beside it"
    )
}

pub(crate) fn never_falls_through(verb: &str) -> String {
    format!("this `.or(..)` is never reached: `{verb}` always decides; put it last")
}

pub(crate) const QUESTION_BEFORE_OR: &str = "this `?` leaves all arms, so that what `.or(..)` says is never reached: hand the verb an `Option`, whose `None` goes on to it: `value.and_then(|value| ..)`, or a function that gives one";

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

pub(crate) fn not_a_skill(name: &str, meant: Option<&str>, known: &[&str]) -> String {
    match meant {
        Some(meant) => {
            format!("`{name}` is not a skill of this agent; did you mean `Self::{meant}`?")
        }
        None => format!(
            "`{name}` is not a skill of this agent; mark it `#[skill]`, or name {}",
            one_of(known)
        ),
    }
}

pub(crate) fn arms_without_model(name: impl Display) -> String {
    format!("`{name}` has a body, and no model makes calls in it; remove these arms, or the body")
}

pub(crate) fn skill_for_agent(name: impl Display) -> String {
    format!(
        "`{name}` is of this agent itself: write `reroute_to_skill(Self::{name})`; `reroute_to(..)` takes another agent"
    )
}

pub(crate) fn escalation_outside() -> &'static str {
    "`on_escalation!` belongs to an agent; write it within an `#[agent] impl` block, or call `.on_escalation(..)` on an `AgentBuilder`"
}

pub(crate) fn not_among_tools(tool: &str, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => {
            format!("`{tool}` is not among this agent's tools; did you mean `{meant}`?")
        }
        None => format!(
            "`{tool}` is not among this agent's tools; add it to `tools = [..]`, or remove this"
        ),
    }
}

pub(crate) const WAITING_ARM: &str = "an arm decides at once, without `.await`; what takes a while is the work of a repair agent: `fix(agent = JsonFixer)`, or of the tool itself";

pub(crate) fn verb_with_braces(verb: &Ident) -> String {
    format!("`{verb}` is a function: write `{verb}(..)`, with parentheses")
}

pub(crate) fn joined_with_or(found: impl Display) -> String {
    format!(
        "steps are joined with `.or(..)`, as in `retry().or(feedback(\"..\"))`, not with `{found}`"
    )
}

pub(crate) fn decision_dropped() -> &'static str {
    "this `;` drops the decision, which is what the arm gives: leave it out"
}

pub(crate) fn text_for_decision() -> &'static str {
    "this is text, not a decision: write `feedback(..)` around it if the model is to read it, otherwise `escalate(..)` or `throw(..)`"
}

pub(crate) fn agent_in_quotes(name: &str) -> String {
    format!("an agent goes by its type, without quotes: write `agent = {name}`")
}

pub(crate) fn severity_by_its_name(meant: &str) -> String {
    format!("a severity goes by its name, without quotes: write `severity = {meant}`")
}

pub(crate) fn backoff_is_a_function(wait: &str) -> String {
    format!(
        "a back-off says how long to wait each time: write `backoff = constant({wait})`, or `exponential()`"
    )
}

pub(crate) fn exponential_by_its_bounds(bounds: &str) -> String {
    format!(
        "`exponential()` is told its longest first wait by `.base(..)`, and its longest of all by `.cap(..)`: write `exponential(){bounds}`"
    )
}

pub(crate) const NO_VALUE: &str =
    "`None` gives nothing to put there, and falls through: for JSON's `null` write `sanitize(())`";

pub(crate) fn fix_with_nothing() -> &'static str {
    "say what it is to be fixed with: `fix(text)`, or `fix(agent = JsonFixer)`"
}

pub(crate) fn failure_without_parentheses(name: &Ident) -> String {
    format!("`{name}` holds something: write `{name}(_)`")
}

pub(crate) fn failure_for_its_error(name: &Ident) -> String {
    format!(
        "`{name}` is any way in which the call can fail, a time-out and a panic among them; what the tool returned is in it: write `execution_error(Returned({name}))`"
    )
}

pub(crate) fn variant_for_failure(variant: &str) -> String {
    format!(
        "`{variant}` is what the tool returned, and a call can fail by a time-out or a panic as well: write `Returned(..)` around it"
    )
}

pub(crate) fn failure_for_kind(found: &str, failure: &str) -> String {
    format!(
        "`{found}` is one of the ways in which an execution fails: write `execution_error({failure})`"
    )
}

pub(crate) fn result_for_failure(found: &Ident) -> String {
    match found == "Ok" {
        true => "a call that returned `Ok` has not failed, and no arm is asked: leave this out".to_owned(),
        false => "a call can fail by a time-out or a panic as well; what the tool returned as `Err` is `Returned`: write `execution_error(Returned(e))`".to_owned(),
    }
}

pub(crate) fn error_of_one_tool(pattern: &str) -> String {
    any_error(&format!("Some({pattern}) = e.downcast_ref()"))
}

pub(crate) fn asked_of_any_error() -> String {
    any_error("Some(e) = e.downcast_ref::<ItsError>()")
}

fn any_error(is: &str) -> String {
    format!(
        "in the arms for all tools of an agent what one of them returned is an `AnyError`: write `execution_error(Returned(e)) if let {is}`, or give that tool arms of its own, `on_error!(ItsTool, match error {{ .. }})`"
    )
}

pub(crate) fn match_severity() -> &'static str {
    "severities are those of `escalation.severity`: write `match escalation.severity { .. }`"
}

pub(crate) fn skill_is_named(name: impl Display) -> String {
    format!("a skill is named and not called: write `reroute_to_skill(Self::{name})`")
}

pub(crate) const ESCALATION_IS_A_MATCH: &str = "what is said to an escalation is a `match`: write `on_escalation!(match escalation.severity { .. })`";
