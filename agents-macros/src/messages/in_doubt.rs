//! Texts about `in_doubt`.

use std::fmt::Display;

pub(crate) const DOUBT_WITHOUT_KEY: &str = "`in_doubt` is handed the idempotency key of the call: write `in_doubt(key) => ..`, or `in_doubt(_) => ..`";
pub(crate) const DOUBT_ARROW: &str = "expected `=>`: write `in_doubt(key) => ..`";
pub(crate) const DOUBT_ENDS: &str = "`in_doubt` ends with its expression: remove this";
pub(crate) const DOUBT_BEFORE_THE_TOOL: &str =
    "`in_doubt(key) => ..` stands behind the function whose executions it is about";
pub(crate) const DOUBT_IN_THE_BODY: &str =
    "`in_doubt(key) => ..` stands behind the function, not in it: put it after the `}` of the body";
pub(crate) const DOUBT_IS_ASYNC: &str = "`.await` may stand here as it is: remove `async`";
pub(crate) const DOUBT_WANTS_A_TOOL: &str =
    "say of which tool: `in_doubt!(Pay, |key| ..)`, with the type that `#[tool]` leaves";

pub(crate) const DOUBT_OF_NOTHING: &str =
    "say what became of the execution: `in_doubt(key) => unknown()` if nothing can tell";
pub(crate) const SEEN_BEHIND: &str = "the parameters of the function are in scope by their names";
pub(crate) const SEEN_ALONE: &str =
    "arguments are `args.amount`, and what is injected is `self.bank`";

pub(crate) fn in_doubt_twice() -> &'static str {
    "a tool has one `in_doubt`: make it one expression"
}

/// Text of the error of an `in_doubt` with two names; `seen` names the other values in scope.
pub(crate) fn doubt_with_two_names(written: &str, seen: &str) -> String {
    format!("`in_doubt` is handed one thing, the idempotency key: write `{written}`; {seen}")
}

pub(crate) fn key_without_type(written: &str) -> String {
    format!("the idempotency key is a `String`, and has a name alone: write `{written}`")
}

pub(crate) fn key_is_a_parameter(key: impl Display) -> String {
    format!(
        "`{key}` is a parameter of the tool, and in scope here: give the idempotency key another name, or write `_`"
    )
}

/// Text of the error of an `in_doubt` for a tool that is never in doubt; `why` is `none`, `reads` or `idempotent`.
pub(crate) fn never_in_doubt(tool: impl Display, why: &str) -> String {
    let otherwise = match why {
        "idempotent" => "`idempotent` if running it twice does more than once".to_owned(),
        effect => format!("write `writes` for `{effect}` if that is what it does"),
    };
    format!(
        "`{tool}` is declared `{why}`, so an interrupted execution simply runs again: remove `in_doubt`, or {otherwise}"
    )
}

pub(crate) fn doubt_in_an_agent() -> &'static str {
    "an execution is a tool's: put `in_doubt!` beside its `#[tool]` function, outside of the `impl`"
}

pub(crate) fn doubt_by_type(ty: String) -> String {
    format!("this is about a tool, whatever it holds: write its type alone, `{ty}`")
}

pub(crate) fn doubt_by_closure(tool: impl Display) -> String {
    format!(
        "say what became of the execution, by its idempotency key: `in_doubt!({tool}, |key| ..)`"
    )
}

pub(crate) fn doubt_without_type(written: &str) -> String {
    format!("what it gives is known from the tool: write `{written}`, without a type")
}
