//! Texts about deferred tools, for models.

// ---- the search ----

pub(super) const QUERY: &str = "Words for what a tool should do, or names of tools.";
pub(super) const NO_QUERY: &str =
    "`query` has no word to search for; write what a tool should do, or the name of a tool";

/// `listed` are the names of the tools in backticks, or their groups.
pub(super) fn description(listed: &str) -> String {
    format!(
        "Finds further tools by words, and declares those that it finds, so that you can call them from your next reply on. Not declared yet: {listed}."
    )
}

pub(super) fn nothing_found(listed: &str) -> String {
    format!("no tool matches; search with other words, for one of {listed}")
}

/// `names` are those of further tools, in backticks.
pub(super) fn more_match(names: &str) -> String {
    format!("these match as well, and are not declared yet: {names}")
}

/// `pattern` is that of the names of a group.
pub(super) fn group(pattern: &str, count: usize) -> String {
    format!("{count} tools `{pattern}`")
}

pub(super) fn and_others(count: usize) -> String {
    format!("{count} others")
}
