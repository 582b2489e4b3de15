//! Lowers `undo`: `return undone()` becomes `return __rt::Undoing(undone()).said()`.

use super::returns;
use crate::{ast::Undo, paths::end};
use quote::quote_spanned;
use syn::{Expr, ExprBlock};

/// Rewrites the code of one `undo`, so that its `return`s are converted as its value is. An `async` block is replaced
/// by the code in it, which may await anyway.
pub(crate) fn undo(mut undo: Undo) -> Undo {
    if let Expr::Async(made) = &undo.body {
        undo.body = Expr::Block(ExprBlock {
            attrs: Vec::new(),
            label: None,
            block: made.block.clone(),
        });
    }
    returns(&mut undo.body, |out| {
        let value = out.expr.take();
        out.expr = value.map(|value| {
            let said = quote_spanned!(end(&value)=> __rt::Undoing(#value).said());
            Box::new(Expr::Verbatim(said))
        });
    });
    undo
}
