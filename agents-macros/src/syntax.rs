//! Questions about the user's tokens that need to know nothing of agents.

use crate::{keys::is_verb, names::plain};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Expr, GenericArgument, Ident, Macro, Meta, Path, PathArguments, Token, Type,
    ext::IdentExt, parse::Parser, punctuated::Punctuated,
};

/// Returns tokens as a person would write them: `Vec<String>` and not `Vec < String >`.
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

/// Removes the invisible brackets that `macro_rules!` leaves around an expression.
pub(crate) fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) if group.attrs.is_empty() => ungrouped(*group.expr),
        other => other,
    }
}

/// Splits `max_turns = 1` into its key and its value. Gives any other expression back.
pub(crate) fn pair(value: Expr) -> Result<(Ident, Expr), Box<Expr>> {
    if let Expr::Assign(assign) = &value
        && let Expr::Path(left) = &*assign.left
        && let Some(name) = left.path.get_ident()
    {
        return Ok((name.clone(), ungrouped((*assign.right).clone())));
    }
    Err(Box::new(value))
}

/// Returns the name of a function that an expression leads to. No type is written in lower case.
pub(crate) fn function(expr: &Expr) -> Option<&Ident> {
    let Expr::Path(path) = expr else { return None };
    let name = &path.path.segments.last()?.ident;
    let is_function = name != "self" && plain(name).starts_with(char::is_lowercase);
    is_function.then_some(name)
}

/// Returns the path in `Self::by_hand`.
pub(crate) fn own(expr: &Expr) -> Option<&Path> {
    match expr {
        Expr::Path(path) if is_own(&path.path) => Some(&path.path),
        _ => None,
    }
}

/// Tells whether a path has the form `Self::by_hand`.
pub(crate) fn is_own(path: &Path) -> bool {
    path.segments.len() == 2 && path.segments[0].ident == "Self"
}

/// Tells whether a name begins as variants do.
pub(crate) fn is_capitalised(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// Removes brackets around a type: visible ones, and the invisible ones of `macro_rules!`.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

/// Returns the last name of a type's path: `ToolContext` for `agents::ToolContext`.
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

/// Returns a type argument by its index: `E` in `Result<T, E>` has index 1.
pub(crate) fn argument(ty: &Type, n: usize) -> Option<&Type> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.get(n)? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// Returns the name of an attribute: `serde` for `#[serde(..)]`.
pub(crate) fn attribute_name(attribute: &Attribute) -> String {
    let segments = attribute
        .path()
        .segments
        .iter()
        .map(|segment| segment.ident.to_string());
    segments.collect::<Vec<_>>().join("::")
}

/// Tells whether an attribute sets a lint level, which may stand on a parameter.
pub(crate) fn is_lint_level(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"]
        .iter()
        .any(|level| attribute.path().is_ident(level))
}

/// Tells whether one of these attributes has `key` in its parentheses: `flatten` in `#[serde(flatten)]`.
pub(crate) fn has_key(attrs: &[Attribute], key: &str) -> bool {
    let has = |list: &syn::MetaList| {
        list.tokens
            .clone()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(ident) if ident == key))
    };
    attrs
        .iter()
        .any(|attribute| matches!(&attribute.meta, Meta::List(list) if has(list)))
}

/// Visits the arguments of a macro such as `dbg!`, in which a verb means what it means elsewhere.
///
/// A macro without a verb in it stays as it is.
pub(crate) fn handed_to(called: &mut Macro, visit: impl FnMut(&mut Expr)) {
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
