//! Lowers `undo`: `return undone()` becomes `return __rt::Undoing(undone()).said()`.

use crate::{ast::Undo, paths::end};
use quote::quote_spanned;
use syn::{
    Expr, ExprAsync, ExprBlock, ExprClosure, ExprReturn, Item,
    visit_mut::{self, VisitMut},
};

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
    Outs.visit_expr_mut(&mut undo.body);
    undo
}

/// Rewrites each `return` that leaves the user's code; a `return` of a closure, an async block or an item within it
/// stays.
struct Outs;

impl VisitMut for Outs {
    fn visit_expr_return_mut(&mut self, out: &mut ExprReturn) {
        visit_mut::visit_expr_return_mut(self, out);
        let value = out.expr.take();
        out.expr = value.map(|value| {
            let said = quote_spanned!(end(&value)=> __rt::Undoing(#value).said());
            Box::new(Expr::Verbatim(said))
        });
    }

    // A `return` in there leaves only that.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
