//! What accompanies errors: the names the user relies on elsewhere stay, so that one mistake is
//! one error.

use crate::diag::Errors;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The errors, and what the macro stands on as it was.
pub(crate) fn untouched(errors: Errors, item: &TokenStream) -> TokenStream {
    let errors = errors.finish();
    quote!(#errors #item)
}

/// The errors in the place of an expression.
pub(crate) fn no_expression(errors: Errors) -> TokenStream {
    let errors = errors.finish();
    quote!({ #errors })
}

/// The errors, and the expression beside which they are.
pub(crate) fn expression(errors: Errors, expr: &TokenStream) -> TokenStream {
    let errors = errors.finish();
    match errors.is_empty() {
        true => expr.clone(),
        false => quote!({ #errors #expr }),
    }
}

/// A tool that could not be printed whole:
///
/// ```ignore
/// impl __rt::Tool for ReadFile {
///     type Args = ();
///     type Ok = ();
///     type Err = __rt::Infallible;
///     fn spec(&self) -> &__rt::ToolSpec { unreachable!() }
///     async fn call(&self, _: (), _: &__rt::ToolContext) -> __rt::Result<(), __rt::Infallible> { unreachable!() }
/// }
/// ```
pub(super) fn tool(ty: &Ident) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl __rt::Tool for #ty {
            type Args = ();
            type Ok = ();
            type Err = __rt::Infallible;
            fn spec(&self) -> &__rt::ToolSpec {
                ::core::unreachable!()
            }
            async fn call(&self, _: (), _: &__rt::ToolContext) -> __rt::Result<(), __rt::Infallible> {
                ::core::unreachable!()
            }
        }
    }
}
