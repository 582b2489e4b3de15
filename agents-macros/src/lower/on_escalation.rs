//! What an agent says to an escalation, as it is written, to what rustc reads.
//!
//! ```text
//! match escalation.severity { Low => .. }     match escalation.severity { __rt::Severity::Low => .. }
//! escalate("no", severity = Critical)         escalate("no").severity(Critical)
//! reroute_to_skill(Self::by_hand)             reroute_to_skill("by_hand")
//! ```

use super::on_error::with_modifiers;
use crate::{
    ast,
    diag::Errors,
    keys, messages,
    model::Handler,
    names::plain,
    paths::qualified,
    suggest::{self, values},
    syntax::{handed_to, is_capitalised, own, pair, written},
};
use proc_macro2::Span;
use syn::{
    Expr, ExprCall, ExprLit, ExprMatch, Ident, Lit, LitStr, Member, Pat, parse_quote,
    parse_quote_spanned,
    punctuated::Punctuated,
    visit_mut::{self, VisitMut},
};

/// What the user meant by one `on_escalation!`.
pub(crate) fn on_escalation(written: ast::Handler, errors: &Errors) -> Handler {
    let ast::Handler {
        mut attrs,
        keyword,
        mut body,
    } = written;
    attrs.retain(|attribute| !attribute.path().is_ident("doc"));
    let mut sugar = Sugar {
        escalation: None,
        skills: Vec::new(),
        spelled: Vec::new(),
        strangers: Vec::new(),
        errors,
    };
    sugar.visit_expr_mut(&mut body);
    let Sugar {
        escalation,
        skills,
        spelled,
        strangers,
        ..
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

struct Sugar<'a> {
    escalation: Option<Ident>,
    skills: Vec<syn::Path>,
    spelled: Vec<LitStr>,
    strangers: Vec<Ident>,
    errors: &'a Errors,
}

impl VisitMut for Sugar<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Match(matched) = expr {
            by_severity(matched, self.errors);
        }
        if let Expr::Call(call) = expr {
            named(call, self.errors);
        }
        visit_mut::visit_expr_mut(self, expr);
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

    fn visit_macro_mut(&mut self, called: &mut syn::Macro) {
        handed_to(called, |expr| self.visit_expr_mut(expr));
    }
}

impl Sugar<'_> {
    fn call(&mut self, expr: &mut Expr) {
        let Expr::Call(call) = expr else { return };
        let Expr::Path(path) = &*call.func else {
            return;
        };
        let Some(mut verb) = path.path.get_ident().cloned() else {
            return;
        };
        if verb == "reroute_to"
            && let Some(skill) = call.args.first().and_then(own).cloned()
        {
            self.errors
                .at(&skill, messages::skill_for_agent(&skill.segments[1].ident));
            verb = Ident::new("reroute_to_skill", verb.span());
            *call.func = parse_quote!(#verb);
        }
        let Some(known) = keys::RESOLUTIONS.iter().find(|known| verb == known.name) else {
            if keys::VERBS.iter().any(|known| verb == known.name) {
                // It is not there, and that is said in other words.
                *expr = parse_quote_spanned!(verb.span()=> ::core::unreachable!());
                self.strangers.push(verb);
            }
            return;
        };
        if verb == "reroute_to_skill"
            && let Some(Expr::Lit(ExprLit {
                lit: Lit::Str(name),
                ..
            })) = call.args.first()
        {
            self.spelled.push(name.clone());
        }
        if verb == "reroute_to_skill"
            && let Some(path) = call.args.first().and_then(own).cloned()
        {
            let ident = &path.segments[1].ident;
            let name = plain(ident);
            call.args[0] = parse_quote_spanned!(ident.span()=> #name);
            self.skills.push(path);
        }
        let (mut plain, mut modifiers) = (Punctuated::new(), Vec::new());
        for argument in std::mem::take(&mut call.args) {
            match pair(argument) {
                Err(argument) if plain.len() == known.plain => {
                    let written = written(&argument);
                    self.errors.at(
                        &argument,
                        messages::value_too_many(known.name, known.plain, known.next, &written),
                    );
                }
                Err(argument) => plain.push(*argument),
                Ok((key, mut value)) if known.keys.iter().any(|name| key == name) => {
                    if key == "severity" {
                        values::severity(&mut value, self.errors);
                    }
                    modifiers.push((key, value));
                }
                Ok((key, _)) => self
                    .errors
                    .at(&key, suggest::unknown_modifier(&verb, &key, known.keys)),
            }
        }
        call.args = plain;
        let end = call.paren_token.span.close();
        with_modifiers(expr, modifiers, end);
    }
}

/// `match escalation { Low => .. }` is reported, and read as what was meant.
fn by_severity(matched: &mut ExprMatch, errors: &Errors) {
    let (Expr::Path(path), mut arms) = (&*matched.expr, matched.arms.iter()) else {
        return;
    };
    let is_severity = |arm: &syn::Arm| {
        let Pat::Ident(name) = &arm.pat else {
            return false;
        };
        keys::SEVERITIES
            .iter()
            .any(|severity| name.ident == severity)
    };
    let is_bare = path.path.is_ident("escalation") || path.path.is_ident("severity");
    if is_bare && arms.any(is_severity) {
        errors.at(path, messages::match_severity());
        let at = path.path.segments[0].ident.span();
        matched.expr = parse_quote_spanned!(at=> escalation.severity);
    }
}

/// `reroute_to_skill(self.by_hand())`, and the like, is reported, and read as what was meant.
fn named(call: &mut ExprCall, errors: &Errors) {
    let is_for_skills =
        matches!(&*call.func, Expr::Path(path) if path.path.is_ident("reroute_to_skill"));
    let Some(skill) = call.args.first_mut().filter(|_| is_for_skills) else {
        return;
    };
    let is_self = |of: &Expr| matches!(of, Expr::Path(path) if path.path.is_ident("self"));
    let name = match &*skill {
        Expr::MethodCall(method) if is_self(&method.receiver) => Some(method.method.clone()),
        Expr::Field(field) if is_self(&field.base) => match &field.member {
            Member::Named(name) => Some(name.clone()),
            Member::Unnamed(_) => None,
        },
        Expr::Call(method) => own(&method.func).map(|path| path.segments[1].ident.clone()),
        _ => None,
    };
    if let Some(name) = name {
        errors.at(&*skill, messages::skill_is_named(&name));
        *skill = parse_quote_spanned!(name.span()=> Self::#name);
    }
}

/// `escalation.severity`
fn is_severity(expr: &Expr) -> bool {
    matches!(expr, Expr::Field(field) if matches!(&field.member, Member::Named(name) if name == "severity"))
}

/// A bare capitalised name is a severity: so a typo is an error, and not a binding.
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
            if let Some(name) = values::spelled_severity(&spelled.path) {
                let path = qualified("Severity", name);
                *pattern = parse_quote!(#path);
            }
        }
        Pat::Or(either) => either.cases.iter_mut().for_each(qualify_pattern),
        Pat::Paren(inner) => qualify_pattern(&mut inner.pat),
        _ => {}
    }
}
