//! Prints the type of a tool or of an agent.

use crate::paths::{Rt, respan};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Visibility;

/// Prints the struct of a tool or an agent. A bound on the struct refuses another type of the same name, because
/// [`marked`] then marks the other type. The bound is of no use to readers of the docs.
///
/// ```ignore
/// #[cfg(doc)]
/// pub struct ReadFile;
/// #[cfg(not(doc))]
/// #[allow(trivial_bounds, unused_qualifications)]
/// pub struct ReadFile
/// where
///     Self: ::agents::__rt::GeneratedType;
/// ```
pub(super) fn definition(
    rt: &Rt,
    attributes: &TokenStream,
    vis: &Visibility,
    ty: &Ident,
    fields: Option<&TokenStream>,
) -> TokenStream {
    // The type is defined where the function is named.
    let at = ty.span();
    let body = |bound: TokenStream| match fields {
        None => quote_spanned!(at=> #vis struct #ty #bound;),
        Some(fields) => quote_spanned!(at=> #vis struct #ty #bound { #fields }),
    };
    let documented = body(TokenStream::new());
    let bound = body(respan(quote!(where Self: #rt::GeneratedType), at));
    quote! {
        #[cfg(doc)]
        #attributes
        #documented
        #[cfg(not(doc))]
        #[allow(trivial_bounds, unused_qualifications)]
        #attributes
        #bound
    }
}

/// Prints the mark of a generated type, `impl __rt::GeneratedType for ReadFile {}`. If there are two types of that
/// name, the implementation is for the other one.
pub(super) fn marked(ty: &Ident) -> TokenStream {
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl __rt::GeneratedType for #ty {}
    }
}
