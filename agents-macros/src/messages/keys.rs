//! Texts about the keys of attributes.

use super::one_of;
use std::fmt::Display;

/// Text of the error of an unknown name. The text proposes the name that was `meant`, or else lists all `known` names.
pub(crate) fn unknown(
    what: &str,
    found: impl Display,
    meant: Option<&str>,
    known: &[&str],
) -> String {
    match meant {
        Some(meant) => format!("unknown {what} `{found}`; did you mean `{meant}`?"),
        None => format!("unknown {what} `{found}`; expected {}", one_of(known)),
    }
}

pub(crate) fn twice(name: impl Display) -> String {
    format!("`{name}` is given twice; keep one")
}

pub(crate) fn takes_nothing(name: impl Display) -> String {
    format!("`{name}` takes no value; write `{name}` alone")
}

pub(crate) fn written_as(key: &str, usage: &str) -> String {
    format!("`{key}` is written `{usage}`")
}

/// Text of the error of a flag with a value in the wrong form, such as `idempotent = hours(24)`.
pub(crate) fn flag_without_for(name: impl Display) -> String {
    format!(
        "`{name}` is written alone, or `{name}(for = hours(24))` for the time from its first execution for which it holds"
    )
}

pub(crate) const LIFETIME_OF_A_CACHE: &str =
    "say for how long: `cache = ttl(Duration::from_secs(60))`";
pub(crate) const CONDITION_OF_APPROVAL: &str =
    "say when: `approval = when(|args, cx| args.amount > 100)`";

pub(crate) fn crate_wants_a_path() -> &'static str {
    "`crate` takes a path, without quotes: `crate = path::to::agents`"
}

pub(crate) fn budget_wants_values(found: impl Display) -> String {
    format!("`{found}` is not a bound; write `budget(max_turns = 10)`, each bound with its value")
}

pub(crate) fn context_is_a_policy() -> &'static str {
    "this is no way to shorten a conversation; write `context = trim(at = 0.75)`, or `context = compact(at = 0.75, by = Summariser)`"
}

pub(crate) fn context_wants_names(verb: impl Display, found: impl Display) -> String {
    format!("`{found}` has no name here; write `{verb}(at = 0.75)`, each part with its name")
}

pub(crate) fn no_share(found: impl Display) -> String {
    format!(
        "`{found}` is no share of the model's window; write a number of more than 0 and at most 1: `at = 0.75`"
    )
}

pub(crate) fn trim_by() -> &'static str {
    "`trim` leaves messages out, and nobody sums them up; write `compact(by = ..)`, or remove `by`"
}

pub(crate) fn compact_by_nobody() -> &'static str {
    "nobody sums up what is left out; name an agent: `compact(by = Summariser)`, or write `trim`"
}

pub(crate) fn bound_outside_budget(name: &str) -> String {
    format!("`{name}` is a bound, and bounds stand together: write `budget({name} = ..)`")
}

pub(crate) fn spread_of_a_list(found: impl Display) -> String {
    format!("a range is not a tool; write `..{found}` to add all the tools of `{found}`")
}

pub(crate) fn deferred_without_dots(found: impl Display) -> String {
    format!("`deferred` takes several tools and gives several: write `..deferred({found})`")
}

/// Returns the message about a word that is no key of `attribute`, but belongs elsewhere; `None` for any other word.
pub(crate) fn said_elsewhere(attribute: &str, name: &str) -> Option<&'static str> {
    let (.., instead) = ELSEWHERE
        .iter()
        .find(|(of, words, _)| *of == attribute && words.contains(&name))?;
    Some(instead)
}

/// Attributes, words that are no keys of them, and the messages with the right places.
const ELSEWHERE: &[(&str, &[&str], &str)] = &[
    (
        "tool",
        &["description", "desc", "doc"],
        "what the model is told of a tool is its doc comment: write `/// ..` above the function",
    ),
    (
        "tool",
        &["rename"],
        "a tool goes by the name of its function, or by `name = \"web_search\"`",
    ),
    (
        "tool",
        &["for", "window"],
        "the time for which it holds belongs to `idempotent`: write `idempotent(for = hours(24))`",
    ),
    (
        "tool",
        &["effect", "effects"],
        "an effect stands alone: write `none`, `reads` or `writes`",
    ),
    (
        "tool",
        &["retry", "retries", "max_retries", "on_error"],
        "what happens after a failure is said by arms behind the function: `tool! { .. on_error { execution_error(_) => retry() } }`",
    ),
    (
        "tool",
        &["in_doubt"],
        "what became of an interrupted execution is said behind the function: `tool! { .. in_doubt(key) => .. }`",
    ),
    (
        "tool",
        &["undo", "rollback", "compensate"],
        "how a call is undone is said behind the function: `tool! { .. undo(output) => .. }`",
    ),
    (
        "agent",
        &["system", "system_prompt", "instructions", "preamble"],
        "what a model is told to be is its prompt: write `prompt = \"You are ..\"`",
    ),
    (
        "agent",
        &["rename"],
        "an agent goes by the name of its function or type, or by `name = \"first_clerk\"`",
    ),
    (
        "agent",
        &["temperature", "top_p", "seed"],
        "this is said of the model: write `model = ollama(\"qwen3:4b\").temperature(0.0)`",
    ),
    (
        "agent",
        &["skill", "skills"],
        "a skill is a method of the `impl`: write `#[skill]` above it; a folder with a `SKILL.md` is knowledge: write `knowledge = dir!(\"skills/\")`",
    ),
    (
        "agent",
        &["on_error", "on_escalation"],
        "arms stand among the methods of the `impl`: write `on_error!(match error { .. });`",
    ),
    (
        "skill",
        &["prompt", "description", "desc", "doc"],
        "what is said of a skill is its doc comment: write `/// ..` above the method",
    ),
];
