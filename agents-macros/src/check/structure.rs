//! The rules for structures: what can be seen in one macro. The rest is found when the team is built.

use crate::{
    diag::Errors,
    messages,
    model::{Member, ToolRef},
    syntax::written,
};
use quote::ToTokens;
use syn::{Expr, ExprCall, ExprMethodCall, Lit, LitInt, Path};

/// Checks a whole team.
pub(crate) fn structure(root: &Member, errors: &Errors) {
    visit(root, &mut Vec::new(), &mut Vec::new(), errors);
}

fn visit<'t>(
    here: &'t Member,
    above: &mut Vec<&'t Member>,
    seen: &mut Vec<&'t Path>,
    errors: &Errors,
) {
    placed_once(here, seen, errors);
    granted_or_confirmed(here, errors);
    within(here, above, errors);
    with_confirmation(here, above, errors);
    for (what, bound) in BOUNDS {
        within_budget(here, above, what, *bound, errors);
    }
    above.push(here);
    for below in here.delegates() {
        visit(below, above, seen, errors);
    }
    above.pop();
}

/// `.delegates(Coder, Tester.delegates(Coder))`
fn placed_once<'t>(here: &'t Member, seen: &mut Vec<&'t Path>, errors: &Errors) {
    let Some(path) = here.path() else { return };
    if seen.contains(&path) {
        errors.at(path, messages::placed_twice(written(path)));
    }
    seen.push(path);
}

/// `.grants([Deploy]).confirm([Deploy])`
fn granted_or_confirmed(here: &Member, errors: &Errors) {
    let granted = here.granted().unwrap_or_default();
    for tool in here.confirmed() {
        if granted.iter().any(|granted| granted.is(tool)) {
            errors.at(tool, messages::granted_and_confirmed(written(tool)));
        }
    }
}

/// `CodeMaster.grants([Compile]).delegates(Coder.grants([Deploy]))`. What a name or a pattern means is
/// not known here.
fn within(here: &Member, above: &[&Member], errors: &Errors) {
    let Some((parent, limits)) = above
        .iter()
        .rev()
        .find_map(|parent| Some((parent, parent.granted()?)))
    else {
        return;
    };
    let limits = || limits.iter().chain(parent.confirmed());
    if !limits().all(ToolRef::is_type) {
        return;
    }
    let granted = here.granted().unwrap_or_default();
    let confirmed = here.confirmed().iter();
    let confirmed = confirmed.filter(|tool| !granted.iter().any(|granted| granted.is(tool)));
    for tool in granted
        .iter()
        .chain(confirmed)
        .filter(|tool| tool.is_type())
    {
        if !limits().any(|limit| limit.is(tool)) {
            let (child, parent) = (agent(here), agent(parent));
            errors.at(tool, messages::beyond(written(tool), child, parent));
        }
    }
}

/// `CodeMaster.confirm([Deploy]).delegates(Coder.grants([Deploy]))`
fn with_confirmation(here: &Member, above: &[&Member], errors: &Errors) {
    for tool in here.granted().into_iter().flatten() {
        let confirms = |parent: &&&Member| parent.confirmed().iter().any(|other| other.is(tool));
        if let Some(parent) = above.iter().find(confirms) {
            let (child, parent) = (agent(here), agent(parent));
            errors.at(tool, messages::unconfirmed(written(tool), child, parent));
        }
    }
}

type Bound = fn(&Expr) -> Option<&LitInt>;

/// The bounds that everything below shares, where they are literals.
const BOUNDS: &[(&str, Bound)] = &[
    ("tokens", |budget| literal(argument(budget, "tokens")?)),
    ("minutes", |budget| {
        literal(argument(argument(budget, "time")?, "minutes")?)
    }),
    ("levels", |budget| literal(argument(budget, "depth")?)),
];

/// `.budget(tokens(10)).delegates(Coder.budget(tokens(20)))`
fn within_budget(here: &Member, above: &[&Member], what: &str, bound: Bound, errors: &Errors) {
    let said = |member: &Member| -> Option<(LitInt, u64)> {
        let literal = bound(member.budget()?)?;
        Some((literal.clone(), literal.base10_parse().ok()?))
    };
    let Some((place, own)) = said(here) else {
        return;
    };
    for parent in above {
        if let Some((_, limit)) = said(parent).filter(|(_, limit)| *limit < own) {
            let (own, limit) = (format!("{own} {what}"), limit.to_string());
            errors.at(place, messages::above_budget(&own, &limit, agent(parent)));
            return;
        }
    }
}

/// What `name` is given in `name(..)`, or in a chain in which `.name(..)` is called.
fn argument<'e>(expr: &'e Expr, name: &str) -> Option<&'e Expr> {
    match expr {
        Expr::MethodCall(ExprMethodCall { method, args, .. }) if method == name => args.first(),
        Expr::MethodCall(call) => argument(&call.receiver, name),
        Expr::Call(ExprCall { func, args, .. }) => match &**func {
            Expr::Path(path) if path.path.segments.last()?.ident == name => args.first(),
            _ => None,
        },
        Expr::Paren(paren) => argument(&paren.expr, name),
        Expr::Group(group) => argument(&group.expr, name),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<&LitInt> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// The agent as it is written; of a long expression its beginning.
fn agent(member: &Member) -> String {
    let agent = match &member.agent {
        Expr::Struct(literal) => written(&literal.path),
        Expr::Call(call) => format!("{}(..)", written(&call.func.to_token_stream())),
        other => written(other),
    };
    match agent.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &agent[..end]),
        None => agent,
    }
}
