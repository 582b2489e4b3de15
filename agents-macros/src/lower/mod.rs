//! Translates the checked [`ast`](crate::ast) to the [`model`](crate::model).

mod agent;
mod branch;
mod dir;
mod in_doubt;
mod keys;
mod on_error;
mod on_escalation;
mod params;
mod settings;
mod structure;
mod tool;
mod undo;

pub(crate) use agent::{function_agent, skill_agent};
pub(crate) use branch::branch;
pub(crate) use dir::dir;
pub(crate) use in_doubt::in_doubt;
pub(crate) use on_error::on_error;
pub(crate) use structure::member;
pub(crate) use tool::tool;
pub(crate) use undo::undo;

use crate::{
    ast::Function,
    paths::end,
    syntax::is_lint_level,
    walk::{self, Look, Part},
};
use syn::{Attribute, Expr, ExprCall, ExprReturn, FnArg, punctuated::Punctuated, token};

/// Returns the `#[cfg(..)]` attributes of an item, which the generated code repeats.
fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .cloned()
        .collect()
}

/// Removes doc comments, for which the generated code has no place.
fn drop_docs(attrs: &mut Vec<Attribute>) {
    attrs.retain(|attribute| !attribute.path().is_ident("doc"));
}

/// Removes all attributes but lint levels from parameters, since rustc would not accept them there.
fn strip_parameters(function: &mut Function) {
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(is_lint_level);
        }
    }
}

/// Rewrites each `return` that leaves the user's code; a `return` of a closure, an async block or an item within it
/// stays.
fn returns(body: &mut Expr, rewrite: fn(&mut ExprReturn)) {
    struct Returns(fn(&mut ExprReturn));
    impl Look for Returns {
        fn enter(&mut self, part: Part<'_>) -> bool {
            !matches!(
                part,
                Part::Expr(Expr::Closure(_) | Expr::Async(_)) | Part::Item(_)
            )
        }

        fn leave(&mut self, part: Part<'_>) {
            if let Part::Expr(Expr::Return(out)) = part {
                (self.0)(out);
            }
        }
    }
    walk::rewrite(body, &mut Returns(rewrite));
}

/// Hands the value of a `return` to a function on its way out: `return value` becomes `return convert(value)`.
fn handed_out(out: &mut ExprReturn, convert: Expr) {
    let value = out.expr.take();
    out.expr = value.map(|value| {
        let end = end(&value);
        Box::new(Expr::Call(ExprCall {
            attrs: Vec::new(),
            func: Box::new(convert),
            paren_token: token::Paren(end),
            args: Punctuated::from_iter([*value]),
        }))
    });
}
