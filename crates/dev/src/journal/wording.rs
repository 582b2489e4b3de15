//! Errors of journals in files, in words.

pub(super) const OPEN_ALREADY: &str = "the journal is open already, here or in another process";
pub(super) const KEY_MISSING: &str = "the journal was written with a key; open it with that key";
pub(super) const KEY_NEEDLESS: &str =
    "the journal was written without a key, so a key cannot verify it; open it with `Key::none()`";
pub(super) const HEADER_ALTERED: &str = "line 1 was altered, or the journal has another key";

pub(super) fn of_other_format(found: u32, known: u32) -> String {
    format!("the journal has format {found}; this version reads format {known}")
}

/// Text of the error of a line that was altered. `entry` is the number of the entry that the line should begin with.
pub(super) fn line_altered(line: usize, entry: u64) -> String {
    format!(
        "line {line} was altered, or lines before it are missing; it should begin with entry {entry}"
    )
}

pub(super) const SNAPSHOT: &str = "this is a snapshot, which earlier versions stored (format 2); this version reads journals, so finish the run with the version that stored it";
pub(super) const RECORDING: &str =
    "this is a recording, which earlier versions wrote (`tape`); this version reads journals";
pub(super) const NO_JOURNAL: &str = "this is no journal";

// ---- replays ----

#[cfg(feature = "recordings")]
pub(super) fn input_misfits(agent: &str, error: &impl std::fmt::Display) -> String {
    format!("the recorded input does not fit agent `{agent}` (fact 1): {error}")
}

#[cfg(feature = "recordings")]
pub(super) fn no_longer_replays(
    agent: &str,
    run: &str,
    difference: &impl std::fmt::Display,
) -> String {
    format!("run {run} of agent `{agent}` goes otherwise now: {difference}")
}
