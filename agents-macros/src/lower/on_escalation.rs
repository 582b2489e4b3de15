//! Lowers `on_escalation!`.
//!
//! ```text
//! match escalation.severity { Low => .. }     match escalation.severity { __rt::Severity::Low => .. }
//! escalate("no", severity = Critical)         escalate("no").severity(Critical)
//! reroute_to_skill(Self::by_hand)             reroute_to_skill("by_hand")
//! ```

use super::{drop_docs, on_error::with_modifiers};
use crate::{
    ast, keys,
    model::Handler,
    names::plain,
    paths::qualified,
    syntax::{handed_to, is_capitalised, own, pair, spelled_severity},
    walk::{self, Look, Part},
};
use proc_macro2::Span;
use syn::{
    Expr, ExprLit, ExprMatch, Ident, Lit, LitStr, Member, Pat, parse_quote, parse_quote_spanned,
    punctuated::Punctuated,
};

/// Turns one `on_escalation!` into the model from which code is printed, with plain Rust in place of the macro's
/// notation.
pub(crate) fn on_escalation(written: ast::Handler) -> Handler {
    let ast::Handler {
        mut attrs,
        keyword,
        mut body,
    } = written;
    drop_docs(&mut attrs);
    let mut sugar = Sugar {
        escalation: None,
        skills: Vec::new(),
        spelled: Vec::new(),
        strangers: Vec::new(),
    };
    walk::rewrite(&mut body, &mut sugar);
    let Sugar {
        escalation,
        skills,
        spelled,
        strangers,
    } = sugar;
    Handler {
        attrs,
        keyword,
        body,
        escalation: escalation.unwrap_or_else(|| Ident::new("escalation", Span::call_site())),
        skills,
        spelled,
        strangers,
    }
}

struct Sugar {
    escalation: Option<Ident>,
    skills: Vec<syn::Path>,
    spelled: Vec<LitStr>,
    strangers: Vec<Ident>,
}

impl Look for Sugar {
    fn enter(&mut self, part: Part<'_>) -> bool {
        match part {
            Part::Macro(called) => {
                handed_to(called, self);
                false
            }
            _ => true,
        }
    }

    fn leave(&mut self, part: Part<'_>) {
        let Part::Expr(expr) = part else { return };
        match expr {
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident().filter(|name| *name == "escalation") {
                    self.escalation.get_or_insert_with(|| name.clone());
                }
            }
            Expr::Match(matched) if is_severity(&matched.expr) => qualify(matched),
            Expr::Call(_) => self.call(expr),
            _ => {}
        }
    }
}

impl Sugar {
    /// Rewrites the call of a verb: `escalate("no", severity = Low)` to `escalate("no").severity(Low)`, and a skill to
    /// its name.
    fn call(&mut self, expr: &mut Expr) {
        let Expr::Call(call) = expr else { return };
        let Expr::Path(path) = &*call.func else {
            return;
        };
        let Some(verb) = path.path.get_ident().cloned() else {
            return;
        };
        if keys::named(&verb, keys::RESOLUTIONS).is_none() {
            if keys::named(&verb, keys::VERBS).is_some() {
                // No such verb is in scope: that is reported, and rustc need not report it as well.
                *expr = parse_quote_spanned!(verb.span()=> ::core::unreachable!());
                self.strangers.push(verb);
            }
            return;
        }
        if verb == "reroute_to_skill" {
            if let Some(Expr::Lit(ExprLit {
                lit: Lit::Str(name),
                ..
            })) = call.args.first()
            {
                self.spelled.push(name.clone());
            }
            if let Some(path) = call.args.first().and_then(own).cloned() {
                let ident = &path.segments[1].ident;
                let name = plain(ident);
                call.args[0] = parse_quote_spanned!(ident.span()=> #name);
                self.skills.push(path);
            }
        }
        let (mut values, mut modifiers) = (Punctuated::new(), Vec::new());
        for argument in std::mem::take(&mut call.args) {
            match pair(argument) {
                Ok(modifier) => modifiers.push(modifier),
                Err(value) => values.push(*value),
            }
        }
        call.args = values;
        let end = call.paren_token.span.close();
        with_modifiers(expr, modifiers, end);
    }
}

/// Tells whether an expression is a field `severity`, such as `escalation.severity`.
fn is_severity(expr: &Expr) -> bool {
    matches!(expr, Expr::Field(field) if matches!(&field.member, Member::Named(name) if name == "severity"))
}

/// Qualifies a bare capitalised name, and `Severity::High`, as a severity, so that a typo is an error and no binding.
fn qualify(matched: &mut ExprMatch) {
    for arm in &mut matched.arms {
        qualify_pattern(&mut arm.pat);
    }
}

fn qualify_pattern(pattern: &mut Pat) {
    match pattern {
        Pat::Ident(binding) if binding.subpat.is_none() && is_capitalised(&binding.ident) => {
            let path = qualified("Severity", &binding.ident);
            *pattern = parse_quote!(#path);
        }
        Pat::Path(spelled) => {
            if let Some(name) = spelled_severity(&spelled.path) {
                let path = qualified("Severity", name);
                *pattern = parse_quote!(#path);
            }
        }
        Pat::Or(either) => either.cases.iter_mut().for_each(qualify_pattern),
        Pat::Paren(inner) => qualify_pattern(&mut inner.pat),
        _ => {}
    }
}
