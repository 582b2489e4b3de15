//! Texts of running code: those that models are told first, then those that people are told.

use std::fmt::Display;

// ---- calls that are left unsettled ----

pub(super) const ENDED_FROM_WITHIN: &str = "the run was ended from within this call";
pub(super) const RUN_ENDED_BEFORE: &str = "the run ended before this call did";
pub(super) const AGENT_DROPPED: &str = "the agent was dropped before this call ended";
pub(super) const RUN_ENDED: &str = "the run ended";
pub(super) const WORK_AROUND_ENDED: &str = "the work that it was a part of ended";

// ---- conversations ----

pub(super) const SEND_DROPPED: &str = "the send was dropped";

pub(super) fn no_answer(reason: &str) -> String {
    format!("[no answer: {reason}]")
}

pub(super) fn no_answer_after_writing(reason: &str) -> String {
    format!("[no answer: {reason}; tools that write have run]")
}

// ==== texts for people alone ====

pub(super) fn nested_too_deep(deepest: u32) -> String {
    format!("runs of their own are nested {deepest} deep; end the recursion earlier")
}

// ---- stored runs ----

pub(super) const OTHER_SCOPE: &str =
    "the stored run has another scope; leave out `.scope(..)` to continue with the stored one";
pub(super) const POLICY_WITHOUT_NAME: &str = "a stored run is held to its policies by their names, and one has none; give it one: `.policy(agents::policy::named(\"..\", ..))`";
pub(super) const RATE_LIMITS_MISSING: &str = "the stored run had rate limits, and this one has none; give them again with `.rate_limits(..)`";

pub(super) fn policy_missing(name: &str) -> String {
    format!(
        "the stored run had the policy `{name}`, and this one has not; give it again with `.policy(..)`"
    )
}

pub(super) fn other_answer_type(agent: &str) -> String {
    format!(
        "the answer's type has changed since the run was stored: agent `{agent}` answered by another schema then; finish the run with the type that it had, or start it anew with another journal"
    )
}

pub(super) fn entry_unreadable(seq: u64, error: &impl Display) -> String {
    format!("entry {seq} cannot be read: {error}")
}

// ---- the journal ----

pub(super) const WRITER_ENDED: &str = "the task that writes the journal has ended";

pub(super) fn journal_panicked(panic: &str) -> String {
    format!("it panicked: {panic}")
}

pub(super) fn journal_unwritable(error: &impl Display) -> String {
    format!("the journal cannot be written: {error}")
}

pub(super) fn fact_not_json(error: &impl Display) -> String {
    format!("a fact of the run cannot be written as JSON: {error}")
}
