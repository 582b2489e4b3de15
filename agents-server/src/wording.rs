//! Texts of the control room for people.

pub(crate) const NO_PAGE: &str = "there is no such page";
pub(crate) const NOBODY: &str = "nobody is signed in: open the URL that the server has printed, or sign in to the application that this page belongs to";
pub(crate) const OTHER_SITE: &str =
    "the request comes from another site; open the control room itself, and try again there";
pub(crate) const OTHER_HOST: &str =
    "this control room answers requests to this machine alone, by its own name and port";
pub(crate) const NO_TOKEN: &str = "the form has no valid token: the server was started anew, or somebody else has signed in; load the page again";
pub(crate) const NO_DECISION: &str = "`decision` is none of `approve`, `deny`, `revise`";
pub(crate) const NO_ACTION: &str = "`action` is none of `pause`, `release`, `cancel`";
pub(crate) const NOTHING_CHOSEN: &str = "no request is chosen: tick those that you decide about";
pub(crate) const EDITED_TWICE: &str = "the arguments were edited both in single fields and in the field `arguments`; edit one of them";
pub(crate) const EDITED_UNSEEN: &str =
    "the arguments cannot be edited by somebody who does not see them";
pub(crate) const EDITED_IN_VAIN: &str = "edited arguments are for an approval; to have the call changed, ask for a revision with a note";
pub(crate) const DENIED: &str = "denied in the control room";
pub(crate) const REVISE: &str = "change this call, or do without it";

pub(crate) fn not_all(decided: u32, why: &str) -> String {
    format!("decided: {decided}; the others could not be, first of all because {why}")
}

pub(crate) fn unreadable_arguments(error: impl std::fmt::Display) -> String {
    format!("`arguments` is no JSON: {error}")
}

pub(crate) fn unreadable_field(name: &str, kind: &str) -> String {
    format!("the argument `{name}` is not of the type `{kind}`")
}

pub(crate) fn missing_field(name: &str) -> String {
    format!("the argument `{name}` is missing")
}

pub(crate) fn unknown_status(status: &str) -> String {
    format!("`status` is `{status}`, which is no state")
}

pub(crate) fn not_known_now(error: impl std::fmt::Display) -> String {
    format!("who sends this request cannot be found out now: {error}")
}

pub(crate) fn not_loopback(address: impl std::fmt::Display) -> String {
    format!(
        "{address} is not an address of this machine alone: use 127.0.0.1, or put `router` with an authenticator into a server of your own"
    )
}
