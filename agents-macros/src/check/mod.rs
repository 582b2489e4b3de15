//! The rules, one function for each; the wordings are in [`messages`].

mod agent;
mod branch;
mod in_doubt;
mod keys;
mod on_error;
mod on_escalation;
mod params;
mod settings;
mod signature;
mod structure;
mod tool;

pub(crate) use agent::{agent, function_as_written, skills_as_written};
pub(crate) use branch::{branch, branch_as_written};
pub(crate) use in_doubt::in_doubt_as_written;
pub(crate) use on_error::{Of, arms_as_written, on_error};
pub(crate) use on_escalation::handler_as_written;
pub(crate) use structure::{structure, structure_as_written};
pub(crate) use tool::{tool, tool_as_written};

use crate::{
    ast::Function,
    diag::Errors,
    keys::Verb,
    messages, names,
    suggest::{self, nearest},
    syntax::{pair, written},
};
use quote::{ToTokens, quote};
use syn::{Abi, Expr, ExprCall, GenericParam, Ident, Safety, Visibility};

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

/// Checks the arguments of a verb, and leaves out those that it reports. `set` is given each `key = value`.
fn arguments(
    call: &mut ExprCall,
    verb: &Verb,
    errors: &Errors,
    mut set: impl FnMut(&str, Expr) -> Expr,
) {
    let mut values = 0;
    for argument in std::mem::take(&mut call.args) {
        match pair(argument.clone()) {
            Err(value) if values == verb.plain => {
                let message =
                    messages::value_too_many(verb.name, verb.plain, verb.next, &written(&value));
                errors.at(&value, message);
            }
            Err(_) => {
                values += 1;
                call.args.push(argument);
            }
            Ok((key, _)) if verb.keys.iter().any(|name| key == name) => {
                // The agent of a `fix` is handed over as a value.
                values += usize::from(key == "agent");
                call.args.push(set(&names::plain(&key), argument));
            }
            Ok((key, _)) => {
                let message = suggest::unknown_modifier(verb.name, &key, verb.keys);
                errors.at(&key, message);
            }
        }
    }
}
