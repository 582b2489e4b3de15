//! Texts of the adapters for people.

pub(super) const CALL_FAILED: &str =
    "the call has failed; why is for whoever may see the contents of runs";

pub(super) fn run_failed(run: &str) -> String {
    format!("the agent has failed; the run `{run}` says why to whoever may see its contents")
}

pub(super) const NO_TEXT: &str =
    "the last message has no text: the agent takes the words of the user alone";
pub(super) const NO_FILES: &str =
    "the last message has a part that is no text: the agent takes the words of the user alone";
pub(super) const NOT_OF_THE_USER: &str = "the last message is not one of the user: nothing is decided by a message, and no result of a tool is taken from one; decide at the `url` of the request";
pub(super) const NOT_AGAIN: &str =
    "an answer is not made anew: send the message again, with another id";
pub(super) const NO_RESUME: &str = "`resume` decides nothing here: decide at the `url` of the request, and the stream goes on by itself";
pub(super) const COME_BACK: &str = "the stream ends after ten minutes; come back to go on";

pub(super) fn no_id(field: &str) -> String {
    format!("`{field}` is empty: it is the id of the conversation")
}
