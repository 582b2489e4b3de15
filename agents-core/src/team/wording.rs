//! Texts of teams: those that models are told first, then those that people are told.

// ---- delegates as tools ----

/// Description that a model reads of a delegate that has none of its own.
pub(super) fn hands_work_to(agent: &str) -> String {
    format!("Hands the work to the agent `{agent}`.")
}

/// Description that a model reads of a delegate that works in the background.
pub(super) fn in_the_background(description: &str) -> String {
    format!(
        "{description}\nWorks in the background: the call gives a ticket, and the result comes later as a message."
    )
}

pub(super) const PREPARED_FOR_ANOTHER: &str = "the arguments were prepared for another tool";

pub(super) fn answer_not_json(error: &serde_json::Error) -> String {
    format!("the answer cannot be written as JSON: {error}")
}

// ---- approvals ----

pub(super) const INPUT_CANNOT_BE_CHANGED: &str =
    "not approved: the input of an agent that code runs cannot be changed";

pub(super) const ASKS_NOTHING: &str =
    "not approved: the approver gave an answer, and an agent that code runs asks no question";

pub(super) fn denied(reason: &str) -> String {
    format!("not approved: {reason}")
}

pub(super) fn to_be_revised(note: &str) -> String {
    format!("not approved as it is: {note}")
}

// ==== texts for people alone ====

// ---- delegates that code looks up ----

pub(super) fn no_team_at_work(wanted: &str) -> String {
    format!(
        "there is no delegate `{wanted}` here, since no agent of a team is at work; call it in a skill or a tool of an agent with `.delegates(..)`"
    )
}

pub(super) fn several_delegates(agent: &str, wanted: &str) -> String {
    format!("agent `{agent}` has several delegates `{wanted}`; ask by name with `delegate_named`")
}

/// Text of the error of a delegate that the agent does not have; `names` are the names of all delegates that it has.
pub(super) fn no_delegate(agent: &str, wanted: &str, names: &[&str]) -> String {
    match names {
        [] => format!(
            "agent `{agent}` has no delegates, so there is no `{wanted}`; place it with `.delegates(..)`"
        ),
        names => format!(
            "agent `{agent}` has no delegate `{wanted}`; it has `{}`: place it with `.delegates(..)`",
            names.join("`, `")
        ),
    }
}
