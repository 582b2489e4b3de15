//! [`model`](crate::model) to tokens: the calls a person would write, and nothing else.

mod agent;
mod asserts;
mod beside;
mod fallback;
mod on_error;
mod on_escalation;
mod settings;
mod skills;
mod structure;
mod tool;

pub(crate) use agent::agent;
pub(crate) use fallback::{expression, no_expression, untouched};
pub(crate) use on_error::alone as on_error;
pub(crate) use skills::block;
pub(crate) use structure::{branch, structure};
pub(crate) use tool::tool;

use crate::paths::{Rt, end};
use proc_macro2::{Delimiter, Group, TokenStream};
use quote::quote;
use syn::{Attribute, Expr};

/// What an arm gives, turned into what is wanted; an arm that gives nothing, such as `todo!()`, as it is.
fn given(arm: &Expr, into: &TokenStream) -> TokenStream {
    let gives_nothing = match arm {
        Expr::Return(_) => true,
        Expr::Macro(called) => called.mac.path.segments.last().is_some_and(|name| {
            ["todo", "unimplemented", "unreachable", "panic"]
                .iter()
                .any(|known| name.ident == known)
        }),
        _ => false,
    };
    if gives_nothing {
        return quote!(#arm);
    }
    // What rustc proposes to write behind the arm is put where this ends.
    let mut handed = Group::new(Delimiter::Parenthesis, quote!(#arm));
    handed.set_span(end(arm));
    quote!(#into #handed)
}

/// A place of its own for everything the user does not name:
///
/// ```ignore
/// #[allow(trivial_bounds)]
/// const _: () = {
///     use ::agents::__rt;
///     /* items */
/// };
/// ```
fn hidden(rt: &Rt, cfgs: &[Attribute], items: &TokenStream) -> TokenStream {
    quote! {
        #(#cfgs)*
        #[allow(trivial_bounds)]
        const _: () = {
            use #rt;
            #items
        };
    }
}
