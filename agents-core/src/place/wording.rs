//! Defects of teams, in words. The place to which a defect belongs stands before each of them.

use crate::tool::Pattern;
use std::collections::BTreeSet;

// ---- places ----

pub(super) fn defects_of_team(root: &str, defects: &[String]) -> String {
    let defects = defects.join("\n  ");
    format!("the team of `{root}` cannot work as it is put together:\n  {defects}")
}

pub(super) fn placed_twice(name: &str, other: &str) -> String {
    format!(
        "agent `{name}` is placed twice, the other time as `{other}`; place it once, or give one of them another name"
    )
}

pub(super) const ROOT_IN_BACKGROUND: &str = "the root of a team has no agent above it that could go on meanwhile; leave out `.background()`, or `tokio::spawn` the run";

pub(super) const TEAM_OF_ITS_OWN: &str = "it is a team of its own; set its grants, its confirmations and its delegates where that team is put together";
pub(super) const GRANTED_TO_A_COMPOSITION: &str = "it is composed of other agents, and what is granted at its place reaches none of them; grant it to the part that is meant: `a.then(structure!(b.grants([..])))`";

/// Text of the defect of a composition with bounds that its parts do not share. `bounds` are the bounds in words, such
/// as `3 turns`.
pub(super) fn bounds_of_a_composition(bounds: &[String]) -> String {
    let bounds = bounds.join(", ");
    format!(
        "it is composed of other agents, and a bound of {bounds} reaches none of them; bound the part that is meant: `a.then(structure!(b.budget(..)))`, or bound what they share, such as tokens and time"
    )
}

/// Text of the defect of a budget above that of an agent further up. `own` and `limit` are bounds in words, and `above`
/// is the agent that has the lower one.
pub(super) fn above_budget(own: &str, above: &str, limit: &str) -> String {
    format!("its budget of {own} is above that of `{above}`, {limit}; allow at most as much")
}

// ---- tools ----

pub(super) fn no_tool_like(pattern: &Pattern) -> String {
    format!("no tool here or below has a name like `{pattern}`; correct the pattern, or remove it")
}

pub(super) fn misspelt_tool(name: &Pattern, meant: &str) -> String {
    format!("there is no tool `{name}` here or below; did you mean `{meant}`?")
}

pub(super) fn no_tool(name: &Pattern, known: &BTreeSet<&str>) -> String {
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let there = match &known[..] {
        [] => "nor any other".to_owned(),
        known => format!("only {}", known.join(", ")),
    };
    format!("there is no tool `{name}` here or below, {there}; add it to the agent's `tools`")
}

pub(super) fn two_tools(name: &str) -> String {
    format!("two of its tools are called `{name}`; rename one or remove it")
}

pub(super) fn delegate_named_as_a_tool(name: &str) -> String {
    format!("its delegate `{name}` has the name of another of its tools; rename one of them")
}

// ---- grants ----

pub(super) fn granted_and_confirmed(name: &Pattern) -> String {
    format!("`{name}` is both granted and confirmed; keep one")
}

/// Text of the defect of a grant beyond those of the agent `above`.
pub(super) fn beyond_grants(name: &Pattern, above: &str) -> String {
    format!(
        "`{name}` is beyond what `{above}` is granted; grant it there as well, or leave it out here"
    )
}

/// Text of the defect of a place without grants below the agent `above`, which has some.
pub(super) fn all_tools_beyond_grants(tools: &[&str], above: &str) -> String {
    let tools = tools.join("`, `");
    format!(
        "nothing was granted to it, so it has all its tools, and `{tools}` is beyond what `{above}` is granted; say which it may use with `grants`"
    )
}

/// Text of the defect of a tool without confirmation, which the agent `above` has only with one.
pub(super) fn unconfirmed(above: &str, tool: &str) -> String {
    format!("`{above}` has `{tool}` with confirmation only; confirm it here as well")
}

pub(super) fn skill_without_its_tool(skill: &str, tool: &Pattern) -> String {
    format!("its skill `{skill}` needs the tool `{tool}`, which is not granted; grant it")
}

pub(super) fn skill_without_its_tools(skill: &str, pattern: &Pattern) -> String {
    format!("its skill `{skill}` needs tools like `{pattern}`, and none is granted; grant one")
}
