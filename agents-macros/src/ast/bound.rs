//! Names that mean something inside of one arm only.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Expr, ExprPath, Ident, Macro, PatIdent,
    visit::{self, Visit},
};

/// Returns all names that an arm of `on_error` binds: in its patterns, in its guard, and inside of its body.
pub(crate) fn names(arm: &crate::ast::Arm) -> Vec<Ident> {
    let mut bound = Bound(in_patterns(arm));
    if let Some((_, guard)) = &arm.guard {
        bound.visit_expr(guard);
    }
    bound.visit_expr(&arm.body);
    bound.0
}

/// Returns the names that an arm binds in its patterns, for all of its body.
pub(crate) fn in_patterns(arm: &crate::ast::Arm) -> Vec<Ident> {
    let mut bound = Bound(Vec::new());
    for pattern in &arm.patterns {
        bound.visit_pat(pattern);
    }
    bound.0
}

/// Returns the first name in an expression that is `cx` or one of `names`; `None` if there is no such name.
pub(crate) fn mention(expr: &Expr, names: &[Ident]) -> Option<Ident> {
    let mut mention = Mention { names, found: None };
    mention.visit_expr(expr);
    mention.found
}

struct Bound(Vec<Ident>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.0.push(pattern.ident.clone());
        visit::visit_pat_ident(self, pattern);
    }
}

struct Mention<'a> {
    names: &'a [Ident],
    found: Option<Ident>,
}

impl Mention<'_> {
    fn look(&mut self, name: &Ident) {
        // The context of the arms is bound by the macro.
        if self.found.is_none() && (name == "cx" || self.names.contains(name)) {
            self.found = Some(name.clone());
        }
    }

    fn look_through(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => self.look(&name),
                TokenTree::Group(group) => self.look_through(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Mention<'_> {
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        if let Some(name) = path.path.get_ident() {
            self.look(name);
        }
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.look_through(call.tokens.clone());
    }
}
