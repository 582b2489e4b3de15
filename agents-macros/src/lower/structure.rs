//! What is said of a place to what is meant by it.

use crate::{
    ast::{self, Argument},
    diag::Errors,
    keys::{self, Key},
    messages,
    model::{Member, Said, ToolRef},
    names::type_name,
    syntax::{pair, ungrouped, written},
};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, Ident, Lit, Path, punctuated::Punctuated};

/// What the user meant by one agent of a `structure!`, and by those below it.
pub(crate) fn member(written: ast::Placed, errors: &Errors) -> Member {
    let mut said: Vec<(Ident, Said)> = Vec::new();
    for one in written.said {
        let method = one.method.clone();
        if let Some((first, _)) = said.iter().find(|(first, _)| *first == method) {
            errors.at(first, messages::twice(&method));
            errors.at(&method, messages::twice(&method));
        } else if let Some(meant) = meant(one, errors) {
            said.push((method, meant));
        }
    }
    Member {
        agent: written.agent,
        said: said.into_iter().map(|(_, said)| said).collect(),
    }
}

fn meant(one: ast::Said, errors: &Errors) -> Option<Said> {
    let ast::Said {
        method,
        paren,
        args,
    } = one;
    let key = keys::PLACE.iter().find(|key| method == key.name)?;
    let mut members = Vec::new();
    let mut values = Vec::new();
    for arg in args {
        match arg {
            Argument::Delegate(below) => members.push(below),
            Argument::Value(value) => values.push(value),
        }
    }
    match key.name {
        "delegates" => delegates(method, members, key, errors),
        "budget" => match <[Expr; 1]>::try_from(values) {
            Ok([budget]) if !is_bound(&budget) => Some(Said::Budget(method, budget)),
            values => {
                let values = values.map_or_else(|many| many, Vec::from);
                let message = match !values.is_empty() && values.iter().all(is_bound) {
                    true => messages::budget_is_a_value(&calls(&values)),
                    false => messages::one_budget().to_owned(),
                };
                errors.at(all(&method, &values), message);
                None
            }
        },
        _ => {
            let tools = match <[Expr; 1]>::try_from(values) {
                Ok([Expr::Array(list)]) => list.elems,
                Ok([other]) => {
                    errors.at(other, messages::wants_brackets(key.usage));
                    return None;
                }
                Err(values) => {
                    errors.at(all(&method, &values), messages::wants_brackets(key.usage));
                    return None;
                }
            };
            let tools = self::tools(tools, errors);
            match key.name {
                "grants" => Some(Said::Grants(method, tools)),
                _ if tools.is_empty() => {
                    errors.note(syn::Error::new(
                        paren.span.join(),
                        messages::says_nothing(key.name, key.usage),
                    ));
                    None
                }
                _ => Some(Said::Confirm(method, tools)),
            }
        }
    }
}

/// `max_turns = 3`, as a bound is written in `#[agent(budget(..))]`.
fn is_bound(value: &Expr) -> bool {
    pair(value.clone()).is_ok_and(|(name, _)| keys::BUDGET.iter().any(|known| name == known))
}

/// Returns bounds as calls on a `Budget`: `.max_turns(3)` for `max_turns = 3`.
fn calls(bounds: &[Expr]) -> String {
    let calls = bounds.iter().filter_map(|bound| match bound {
        Expr::Assign(set) => Some(format!(".{}({})", written(&set.left), written(&set.right))),
        _ => None,
    });
    calls.collect()
}

/// What a mistake about all arguments is underlined with.
fn all(method: &Ident, values: &[Expr]) -> TokenStream {
    match values {
        [] => method.to_token_stream(),
        values => quote::quote!(#(#values),*),
    }
}

fn delegates(method: Ident, members: Vec<ast::Placed>, key: &Key, errors: &Errors) -> Option<Said> {
    if members.is_empty() {
        errors.at(&method, messages::says_nothing(key.name, key.usage));
        return None;
    }
    let mut below = Vec::new();
    for one in members {
        match &one.agent {
            Expr::Array(list) if one.said.is_empty() => {
                errors.at(list, messages::delegates_in_brackets());
            }
            _ => below.push(member(one, errors)),
        }
    }
    Some(Said::Delegates(method, below))
}

fn tools(elements: Punctuated<Expr, syn::Token![,]>, errors: &Errors) -> Vec<ToolRef> {
    let mut tools: Vec<ToolRef> = Vec::new();
    for element in elements {
        let Some(tool) = tool(element, errors) else {
            continue;
        };
        match tools.iter().any(|known| known.is(&tool)) {
            true => errors.at(&tool, messages::named_twice(written(&tool))),
            false => tools.push(tool),
        }
    }
    tools
}

fn tool(element: Expr, errors: &Errors) -> Option<ToolRef> {
    match ungrouped(element) {
        Expr::Path(path) if path.qself.is_none() => match function(&path.path) {
            Some(name) => errors.at(&path, messages::tool_by_function(name, type_name(name))),
            None => return Some(ToolRef::Type(path.path)),
        },
        Expr::Lit(literal) => match literal.lit {
            Lit::Str(name) => return Some(ToolRef::Named(name)),
            other => errors.at(&other, messages::names_no_tool(written(&other))),
        },
        Expr::Struct(value) => {
            errors.at(&value, messages::tool_by_value(written(&value.path)));
        }
        other => errors.at(&other, messages::names_no_tool(written(&other))),
    }
    None
}

/// The name, where a path leads to a function.
fn function(path: &Path) -> Option<&Ident> {
    let name = &path.segments.last()?.ident;
    name.to_string()
        .starts_with(char::is_lowercase)
        .then_some(name)
}
