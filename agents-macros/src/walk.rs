//! Walks over the user's code.
//!
//! All walks share one visitor: for each type of visitor, rustc compiles a function for each kind of syntax. The visitor
//! may rewrite what it visits, so a walk that only reads gets a copy.

use syn::{
    Expr, Item, Macro, ParenthesizedGenericArguments, Pat, Type,
    visit_mut::{self, VisitMut},
};

/// Part of the code to which a walk comes.
pub(crate) enum Part<'p> {
    Expr(&'p mut Expr),
    Pat(&'p mut Pat),
    Type(&'p mut Type),
    Item(&'p mut Item),
    Macro(&'p mut Macro),
    /// The types in `Fn(A) -> B`.
    Signature,
}

/// Callbacks of a walk.
pub(crate) trait Look {
    /// Looks at a part before the walk goes into it. The walk passes by a part for which this returns `false`.
    fn enter(&mut self, part: Part<'_>) -> bool;

    /// Looks at a part after the walk has been in it.
    fn leave(&mut self, part: Part<'_>);
}

/// Looks at an expression and at all that is in it, and may rewrite it.
pub(crate) fn rewrite(expr: &mut Expr, look: &mut dyn Look) {
    Walk(look).visit_expr_mut(expr);
}

/// Shows an expression, and all that is in it, to `look`, which tells whether to go into a part.
pub(crate) fn read_expr(expr: &Expr, look: &mut dyn FnMut(Part<'_>) -> bool) {
    Walk(&mut Read(look)).visit_expr_mut(&mut expr.clone());
}

/// Shows a pattern, and all that is in it, to `look`, which tells whether to go into a part.
pub(crate) fn read_pat(pattern: &Pat, look: &mut dyn FnMut(Part<'_>) -> bool) {
    Walk(&mut Read(look)).visit_pat_mut(&mut pattern.clone());
}

/// Shows a type, and all that is in it, to `look`, which tells whether to go into a part.
pub(crate) fn read_type(ty: &Type, look: &mut dyn FnMut(Part<'_>) -> bool) {
    Walk(&mut Read(look)).visit_type_mut(&mut ty.clone());
}

struct Read<'l>(&'l mut dyn FnMut(Part<'_>) -> bool);

impl Look for Read<'_> {
    fn enter(&mut self, part: Part<'_>) -> bool {
        (self.0)(part)
    }

    fn leave(&mut self, _: Part<'_>) {}
}

struct Walk<'l>(&'l mut dyn Look);

impl VisitMut for Walk<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.0.enter(Part::Expr(expr)) {
            visit_mut::visit_expr_mut(self, expr);
            self.0.leave(Part::Expr(expr));
        }
    }

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        if self.0.enter(Part::Pat(pattern)) {
            visit_mut::visit_pat_mut(self, pattern);
            self.0.leave(Part::Pat(pattern));
        }
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        if self.0.enter(Part::Type(ty)) {
            visit_mut::visit_type_mut(self, ty);
            self.0.leave(Part::Type(ty));
        }
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        if self.0.enter(Part::Item(item)) {
            visit_mut::visit_item_mut(self, item);
            self.0.leave(Part::Item(item));
        }
    }

    fn visit_macro_mut(&mut self, called: &mut Macro) {
        if self.0.enter(Part::Macro(called)) {
            visit_mut::visit_macro_mut(self, called);
            self.0.leave(Part::Macro(called));
        }
    }

    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        signature: &mut ParenthesizedGenericArguments,
    ) {
        if self.0.enter(Part::Signature) {
            visit_mut::visit_parenthesized_generic_arguments_mut(self, signature);
            self.0.leave(Part::Signature);
        }
    }
}
