//! Slips in `on_escalation!`.

use crate::{diag::Errors, keys, messages, names::is_one_of, syntax::own};
use syn::{Expr, ExprCall, ExprMatch, Ident, Member, Pat, parse_quote, parse_quote_spanned};

/// Corrects one expression in `on_escalation!` where the meaning is clear: the value of a `match`, or the argument of
/// `reroute_to_skill`. Deeper expressions stay: the caller visits each of them.
pub(crate) fn mend(expr: &mut Expr, errors: &Errors) {
    match expr {
        Expr::Match(matched) => by_severity(matched, errors),
        Expr::Call(call) => named(call, errors),
        _ => {}
    }
}

/// Corrects a skill in the place of an agent: `reroute_to(Self::by_hand)` becomes `reroute_to_skill(Self::by_hand)`.
pub(crate) fn agent_for_skill(call: &mut ExprCall, errors: &Errors) {
    if let Expr::Path(path) = &*call.func
        && let Some(verb) = path.path.get_ident().filter(|verb| *verb == "reroute_to")
        && let Some(skill) = call.args.first().and_then(own)
    {
        errors.at(skill, messages::skill_for_agent(&skill.segments[1].ident));
        let verb = Ident::new("reroute_to_skill", verb.span());
        *call.func = parse_quote!(#verb);
    }
}

/// Corrects a `match` over the escalation: `match escalation { Low => .. }` becomes
/// `match escalation.severity { Low => .. }`.
fn by_severity(matched: &mut ExprMatch, errors: &Errors) {
    let (Expr::Path(path), mut arms) = (&*matched.expr, matched.arms.iter()) else {
        return;
    };
    let is_severity = |arm: &syn::Arm| {
        let Pat::Ident(name) = &arm.pat else {
            return false;
        };
        is_one_of(&name.ident, keys::SEVERITIES)
    };
    let is_bare = path.path.is_ident("escalation") || path.path.is_ident("severity");
    if is_bare && arms.any(is_severity) {
        errors.at(path, messages::match_severity());
        let at = path.path.segments[0].ident.span();
        matched.expr = parse_quote_spanned!(at=> escalation.severity);
    }
}

/// Corrects a call in the place of a skill: `reroute_to_skill(self.by_hand())` and the like become
/// `reroute_to_skill(Self::by_hand)`.
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
