//! The rules for `undo`, and for the keys beside it.

use crate::{
    ast::Undo,
    diag::Errors,
    messages,
    model::{Placeholder, Tool, placeholders},
    names::plain,
    suggest,
};
use syn::{Expr, ExprLit, Lit, LitStr, Pat};

/// Checks one `undo` by itself, and corrects a tool that is named by its function.
pub(crate) fn undo_as_written(undo: &mut Undo, errors: &Errors) {
    if let Some(tool) = &mut undo.tool {
        suggest::tool_type(tool, errors);
    }
}

/// Checks that a tool with `undo(output) => ..` writes and is not `irreversible`, and that no parameter has the name of
/// the output.
pub(super) fn undo(tool: &Tool, undo: &Undo, errors: &Errors) {
    if let [effect] = tool.effects.as_slice()
        && effect != "writes"
    {
        errors.at(&undo.keyword, messages::never_undone(&tool.name, effect));
    }
    if let Some(irreversible) = &tool.irreversible {
        errors.at(irreversible, messages::irreversible_and_undone());
        errors.at(&undo.keyword, messages::irreversible_and_undone());
    }
    if let Some(Pat::Ident(output)) = &undo.output
        && tool
            .params
            .iter()
            .any(|param| plain(&param.ident) == plain(&output.ident))
    {
        errors.at(output, messages::output_is_a_parameter(&output.ident));
    }
}

/// Checks that `irreversible = ".."` is about a tool that writes.
pub(super) fn irreversible(tool: &Tool, errors: &Errors) {
    if let ([effect], Some(irreversible)) = (tool.effects.as_slice(), &tool.irreversible)
        && effect != "writes"
    {
        errors.at(irreversible, messages::irreversible_without_writing(effect));
    }
}

/// Checks that a text is not blank. Returns `false` if it is blank; then it is reported with the message `otherwise`.
pub(super) fn said(value: &Expr, otherwise: &str, errors: &Errors) -> bool {
    match text(value) {
        Some(text) if text.value().trim().is_empty() => {
            errors.at(text, otherwise);
            false
        }
        _ => true,
    }
}

/// Checks `effect_description = "pay {amount} cents"`: there is a text, and no value is formatted. Returns `false` if
/// the text is reported. rustc checks the names.
pub(super) fn effect_description(value: &Expr, errors: &Errors) -> bool {
    if !said(value, messages::EFFECT_WITHOUT_WORDS, errors) {
        return false;
    }
    let Some(text) = text(value) else {
        return true;
    };
    let words = text.value();
    let formatted = |placeholder: &&Placeholder<'_>| !matches!(placeholder.format, "" | "?");
    match placeholders(&words).iter().find(formatted) {
        Some(placeholder) => {
            errors.at(text, messages::formatted_argument(placeholder.name));
            false
        }
        None => true,
    }
}

/// Returns the text of an expression that is a string literal; `None` for any other.
pub(super) fn text(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}
