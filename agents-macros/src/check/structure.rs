//! The rules for teams that one macro can see. Building the team finds mistakes against the other rules.

use crate::{
    ast::{Argument, Placed, Said},
    diag::Errors,
    keys::{self, Key},
    messages,
    model::{Member, ToolRef},
    names::{is_one_of, type_name},
    syntax::{pair, ungrouped, written},
};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, ExprCall, ExprMethodCall, Ident, Lit, LitInt};

/// Checks each part of a `structure!` by itself. A part that is reported is left out.
pub(crate) fn structure_as_written(place: &mut Placed, errors: &Errors) {
    let mut seen: Vec<Ident> = Vec::new();
    place.said.retain_mut(|one| {
        if let Some(first) = seen.iter().find(|first| **first == one.method) {
            errors.at(first, messages::twice(&one.method));
            errors.at(&one.method, messages::twice(&one.method));
            return false;
        }
        let fits = said(one, errors);
        if fits {
            seen.push(one.method.clone());
        }
        fits
    });
}

fn said(one: &mut Said, errors: &Errors) -> bool {
    let Some(key) = keys::PLACE.iter().find(|key| one.method == key.name) else {
        return false;
    };
    match key.name {
        "delegates" => delegates(one, key, errors),
        "budget" => budget(one, errors),
        "background" | "background_until_answer" => nothing(one, errors),
        _ => tools(one, key, errors),
    }
}

/// Checks `.delegates(Coder, Tester)`, and the places of the delegates. Returns `false` if the setting is reported and
/// to be left out.
fn delegates(one: &mut Said, key: &Key, errors: &Errors) -> bool {
    if one.args.is_empty() {
        errors.at(&one.method, messages::says_nothing(key.name, key.usage));
        return false;
    }
    one.args.retain_mut(|arg| {
        let Argument::Delegate(below) = arg else {
            return true;
        };
        match &below.agent {
            Expr::Array(list) if below.said.is_empty() => {
                errors.at(list, messages::delegates_in_brackets());
                false
            }
            _ => {
                structure_as_written(below, errors);
                true
            }
        }
    });
    true
}

/// Checks that `.budget(tokens(500_000))` has one value. Returns `false` if the setting is reported and to be left out.
fn budget(one: &Said, errors: &Errors) -> bool {
    let values: Vec<&Expr> = one.values().collect();
    let is_bound = |value: &Expr| {
        let bound = pair(value.clone());
        bound.is_ok_and(|(name, _)| is_one_of(&name, keys::BUDGET))
    };
    if let [value] = values.as_slice()
        && !is_bound(value)
    {
        return true;
    }
    let message = match !values.is_empty() && values.iter().all(|value| is_bound(value)) {
        true => messages::budget_is_a_value(&calls(&values)),
        false => messages::one_budget().to_owned(),
    };
    errors.at(all(one), message);
    false
}

/// Checks that `.background()` has no arguments. Returns `false` if the setting is reported and to be left out.
fn nothing(one: &Said, errors: &Errors) -> bool {
    let fits = one.args.is_empty();
    if !fits {
        errors.at(all(one), messages::background_takes_nothing(&one.method));
    }
    fits
}

/// Returns bounds as a user writes them on a `Budget`, for a message: `.max_turns(3)` for `max_turns = 3`.
fn calls(bounds: &[&Expr]) -> String {
    let calls = bounds.iter().filter_map(|bound| match bound {
        Expr::Assign(set) => Some(format!(".{}({})", written(&set.left), written(&set.right))),
        _ => None,
    });
    calls.collect()
}

/// Checks the list of tools in `.grants([ReadFile])` or `.confirm(["mcp_*"])`, and removes elements that it reports.
/// Returns `false` if the whole setting is to be left out.
fn tools(one: &mut Said, key: &Key, errors: &Errors) -> bool {
    let at = all(one);
    let span = one.paren.span.join();
    let [Argument::Value(Expr::Array(list))] = one.args.as_mut_slice() else {
        errors.at(at, messages::wants_brackets(key.usage));
        return false;
    };
    let mut seen: Vec<ToolRef> = Vec::new();
    let elements = std::mem::take(&mut list.elems).into_iter();
    let kept = elements.filter(|element| {
        let Some(tool) = tool(element, errors) else {
            return false;
        };
        let is_again = seen.iter().any(|known| known.is(&tool));
        match is_again {
            true => errors.at(&tool, messages::named_twice(written(&tool))),
            false => seen.push(tool),
        }
        !is_again
    });
    list.elems = kept.collect();
    if list.elems.is_empty() && key.name != "grants" {
        let message = messages::says_nothing(key.name, key.usage);
        errors.note(syn::Error::new(span, message));
        return false;
    }
    true
}

