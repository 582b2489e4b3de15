//! [`ast`](crate::ast) to [`model`](crate::model): what the user wrote to what is meant.

mod agent;
mod any_error;
mod attributes;
mod bound;
mod branch;
pub(crate) mod docs;
mod failure;
mod in_doubt;
mod keys;
mod knowledge;
mod on_error;
mod on_escalation;
mod own;
mod params;
mod returns;
mod settings;
mod slips;
mod structure;
mod tool;
mod values;

pub(crate) use agent::{function_agent, skill_agent};
pub(crate) use branch::{branch, cx};
pub(crate) use in_doubt::in_doubt;
pub(crate) use on_error::{Of, on_error};
pub(crate) use returns::{answer, argument};
pub(crate) use structure::member;
pub(crate) use tool::tool;

use crate::{ast::Function, check::names::plain, diag::Errors, parse::keys::is_verb};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Expr, FnArg, Ident, Macro, Meta, Token, Type, ext::IdentExt, parse::Parser,
    punctuated::Punctuated,
};

/// `#[cfg(..)]`: what goes for the item goes for everything that is made of it.
fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .cloned()
        .collect()
}

/// Lint levels, which may stand on a parameter.
fn is_lint_level(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"]
        .iter()
        .any(|level| attribute.path().is_ident(level))
}

/// Takes from the parameters everything that only a macro may put there, and `self`.
fn strip_parameters(function: &mut Function) {
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(is_lint_level);
        }
    }
}

/// The type without the invisible brackets that `macro_rules!` leaves, and without visible ones.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

/// The last name of a type's path: `ToolContext` for `agents::ToolContext`.
pub(crate) fn last_name(ty: &Type) -> Option<String> {
    match bare(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.unraw().to_string()),
        _ => None,
    }
}

/// A path to a function: no type is written in lower case.
fn function(expr: &Expr) -> Option<&Ident> {
    let Expr::Path(path) = expr else { return None };
    let name = &path.path.segments.last()?.ident;
    let is_function = name != "self" && plain(name).starts_with(char::is_lowercase);
    is_function.then_some(name)
}

/// What is handed to a macro such as `dbg!`, where verbs are as much verbs as elsewhere. A macro that has none is none
/// of ours.
fn handed_to(called: &mut Macro, visit: impl FnMut(&mut Expr)) {
    let list = Punctuated::<Expr, Token![,]>::parse_terminated;
    if names_a_verb(called.tokens.clone())
        && let Ok(mut list) = list.parse2(called.tokens.clone())
    {
        list.iter_mut().for_each(visit);
        called.tokens = list.into_token_stream();
    }
}

fn names_a_verb(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => is_verb(&name),
        TokenTree::Group(group) => names_a_verb(group.stream()),
        _ => false,
    })
}

/// The attribute as a person would name it: `serde` for `#[serde(..)]`.
fn attribute_name(attribute: &Attribute) -> String {
    let segments = attribute
        .path()
        .segments
        .iter()
        .map(|segment| segment.ident.to_string());
    segments.collect::<Vec<_>>().join("::")
}

/// `#[inject]` is written without arguments.
fn wants_no_arguments(attribute: &Attribute, errors: &Errors, message: &str) {
    if !matches!(attribute.meta, Meta::Path(_)) {
        errors.at(attribute, message);
    }
}

/// A type as a person would write it: `Vec<String>` and not `Vec < String >`.
pub(crate) fn written(ty: &impl ToTokens) -> String {
    let mut text = ty.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" , ", ", "),
        (" ;", ";"),
        (":: ", "::"),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}
