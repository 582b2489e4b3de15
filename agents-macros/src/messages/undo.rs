//! Texts about `undo`, and about the keys beside it.

use std::fmt::Display;

pub(crate) const UNDO_WITHOUT_OUTPUT: &str = "`undo` is handed the output of the call: write `undo(output) => ..`, or `undo(_) => ..` if the arguments are enough";
pub(crate) const UNDO_ARROW: &str = "expected `=>`: write `undo(output) => ..`";
pub(crate) const UNDO_ENDS: &str = "`undo` ends with its expression: remove this";
pub(crate) const UNDO_BEFORE_THE_TOOL: &str =
    "`undo(output) => ..` stands behind the function whose calls it undoes";
pub(crate) const UNDO_IN_THE_BODY: &str =
    "`undo(output) => ..` stands behind the function, not in it: put it after the `}` of the body";
pub(crate) const UNDO_WANTS_A_TOOL: &str =
    "say of which tool: `undo!(Pay, |output| ..)`, with the type that `#[tool]` leaves";
pub(crate) const UNDO_OF_NOTHING: &str = "say how a call is undone: `undo(output) => bank.refund(output.id).await`; if it cannot be, write `irreversible = \"why\"` into `#[tool(..)]`";
pub(crate) const IRREVERSIBLE_WITHOUT_REASON: &str =
    "say why a call cannot be undone: `irreversible = \"an email cannot be unsent\"`";
pub(crate) const EFFECT_WITHOUT_WORDS: &str =
    "say what a call does: `effect_description = \"pay {amount} cents to {payee}\"`";

pub(crate) fn undo_twice() -> &'static str {
    "a tool has one `undo`: make it one expression"
}

/// Text of the error of an `undo` with two names; `seen` names the other values in scope.
pub(crate) fn undo_with_two_names(written: &str, seen: &str) -> String {
    format!("`undo` is handed one thing, the output of the call: write `{written}`; {seen}")
}

pub(crate) fn output_without_type(written: &str) -> String {
    format!("the type of the output is known from the tool: write `{written}`, without a type")
}

pub(crate) fn output_is_a_parameter(output: impl Display) -> String {
    format!(
        "`{output}` is a parameter of the tool, and in scope here: give the output another name, or write `_`"
    )
}

/// Text of the error of an `undo` for a tool that does not write; `effect` is `none` or `reads`.
pub(crate) fn never_undone(tool: impl Display, effect: impl Display) -> String {
    format!(
        "`{tool}` is declared `{effect}`, so there is nothing to undo: remove `undo`, or write `writes` for `{effect}` if that is what it does"
    )
}

/// Text of the error of `irreversible` on a tool that does not write; `effect` is `none` or `reads`.
pub(crate) fn irreversible_without_writing(effect: impl Display) -> String {
    format!(
        "`{effect}` says that a call changes nothing, so there is nothing that could not be undone: remove `irreversible`, or write `writes` for `{effect}`"
    )
}

pub(crate) fn irreversible_and_undone() -> &'static str {
    "`irreversible` says that a call cannot be undone, and `undo` how it is: remove one of them"
}

pub(crate) fn undo_in_an_agent() -> &'static str {
    "a call is a tool's: put `undo!` beside its `#[tool]` function, outside of the `impl`"
}

pub(crate) fn undo_by_closure(tool: impl Display) -> String {
    format!("say how a call is undone, from its output: `undo!({tool}, |output| ..)`")
}

pub(crate) fn formatted_argument(name: impl Display) -> String {
    format!(
        "an approver sees values as they are in the call: write `{{{name}}}`, or `{{{name}:?}}`, without a format"
    )
}
