//! The rules for the signature of a function.

use crate::{
    ast::Function,
    diag::Errors,
    messages, names, suggest,
    syntax::{borrow_in, is_opaque},
    walk::{self, Part},
};
use quote::{ToTokens, quote};
use syn::{Abi, GenericParam, Ident, Safety, Type, Visibility};

/// Tells whether a type is written in full, so that generated code can name it. Each `impl Trait` in it is reported;
/// rustc reports a `_`.
pub(super) fn is_concrete(ty: &Type, what: &str, errors: &Errors) -> bool {
    walk::read_type(ty, &mut |part| match part {
        Part::Type(Type::ImplTrait(opaque)) => {
            errors.at(opaque, messages::no_impl_trait(what));
            false
        }
        _ => true,
    });
    !is_opaque(ty)
}

/// Tells whether a type borrows nothing, and reports it if it does. `it` names the value in the message, and `owner`
/// who has to own it.
pub(super) fn is_owned(ty: &Type, owner: &str, it: &str, errors: &Errors) -> bool {
    let Some(reference) = borrow_in(ty) else {
        return true;
    };
    let instead = suggest::owned(&reference);
    errors.at(reference, messages::borrowed(owner, it, instead));
    false
}

/// Reports modifiers and type parameters, which agents and tools cannot have: `unsafe extern "C" const fn f<T>()`.
pub(super) fn is_plain(what: &str, function: &Function, errors: &Errors) {
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

/// Reports a function whose generated type would have the same name, or would hide another type: `fn ReadFile`,
/// `fn error`.
pub(super) fn named(function: &Function, ty: &Ident, errors: &Errors) {
    let name = &function.sig.ident;
    if ty == &names::plain(name) {
        errors.at(name, messages::not_snake_case(ty));
    } else if names::hides_another(ty) {
        errors.at(name, messages::hides_another(name, ty));
    }
}

/// Returns the tokens to underline for a missing body: the function from its first word to its name.
pub(super) fn head(function: &Function) -> impl ToTokens {
    let Function { vis, sig, .. } = function;
    let vis = if matches!(vis, Visibility::Inherited) {
        None
    } else {
        Some(vis)
    };
    let (asyncness, fn_token, ident) = (&sig.asyncness, &sig.fn_token, &sig.ident);
    quote!(#vis #asyncness #fn_token #ident)
}
