//! Texts about teams and branches.

use std::fmt::Display;

pub(crate) const NO_ROOT: &str =
    "a team begins with whoever is asked: write `structure!(Lead.delegates(Coder))`";

pub(crate) const SECOND_ROOT: &str = "a team has one root; put this below it: `.delegates(..)`";

pub(crate) fn no_turbofish(method: impl Display) -> String {
    format!("`{method}` takes its tools in brackets: `.{method}([ReadFile, WriteFile])`")
}

pub(crate) fn behind_a_place(method: impl Display) -> String {
    format!(
        "`.{method}(..)` is not said of a place: `grants`, `confirm`, `budget`, `background` and `delegates` are; a method of the agent stands before these, and one of the whole team behind it: `structure!(..).{method}(..)`"
    )
}

pub(crate) fn wants_brackets(usage: &str) -> String {
    format!("put the tools into brackets: `.{usage}`")
}

pub(crate) fn names_no_tool(found: impl Display) -> String {
    format!(
        "`{found}` is not the name of a tool; write its type, such as `ReadFile`, or for tools that are known at run time a pattern, such as `\"mcp_*\"`"
    )
}

pub(crate) fn tool_by_function(found: impl Display, ty: impl Display) -> String {
    format!("`{found}` is a function; name the type of the tool beside it, `{ty}`")
}

pub(crate) fn tool_by_value(ty: impl Display) -> String {
    format!("name the tool alone, `{ty}`: its value stands in the agent's `tools = [..]`")
}

pub(crate) fn says_nothing(method: &str, usage: &str) -> String {
    format!("an empty `.{method}(..)` says nothing; write `.{usage}`, or remove it")
}

pub(crate) fn one_budget() -> &'static str {
    "a place has one budget: `.budget(tokens(500_000).time(minutes(30)))`"
}

pub(crate) fn background_takes_nothing(method: impl Display) -> String {
    format!(
        "`.{method}()` takes nothing; to cancel the work when the agent above answers, write `.background_until_answer()`"
    )
}

pub(crate) fn one_background() -> &'static str {
    "keep one: with `.background()` the answer of the agent above waits for the work, and with `.background_until_answer()` the work is cancelled then"
}

pub(crate) fn root_in_background(method: impl Display) -> String {
    format!(
        "the root of a team has no agent above it that could go on meanwhile; leave out `.{method}()`, or `tokio::spawn` the run"
    )
}

/// Text of the error of bounds in the place of a budget. `bounds` are calls on a `Budget`: `.max_turns(3)`.
pub(crate) fn budget_is_a_value(bounds: &str) -> String {
    format!("here a budget is a value: write `.budget(Budget::new(){bounds})`")
}

pub(crate) fn delegates_in_brackets() -> &'static str {
    "delegates are of different types, so they stand without brackets: `.delegates(Coder, Tester)`"
}

pub(crate) fn named_twice(tool: impl Display) -> String {
    format!("`{tool}` is named twice; once is enough")
}

pub(crate) fn granted_and_confirmed(tool: impl Display) -> String {
    format!(
        "`{tool}` is both granted and confirmed; keep one: a confirmed tool can be used as well, but a person has to approve each call"
    )
}

pub(crate) fn beyond(tool: impl Display, child: impl Display, parent: impl Display) -> String {
    format!(
        "`{child}` cannot have `{tool}`: it is beyond what `{parent}` is granted; grant it there as well, or leave it out here"
    )
}

pub(crate) fn unconfirmed(tool: impl Display, child: impl Display, parent: impl Display) -> String {
    format!(
        "`{child}` cannot have `{tool}` without asking: `{parent}` has it with confirmation only; confirm it here as well"
    )
}

pub(crate) fn placed_twice(agent: impl Display) -> String {
    format!("`{agent}` is placed twice in one team; place it once, below one agent")
}

pub(crate) fn above_budget(own: &str, limit: &str, parent: impl Display) -> String {
    format!("{own} are above the {limit} of `{parent}`, who is above; allow at most as much")
}

// Branches.

pub(crate) const BRANCH_WANTS_AGENT: &str = "a branch begins with the agent on whose answer it depends: `branch!(Review, match verdict { Passed(p) => Deployer.run(p), .. })`";
pub(crate) const BRANCH_WANTS_MATCH: &str =
    "expected `match`: `branch!(Review, match verdict { Passed(p) => Deployer.run(p), .. })`";
pub(crate) const BRANCH_WANTS_NAME: &str =
    "give what the agent has answered a name: `match verdict { .. }`";

pub(crate) fn hands_on_to_nobody() -> &'static str {
    "an arm hands on to an agent: it ends with `agent.run(input)`, and nothing behind"
}

pub(crate) fn no_await(behind: &str) -> String {
    format!("leave out `{behind}`: the branch runs the agent itself")
}

pub(crate) fn target_of_a_pattern(name: impl Display) -> String {
    format!(
        "the agents of a branch are there before the answer is, so `{name}` cannot be a part of one; hand it over: `agent.run({name})`"
    )
}

pub(crate) fn no_arms() -> &'static str {
    "a branch without arms hands on to nobody; write `Passed(p) => Deployer.run(p)`"
}

pub(crate) fn too_many_targets(most: usize) -> String {
    format!("a branch has at most {most} agents; put some of them into a branch of their own")
}

pub(crate) fn attribute_in_a_team() -> &'static str {
    "what is listed here is always there; write one `structure!` for each case, under `#[cfg]`, or build the team from `Member`s"
}
