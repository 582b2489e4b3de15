//! Names that mean something inside of one arm only.

use crate::walk::{self, Part};
use proc_macro2::{TokenStream, TokenTree};
use syn::{Expr, Ident, Pat};

/// Returns all names that an arm of `on_error` binds: in its patterns, in its guard, and inside of its body.
pub(crate) fn names(arm: &crate::ast::Arm) -> Vec<Ident> {
    let mut names = in_patterns(arm);
    let mut look = |part: Part<'_>| binding(part, &mut names);
    if let Some((_, guard)) = &arm.guard {
        walk::read_expr(guard, &mut look);
    }
    walk::read_expr(&arm.body, &mut look);
    names
}

/// Returns the names that an arm binds in its patterns, for all of its body.
pub(crate) fn in_patterns(arm: &crate::ast::Arm) -> Vec<Ident> {
    let mut names = Vec::new();
    for pattern in &arm.patterns {
        walk::read_pat(pattern, &mut |part| binding(part, &mut names));
    }
    names
}

/// Collects the name that a pattern binds. Names are looked for in every part: returns `true`.
fn binding(part: Part<'_>, names: &mut Vec<Ident>) -> bool {
    if let Part::Pat(Pat::Ident(pattern)) = part {
        names.push(pattern.ident.clone());
    }
    true
}

/// Returns the first name in an expression that is `cx` or one of `names`; `None` if there is no such name.
pub(crate) fn mention(expr: &Expr, names: &[Ident]) -> Option<Ident> {
    let mut mention = Mention { names, found: None };
    walk::read_expr(expr, &mut |part| match part {
        Part::Expr(Expr::Path(path)) | Part::Pat(Pat::Path(path)) => {
            if let Some(name) = path.path.get_ident() {
                mention.look(name);
            }
            false
        }
        Part::Macro(call) => {
            mention.look_through(call.tokens.clone());
            false
        }
        _ => true,
    });
    mention.found
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