fn tool(element: &Expr, errors: &Errors) -> Option<ToolRef> {
    let other = match ToolRef::of(ungrouped(element.clone())) {
        Ok(ToolRef::Type(path)) => {
            let last = path.segments.last().map(|last| &last.ident);
            if let Some(name) = last.filter(|name| !is_type(name)) {
                errors.at(&path, messages::tool_by_function(name, type_name(name)));
                return None;
            }
            return Some(ToolRef::Type(path));
        }
        Ok(named) => return Some(named),
        Err(other) => *other,
    };
    let message = match &other {
        Expr::Struct(value) => messages::tool_by_value(written(&value.path)),
        other => messages::names_no_tool(written(other)),
    };
    errors.at(&other, message);
    None
}

fn is_type(name: &Ident) -> bool {
    !name.to_string().starts_with(char::is_lowercase)
}

/// Returns the tokens to underline for a mistake about all arguments of a call.
fn all(one: &Said) -> TokenStream {
    let values: Vec<&Expr> = one.values().collect();
    match values.as_slice() {
        [] => one.method.to_token_stream(),
        values => quote!(#(#values),*),
    }
}

/// Checks the rules for a team as a whole, from its root down.
pub(crate) fn structure(root: &Member, errors: &Errors) {
    for method in root.background() {
        errors.at(method, messages::root_in_background(method));
    }
    visit(root, &mut Vec::new(), &mut Vec::new(), errors);
}

fn visit<'t>(
    here: &'t Member,
    above: &mut Vec<&'t Member>,
    seen: &mut Vec<String>,
    errors: &Errors,
) {
    placed_once(here, seen, errors);
    in_background_once(here, errors);
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

/// Reports an agent that is placed twice: `.delegates(Coder, Tester.delegates(Coder))`.
fn placed_once(here: &Member, seen: &mut Vec<String>, errors: &Errors) {
    let Some(path) = here.path() else { return };
    let name = written(path);
    if seen.contains(&name) {
        errors.at(path, messages::placed_twice(&name));
    }
    seen.push(name);
}

/// Reports `.background().background_until_answer()`.
fn in_background_once(here: &Member, errors: &Errors) {
    for second in here.background().iter().skip(1) {
        errors.at(second, messages::one_background());
    }
}

/// Reports a tool that is granted and confirmed: `.grants([Deploy]).confirm([Deploy])`.
fn granted_or_confirmed(here: &Member, errors: &Errors) {
    let granted = here.granted().unwrap_or_default();
    for tool in here.confirmed() {
        if granted.iter().any(|granted| granted.is(tool)) {
            errors.at(tool, messages::granted_and_confirmed(written(tool)));
        }
    }
}

/// Reports a tool that a place grants or confirms, and that the nearest agent above with grants neither grants nor
/// confirms: `CodeMaster.grants([Compile]).delegates(Coder.grants([Deploy]))`. Only types are compared, since a name or
/// a pattern may mean any tool. If that agent lists a name or a pattern, nothing is reported.
fn within(here: &Member, above: &[&Member], errors: &Errors) {
    let Some((parent, limits)) = above
        .iter()
        .rev()
        .find_map(|parent| Some((parent, parent.granted()?)))
    else {
        return;
    };
    let limits = [limits, parent.confirmed()];
    let is_in = |tool: &ToolRef, list: &[ToolRef]| list.iter().any(|other| other.is(tool));
    let is_typed = |list: &[ToolRef]| list.iter().all(ToolRef::is_type);
    if !limits.iter().all(|list| is_typed(list)) {
        return;
    }
    let granted = here.granted().unwrap_or_default();
    // A tool that is granted and confirmed is reported once.
    for (tools, others) in [(granted, &[][..]), (here.confirmed(), granted)] {
        for tool in tools {
            let is_new = tool.is_type() && !is_in(tool, others);
            if is_new && !limits.iter().any(|list| is_in(tool, list)) {
                let (child, parent) = (agent(here), agent(parent));
                errors.at(tool, messages::beyond(written(tool), child, parent));
            }
        }
    }
}

/// Reports a grant of a tool that an agent above has with confirmation only:
/// `CodeMaster.confirm([Deploy]).delegates(Coder.grants([Deploy]))`.
fn with_confirmation(here: &Member, above: &[&Member], errors: &Errors) {
    for tool in here.granted().unwrap_or_default() {
        let confirms = |parent: &&&Member| parent.confirmed().iter().any(|other| other.is(tool));
        if let Some(parent) = above.iter().find(confirms) {
            let (child, parent) = (agent(here), agent(parent));
            errors.at(tool, messages::unconfirmed(written(tool), child, parent));
        }
    }
}

type Bound = fn(&Expr) -> Option<&LitInt>;

/// The bounds of a budget that all agents below share, each with the function that reads it if it is a literal.
const BOUNDS: &[(&str, Bound)] = &[
    ("tokens", |budget| literal(argument(budget, "tokens")?)),
    ("minutes", |budget| {
        literal(argument(argument(budget, "time")?, "minutes")?)
    }),
    ("levels", |budget| literal(argument(budget, "depth")?)),
];

/// Reports a bound above that of an agent above: `.budget(tokens(10)).delegates(Coder.budget(tokens(20)))`.
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

/// Returns the argument of the call `name(..)`, alone or as `.name(..)` in a chain; `None` if the expression has no
/// such call.
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

/// Returns the agent as the user wrote it, for a message; of a long expression, its beginning.
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
