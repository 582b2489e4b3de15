//! Texts about claims and known values, for models.

use serde_json::Value;

/// Joins names as `a, b or c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn quoted(tool: &str) -> String {
    format!("`{tool}`")
}

/// Sentence at the end of a known value's description: where the value may come from.
pub(super) fn sources(user: bool, tools: &[&str]) -> String {
    let tools: Vec<_> = tools.iter().map(|tool| quoted(tool)).collect();
    match (user, tools.is_empty()) {
        (true, true) => "Only a value that the user named.".to_owned(),
        (true, false) => format!(
            "Only a value that the user named or {} returned.",
            listed(&tools)
        ),
        (false, _) => format!("Only a value that {} returned.", listed(&tools)),
    }
}

/// Text of the error of a value that nobody has given, with where to look for it; or that is given in several
/// spellings, none of which is its own.
pub(super) fn unknown(value: &Value, spellings: &[String], user: bool, tools: &[&str]) -> String {
    let calls: Vec<_> = tools
        .iter()
        .map(|tool| format!("the output of `{tool}`"))
        .collect();
    let places = user.then(|| "the words of the user".to_owned());
    let places: Vec<_> = places.into_iter().chain(calls).collect();
    let places = listed(&places);
    if spellings.is_empty() {
        return format!("{value} is not known in this run: take a value from {places}");
    }
    let spellings: Vec<_> = spellings
        .iter()
        .map(|one| Value::from(&**one).to_string())
        .collect();
    format!(
        "{value} is spelled in several ways in {places}: write {}",
        listed(&spellings)
    )
}

/// Note of the change to a known value whose spelling was replaced.
pub(crate) fn respelled(written: &str) -> String {
    format!("{} as the user or a tool spells it", Value::from(written))
}

/// Text of the error of a known value that is not in the spelling of the evidence, where texts are not changed.
pub(crate) fn to_be_respelled(written: &str, spelling: &str) -> String {
    let [written, spelling] = [written, spelling].map(|text| Value::from(text).to_string());
    format!("{written} is not known in this spelling: write {spelling}")
}

pub(super) const NO_EVIDENCE: &str =
    "a known value is read within a run, and nothing is known outside of one";

/// Description of a claim in the schema of an answer, for the model.
pub(super) fn claim(tool: &str) -> String {
    format!(
        "A call of `{tool}` that has succeeded in this run, told by its arguments. `{{}}` stands for the last such call."
    )
}

/// Text of the error of a claim that no call supports.
pub(super) fn not_done(tool: &str) -> String {
    format!("no `{tool}` has succeeded in this run")
}

/// Text of the error of a claim whose tool has succeeded only with other arguments.
pub(super) fn done_otherwise(
    tool: &str,
    claimed: &str,
    calls: &[std::borrow::Cow<'_, str>],
) -> String {
    let calls = calls.join(" and ");
    format!("no `{tool}` with {claimed} has succeeded in this run, only with {calls}")
}

/// Text of the error of more claims than calls that have succeeded.
pub(super) fn claimed_twice(tool: &str) -> String {
    format!(
        "each claim needs a call of its own: `{tool}` has not succeeded as often as the answer claims"
    )
}

/// Text of the error of a value that stands in the place of a claim, and is neither an object nor `true`.
pub(super) fn no_claim(tool: &str) -> String {
    format!("expected an object with arguments of a call of `{tool}`, or `{{}}` for the last one")
}

/// Text of the error of a claim whose output does not have the type that the program expects.
pub(super) fn output_unreadable(tool: &str, error: &dyn std::fmt::Display) -> String {
    format!("the output of `{tool}` in its receipt is not what the program expects: {error}")
}

pub(super) const NO_CLAIMS: &str = "a claim is checked when the answer is complete";

/// Text of the error of an agent whose answer claims calls of a tool that nobody in reach has.
pub(crate) fn claims_unreachable(tool: &str) -> String {
    format!(
        "its answer holds `Done` of `{tool}`, but neither the agent nor a delegate below it has this tool: add the tool to the agent, or take `Done` out of the answer"
    )
}
