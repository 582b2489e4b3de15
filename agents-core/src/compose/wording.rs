//! Texts of compositions: descriptions, which models read, first.

/// Returns the names of a composition's agents as `a, b, c`. Three or more equal names are written as `a; 3`.
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [first, _, rest @ ..] if !rest.is_empty() && names.iter().all(|name| name == first) => {
            format!("{first}; {}", names.len())
        }
        _ => names.join(", "),
    }
}

/// Returns the names in backticks, for a sentence: `` `a`, `b` and `c` ``.
fn quoted(names: &[&str]) -> String {
    let mut names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        only => only.unwrap_or_default(),
    }
}

// ---- descriptions ----

pub(super) fn race(agents: &[&str]) -> String {
    let agents = quoted(agents);
    format!("Gives its input to {agents} at once; the first answer is the answer.")
}

pub(super) fn parallel(agents: &[&str]) -> String {
    let agents = quoted(agents);
    format!("Gives its input to {agents} at once; the answer is what each of them gives.")
}

pub(super) fn discussion(participants: &[&str], captain: &str) -> String {
    let participants = quoted(participants);
    format!("A discussion: {participants} speak, and `{captain}` decides.")
}

// ==== texts for people alone ====

pub(super) const NO_RACERS: &str = "`first_of` has no agents; give it at least one";

/// Text of the error of a race without a winner. `failed` are the agents that failed before the last one, with their
/// errors.
pub(super) fn nobody_won(race: &str, failed: &[(&str, crate::Error)], last: &str) -> String {
    let failed = failed.iter();
    let failed: String = failed
        .map(|(agent, error)| format!("`{agent}` failed ({error}); "))
        .collect();
    format!("`{race}`: {failed}`{last}` failed last")
}

pub(super) fn function_of(composition: &str) -> String {
    format!("the function of `{composition}`")
}

pub(super) fn function_behind(agent: &str) -> String {
    format!("the function that maps what `{agent}` gives")
}

pub(super) fn failed(agent: &str) -> String {
    format!("agent `{agent}` failed")
}

pub(super) fn other_count(answers: usize, agents: usize) -> String {
    format!("{answers} answers from {agents} agents")
}

pub(super) fn not_json(error: &serde_json::Error) -> String {
    format!("it cannot be written as JSON: {error}")
}
