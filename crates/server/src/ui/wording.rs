//! Texts of the adapters for people.

pub(super) const CALL_FAILED: &str =
    "the call has failed; why is for whoever may see the contents of runs";

pub(super) fn run_failed(run: &str) -> String {
    format!("the agent has failed; the run `{run}` says why to whoever may see its contents")
}

// ---- fields of requests ----

pub(super) const NO_MESSAGES: &str =
    "`messages` is empty: its last message is the one that is sent";
pub(super) const NOT_AGAIN: &str = "`trigger` asks for the answer anew, and the agent may have done something already: send the message again, with another id";
pub(super) const NO_EDIT: &str = "`messageId` replaces an earlier message, and the agent may have done something already: send the words as a new message";
pub(super) const NO_RESUME: &str = "`resume` decides nothing here: decide at the `url` of the request, and the stream goes on by itself";
pub(super) const COME_BACK: &str = "the stream ends after ten minutes; come back to go on";

pub(super) fn too_large(most: usize) -> String {
    format!(
        "the body has more than {} MiB: send the last message alone, since the store has those before it",
        most >> 20
    )
}

pub(super) fn no_id(field: &str, of: &str) -> String {
    format!("`{field}` is empty: it is the id of {of}")
}

pub(super) fn unknown_trigger(trigger: &str) -> String {
    format!("`trigger` is `{trigger}`, and takes `submit-message`")
}

pub(super) fn not_of_the_user(field: &str) -> String {
    format!(
        "`{field}` is not `user`: nothing is decided by a message, and no result of a tool is taken from one; decide at \
         the `url` of the request"
    )
}

pub(super) fn no_text(field: &str) -> String {
    format!("`{field}` has no text: the agent takes the words of the user alone")
}

pub(super) fn not_text(field: &str) -> String {
    format!("`{field}` is no text: the agent takes the words of the user alone")
}
