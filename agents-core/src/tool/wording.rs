//! Texts about tools: errors of registries and sets of tools, and causes of calls that failed.

use crate::{
    error::{Cause, Code},
    tool::Effects,
};

// ---- sets of tools ----

pub(super) fn source_twice(names: &str) -> String {
    format!("two sources list the tools `{names}`; remove one, or give one another name")
}

pub(super) fn tool_twice(names: &str) -> String {
    format!("two tools are called `{names}`; rename one or remove it")
}

// ---- registries ----

pub(super) fn name_with_at(name: &str) -> String {
    format!("a tool cannot be called `{name}`: `@` stands between a name and a version")
}

pub(super) fn registered(key: &str) -> String {
    format!("`{key}` is registered already; give the tool that changed a new version")
}

/// Text of the error of a tool that is not registered; `why` says what to do.
pub(super) fn not_registered(key: &str, why: &str) -> String {
    format!("no tool `{key}` is registered; {why}")
}

pub(super) fn no_version(key: &str) -> String {
    format!("say which version of `{key}` is meant: `{key}@1.0.0`")
}

// ---- questions to the user ----

pub(super) const ASK_USER: &str = "Asks the user one question, and waits for the answer. Ask only if you cannot go on without it, and nothing else tells you.";
pub(super) const QUESTION: &str =
    "The question, in one sentence that the user understands without knowing your task.";
/// Effect of the call, for people; the braces stand for the question.
pub(super) const ASKS: &str = "Asks the user: {question}";
pub(super) const NO_ANSWER: &str =
    "nobody has answered the question; go on without the answer, or say what you lack";

pub(super) fn default_unwritable(error: &impl std::fmt::Display) -> String {
    format!("the default of `ask_user` cannot be written as JSON: {error}")
}

pub(super) fn answer_unfit(error: &impl std::fmt::Display) -> String {
    format!("the answer does not fit the question: {error}")
}

// ---- arguments ----

pub(super) fn too_large_to_keep(integer: &str) -> String {
    format!("the integer {integer} is too large to be kept exactly; send it as a string")
}

/// Text of the error of a value that is no variant; `names` are the variants.
pub(super) fn no_variant(names: &str) -> String {
    format!("it is none of the variants; write one of {names}")
}

// ---- outputs ----

pub(super) fn of_another_tool() -> Cause {
    unknown("the arguments were prepared for another tool")
}

pub(super) fn output_unfit(refusal: &impl std::fmt::Display, effects: Effects) -> Cause {
    let text = format!("the output of the tool does not follow its schema: {refusal}");
    unusable_output(text, effects)
}

pub(super) fn output_unwritable(error: &impl std::fmt::Display, effects: Effects) -> Cause {
    let text = format!("the result cannot be written as JSON: {error}");
    unusable_output(text, effects)
}

/// Returns the cause of a call that has an output which nobody can use. The tool has run to its end: if it writes, it may
/// have taken effect.
fn unusable_output(text: String, effects: Effects) -> Cause {
    match effects {
        Effects::Writes => Cause::interrupted(text),
        Effects::None | Effects::Reads => unknown(text),
    }
}

// ---- undo ----

pub(super) fn no_undo(tool: &str) -> Cause {
    unknown(format!(
        "`{tool}` has no undo: it says nothing of how its calls are undone"
    ))
}

/// Text of the error of a stored output that does not fit; `misfit` has the place in front, if there is one.
pub(super) fn undo_unfit(misfit: &str) -> Cause {
    let why = format!("the stored output does not fit the type that `undo` reads: {misfit}");
    Cause::text(Code::ValidationError, why)
}

pub(super) fn stored_too_large(integer: &str) -> Cause {
    stored_unreadable(&format!(
        "the integer {integer} is too large to be kept exactly"
    ))
}

pub(super) fn stored_unreadable(why: &str) -> Cause {
    unknown(format!("the stored output cannot be read: {why}"))
}

fn unknown(why: impl Into<String>) -> Cause {
    Cause::text(Code::Unknown, why)
}
