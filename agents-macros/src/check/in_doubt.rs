//! The rules for `in_doubt`.

use crate::{ast::InDoubt, diag::Errors, messages, model::Tool, names::plain, suggest};
use syn::{Expr, ExprBlock};

/// Checks one `in_doubt` by itself. It corrects a tool named by its function, and takes the code out of an `async`
/// block.
pub(crate) fn in_doubt_as_written(doubt: &mut InDoubt, errors: &Errors) {
    if let Some(tool) = &mut doubt.tool {
        suggest::tool_type(tool, errors);
    }
    if let Expr::Async(made) = &doubt.body {
        errors.at(made.async_token, messages::DOUBT_IS_ASYNC);
        doubt.body = Expr::Block(ExprBlock {
            attrs: Vec::new(),
            label: None,
            block: made.block.clone(),
        });
    }
}

/// Checks that a tool with `in_doubt(key) => ..` can be in doubt, and that no parameter has the name of the key.
pub(super) fn in_doubt(tool: &Tool, doubt: &InDoubt, errors: &Errors) {
    if let [effect] = tool.effects.as_slice()
        && tool.is_never_in_doubt()
    {
        let why = match effect == "writes" {
            true => "idempotent".to_owned(),
            false => plain(effect),
        };
        errors.at(&doubt.keyword, messages::never_in_doubt(&tool.name, &why));
    }
    if let Some(key) = &doubt.key
        && tool
            .params
            .iter()
            .any(|param| plain(&param.ident) == plain(key))
    {
        errors.at(key, messages::key_is_a_parameter(key));
    }
}
