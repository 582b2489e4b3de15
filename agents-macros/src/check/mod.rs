//! The rules, one function for each; the wordings are in [`messages`].

mod agent;
mod branch;
mod on_error;
mod on_escalation;
mod structure;
mod tool;

pub(crate) use agent::agent;
pub(crate) use branch::branch;
pub(crate) use on_error::on_error;
pub(crate) use structure::structure;
pub(crate) use tool::tool;

use crate::{ast::Function, diag::Errors, messages, names, suggest::nearest};
use quote::{ToTokens, quote};
use syn::{Abi, GenericParam, Ident, Safety, Visibility};

/// `unsafe extern "C" const fn f<T>()`
fn is_plain(what: &str, function: &Function, errors: &Errors) {
    let sig = &function.sig;
    if let Some(constness) = &sig.constness {
        errors.at(constness, messages::no_modifier(what, "const"));
    }
    if let Safety::Unsafe(unsafety) = &sig.safety {
        errors.at(unsafety, messages::no_modifier(what, "unsafe"));
    }
    if let Some(Abi { extern_token, .. }) = &sig.abi {
        errors.at(extern_token, messages::no_modifier(what, "extern"));
    }
    for param in &sig.generics.params {
        match param {
            GenericParam::Lifetime(lifetime) => errors.at(lifetime, messages::no_lifetimes(what)),
            GenericParam::Type(ty) => errors.at(ty, messages::not_generic(what)),
            GenericParam::Const(constant) => errors.at(constant, messages::not_generic(what)),
        }
    }
    if let Some(clause) = &sig.generics.where_clause
        && sig.generics.params.is_empty()
    {
        errors.at(clause, messages::not_generic(what));
    }
}

/// `fn ReadFile` would leave a type of its own name, and `fn error` one that hides `Error`.
fn named(function: &Function, ty: &Ident, errors: &Errors) {
    let name = &function.sig.ident;
    if ty == &names::plain(name) {
        errors.at(name, messages::not_snake_case(ty));
    } else if names::hides_another(ty) {
        errors.at(name, messages::hides_another(name, ty));
    }
}

/// What a missing body is underlined with: the function, from its first word to its name.
fn head(function: &Function) -> impl ToTokens {
    let Function { vis, sig, .. } = function;
    let vis = if matches!(vis, Visibility::Inherited) {
        None
    } else {
        Some(vis)
    };
    let (asyncness, fn_token, ident) = (&sig.asyncness, &sig.fn_token, &sig.ident);
    quote!(#vis #asyncness #fn_token #ident)
}

/// Returns the message about a name that no skill has.
fn not_a_skill(name: &str, known: &[&str]) -> String {
    messages::not_a_skill(name, nearest(name, known), known)
}
