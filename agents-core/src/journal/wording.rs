//! Texts of the journal: those that models are told first, then those that people are told.

use crate::{model::REFUSED, run::Finding};
use std::time::Duration;

// ---- refused answers ----

pub(super) fn refused(reason: &str, is_text: bool) -> String {
    match is_text {
        true => format!("{REFUSED}{reason}. Answer again."),
        false => format!(
            "{REFUSED}{reason}. Answer again, with nothing but JSON that follows the schema."
        ),
    }
}

pub(super) fn skill_refused(reason: &str) -> String {
    format!("That is none of the skills: {reason}. Say the name of one of them and nothing else.")
}

/// Remark for a model that takes over from the one that gave the answer.
pub(super) const ANSWER_TAKEN_OVER: &str = "you take over from the model that gave it";

// ---- calls that were cut off ----

pub(super) const IN_DOUBT: &str = "[this call was cut off: it is not known whether it took effect]";
pub(super) const NOT_RUN: &str = "[this call was cut off before it took effect]";

/// Message to the model that a person has found out about a call in doubt. `args` are the arguments with their secrets
/// masked.
pub(super) fn found_out(tool: &str, args: &str, finding: &Finding) -> String {
    let who = finding.by.as_deref().unwrap_or("A person");
    let what = match finding.had_effect {
        true => "took effect: do not make it again",
        false => "had no effect: it may be made again",
    };
    let note = finding.note.iter().map(|note| format!(" {note}"));
    let note: String = note.collect();
    format!(
        "[About the call of `{tool}` with {args} that was cut off: {who} has found out that it {what}.{note}]"
    )
}

// ---- results ----

pub(super) fn remark(remark: &str) -> String {
    format!("\n[{remark}]")
}

/// Returns the beginning of an output that was cut, with a remark for the model. `shown` is that beginning, `length`
/// the length of the whole text in bytes, and `is_kept` tells whether the whole text is stored.
pub(super) fn cut(shown: &str, length: usize, is_kept: bool) -> String {
    let whole = match is_kept {
        true => "; the whole is kept, but not shown to you",
        false => "",
    };
    let end = shown.len();
    format!("{shown}\n[cut: the first {end} of {length} bytes{whole}]")
}

pub(super) fn schema_of_arguments(schema: &serde_json::Value) -> String {
    format!("; the arguments have to follow {schema}")
}

pub(super) fn may_succeed_after(wait: Duration) -> String {
    format!("; it may succeed after {wait:?}")
}

/// Returns the remark behind the result of the `nth` identical call. `ordinal` is that number as a word; `None` for
/// large numbers.
pub(super) fn repeated(nth: u32, ordinal: Option<&str>, is_ok: bool) -> String {
    let which = match ordinal {
        Some(ordinal) => format!("the {ordinal} call"),
        None => format!("call number {nth}"),
    };
    match is_ok {
        true => format!(
            "\n[This is {which} in a row with the same arguments and the same result. Use the result, or call something else.]"
        ),
        false => format!(
            "\n[This is {which} in a row with the same arguments and the same failure. Change the arguments, or do something else.]"
        ),
    }
}

// ---- repairs ----

/// Name of the approver as the author of a text, on receipts.
pub(super) const APPROVER: &str = "the approver";

pub(crate) const FAILED_ALREADY: &str = "this text failed before";

pub(super) fn no_more_repairs(most: usize) -> String {
    format!("{most} repairs were tried, and there may not be more of them")
}

// ==== texts for people alone ====

// ---- stored runs ----

pub(super) const KEY_UNREADABLE: &str =
    "the key of the run is not 64 hexadecimal digits: the journal was altered";

pub(super) fn other_rules(rules: u32, known: u32) -> String {
    format!(
        "the journal follows rules {rules}; this version knows rules {known}, so go on with the version that wrote it"
    )
}

pub(super) fn entry_out_of_order(seq: u64, before: u64) -> String {
    format!(
        "entry {seq} does not follow entry {before}: another run writes to this journal; give each run a journal of its own"
    )
}

pub(super) fn entry_has_another_number(nth: u64, seq: u64) -> String {
    format!("entry {nth} has the number {seq}: entries are missing, or in another order")
}

pub(super) fn entry_unreadable(nth: u64, kind: &str, error: &impl std::fmt::Display) -> String {
    format!("entry {nth} (`{kind}`) cannot be read: {error}")
}

pub(super) fn entry_without_cause(nth: u64, kind: &str) -> String {
    format!("entry {nth} (`{kind}`) does not follow from those before it")
}

pub(super) fn stored_answer_misfits(error: &impl std::fmt::Display) -> String {
    format!("the stored answer does not fit: {error}")
}
