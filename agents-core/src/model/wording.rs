//! Texts about models: reasons why there is no answer, and errors of requests and conversations.

// ---- a reply without an answer ----

/// Text of the error if a filter withheld the reply. `words` are the words of the provider, and may be empty.
pub(super) fn withheld(words: &str) -> String {
    with("a filter of the provider withheld the reply", words)
}

/// Text of the error if a model declined to answer. `words` are the words of the model, and may be empty.
pub(super) fn declined(words: &str) -> String {
    with("the model declined to answer", words)
}

fn with(text: &str, words: &str) -> String {
    match words.trim() {
        "" => text.to_owned(),
        words => format!("{text}: {words}"),
    }
}

// ---- requests ----

pub(super) fn secret_outside(name: &str) -> String {
    format!(
        "the secret `{name}` is a run's, and this request is made outside of a run: set a key with `.api_key(..)`"
    )
}

pub(super) fn secret_missing(error: &crate::secret::SecretError) -> String {
    format!("the model needs a secret: {error}")
}

/// Text of the error if a model cannot read a conversation; `what` is an image or a file.
pub(super) fn unreadable(what: &str, model: &str) -> String {
    format!(
        "the conversation has {what}, which the model `{model}` cannot read: leave it out, use another model, or, if \
         its client has `.capable_of(..)`, say there what the model can do"
    )
}

pub(super) fn asked_often(asked: u32) -> String {
    format!("the model was asked {asked} times")
}

// ---- conversations ----

/// Beginning of the message by which a model is told that its answer does not fit.
pub(crate) const REFUSED: &str = "Your answer cannot be used: ";

/// Result of a call in a conversation that was loaded without the result.
pub(super) const RESULT_LOST: &str = "[the result of this call is lost: it is not known whether the call was carried out, so find that out before making it again]";

/// Message in place of those that were left out.
pub(super) const LEFT_OUT: &str = "[Earlier messages of this conversation were left out here.]";

pub(super) fn unfit_message(number: usize, problem: &str) -> String {
    format!("message {number} does not fit: {problem}")
}

pub(super) fn unfit_end(problem: &str) -> String {
    format!("at the end, {problem}")
}

pub(super) fn no_result(id: &str, tool: &str) -> String {
    format!("the call `{id}` of `{tool}` has no result")
}

pub(super) fn no_call(id: &str) -> String {
    format!("it is a result for `{id}`, and no call with that id is open")
}
