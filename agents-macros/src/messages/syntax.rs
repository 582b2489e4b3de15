//! Texts about tokens that no macro can read.

use quote::ToTokens;
use std::fmt::Display;
use syn::Ident;

pub(crate) const NOT_A_FUNCTION: &str = "a tool is a function: expected `async fn`";
pub(crate) const NOT_AN_AGENT: &str =
    "an agent is a function or an `impl` block: write `#[agent]` above one of those";
pub(crate) const AFTER_THE_TOOL: &str = "nothing but `on_error { .. }`, `in_doubt(key) => ..` and `undo(output) => ..` can follow the function";
pub(crate) const ARMS_BEFORE_THE_TOOL: &str =
    "`on_error { .. }` stands behind the function whose failures it is about";
pub(crate) const ARMS_IN_BRACES: &str = "the arms of a tool stand in braces at once: write `on_error { execution_error(_) => retry() }`";
pub(crate) const BEHIND_THE_BODY: &str = "a function ends with its body: remove this";
pub(crate) const ARROW: &str =
    "expected `=>`: an arm is written `execution_error(failure) => retry()`";
pub(crate) const GUARD_BEHIND: &str =
    "a guard stands before `=>`: write `execution_error(Returned(e)) if .. => ..`";
pub(crate) const COMMA_BEFORE_ARM: &str = "expected `,` before the next arm";

pub(crate) fn parameter_without_type(name: &Ident) -> String {
    format!("`{name}` needs a type: write `{name}: Type`")
}

pub(crate) fn no_end(name: &Ident) -> String {
    format!(
        "`{name}` has no end: write `;` behind it if a model does the work, and a body `{{ .. }}` otherwise"
    )
}

pub(crate) fn second_tool(name: &Ident) -> String {
    format!("one tool in one `tool!`: give `{name}` a `tool!` of its own")
}

pub(crate) fn on_error_twice() -> &'static str {
    "a tool has one `on_error`: put all the arms into it"
}

pub(crate) fn attribute_with_equals(path: &syn::Path) -> String {
    let path = path.to_token_stream();
    format!("write `#[{path}(..)]`, with parentheses")
}

pub(crate) fn colon_for_equals(key: &Ident) -> String {
    format!("a key is set with `=`: write `{key} = ..`")
}

pub(crate) const COMMA: &str = "expected `,`";

pub(crate) fn comma_before(next: impl Display) -> String {
    format!("expected `,` before `{next}`")
}

pub(crate) fn default_of_parameter(name: &Ident, ty: impl Display) -> String {
    format!(
        "a parameter has no default; write `#[serde(default)] {name}: {ty}`, which is `Default::default()` where the model leaves it out"
    )
}

pub(crate) fn arms_in_a_match(tool: Option<impl Display>) -> String {
    match tool {
        Some(tool) => format!("arms are those of a `match`: write `on_error!({tool}, match error {{ .. }})`"),
        None => "arms are those of a `match`: write `on_error!(ReadFile, match error { .. })`, or in an `#[agent] impl`, for all its tools, `on_error!(match error { .. })`".to_owned(),
    }
}

/// Text of the error where a key was expected; it shows the key with which the attribute begins.
pub(crate) fn key_wanted(attribute: &str) -> &'static str {
    match attribute {
        "tool" => "expected a word without quotes, such as `reads`",
        "agent" => "expected a key: write `prompt = \"You are ..\"`",
        _ => "expected a key: write `when = |input: &String| input.len() < 80`",
    }
}

pub(crate) fn tool_by_its_type(ty: String) -> String {
    format!("arms are those of a tool, whatever it holds: write its type alone, `{ty}`")
}

pub(crate) fn block_without_macro(block: &Ident) -> String {
    let of = match block == "on_error" {
        true => "error",
        false => "escalation.severity",
    };
    format!("in an `impl` this is a macro: write `{block}!(match {of} {{ .. }});`")
}

pub(crate) const ARMS_IN_THE_BODY: &str =
    "`on_error { .. }` stands behind the function, not in it: put it after the `}` of the body";

pub(crate) fn guard_begins_with_if(found: &Ident) -> String {
    format!("a guard begins with `if`, not with `{found}`")
}

pub(crate) fn kind_with_braces(kind: &Ident) -> String {
    format!("what a failure hands over stands in parentheses: write `{kind}(..)`")
}

pub(crate) fn step_for_an_arm(verb: &Ident) -> String {
    format!(
        "`{verb}` is no kind of failure; as the next step of the arm before it is joined with `.or({verb}(..))`"
    )
}
