//! [`model`](crate::model) to tokens: the calls a person would write, and nothing else.

mod agent;
mod asserts;
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

use crate::paths::Rt;
use proc_macro2::TokenStream;
use quote::quote;
use syn::Attribute;

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
