//! Lowers `in_doubt`: `return done(x)` becomes `return __rt::known(done(x))`.

use crate::{ast::InDoubt, paths::end};
use syn::{
    Expr, ExprAsync, ExprCall, ExprClosure, ExprReturn, Item, parse_quote_spanned,
    punctuated::Punctuated,
    token,
    visit_mut::{self, VisitMut},
};

/// Rewrites the code of one `in_doubt`, so that its `return`s are converted as its value is.
pub(crate) fn in_doubt(mut doubt: InDoubt) -> InDoubt {
    Outs.visit_expr_mut(&mut doubt.body);
    doubt
}

/// Rewrites each `return` that leaves the user's code; a `return` of a closure, an async block or an item within it
/// stays.
struct Outs;

impl VisitMut for Outs {
    fn visit_expr_return_mut(&mut self, out: &mut ExprReturn) {
        visit_mut::visit_expr_return_mut(self, out);
        let span = out.return_token.span;
        let value = out.expr.take();
        out.expr = value.map(|value| {
            let end = end(&value);
            Box::new(Expr::Call(ExprCall {
                attrs: Vec::new(),
                func: Box::new(parse_quote_spanned!(span=> __rt::known)),
                paren_token: token::Paren(end),
                args: Punctuated::from_iter([*value]),
            }))
        });
    }

    // A `return` in there leaves only that.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
