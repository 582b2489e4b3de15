//! Code beside errors: the names on which the user relies elsewhere stay, so that one mistake is one error.

use super::asserts;
use crate::{diag::Errors, model::Tool};
use proc_macro2::TokenStream;
use quote::quote;

/// Prints the errors, and the item as the user wrote it, so that other code still finds it.
pub(crate) fn untouched(errors: Errors, item: &TokenStream) -> TokenStream {
    let errors = errors.finish();
    quote!(#errors #item)
}

/// Prints the errors in the place of an expression, which could not be made.
pub(crate) fn no_expression(errors: Errors) -> TokenStream {
    let errors = errors.bare();
    quote!({ #errors })
}

/// Prints an expression together with the compiler errors for it.
pub(crate) fn expression(errors: Errors, expr: &TokenStream) -> TokenStream {
    let errors = errors.bare();
    match errors.is_empty() {
        true => expr.clone(),
        false => quote!({ #errors #expr }),
    }
}

/// Prints what can be printed of a tool with mistakes, so that its users get no further errors:
///
/// ```ignore
/// impl __rt::Tool for ReadFile {
///     type Args = ();
///     type Ok = ();
///     type Err = __rt::Infallible;
///     fn spec(&self) -> &__rt::ToolSpec { unreachable!() }
///     async fn call(&self, _: (), _: &__rt::ToolContext) -> __rt::Result<(), __rt::Infallible> { unreachable!() }
/// }
/// impl __rt::ToolName for ReadFile { .. }
/// impl __rt::Fails for ReadFile { .. }
/// impl __rt::RetrySafe for ReadFile {}
/// impl __rt::Fallible for ReadFile {}
/// impl __rt::MayBeInDoubt for ReadFile { .. }
/// impl __rt::MayBeUndone for ReadFile { .. }
/// ```
pub(super) fn tool(tool: &Tool) -> TokenStream {
    let (ty, name) = (&tool.ty, &tool.name);
    let with = asserts::fault(&tool.returns).unwrap_or_else(|| quote!(__rt::Infallible));
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
        #[diagnostic::do_not_recommend]
        impl __rt::ToolName for #ty {
            const NAME: &'static str = #name;
        }
        impl __rt::Fails for #ty {
            type With = #with;
        }
        impl __rt::RetrySafe for #ty {}
        impl __rt::Fallible for #ty {}
        #[diagnostic::do_not_recommend]
        impl __rt::MayBeInDoubt for #ty {
            type Args = ();
            type Found = ();
        }
        #[diagnostic::do_not_recommend]
        impl __rt::MayBeUndone for #ty {
            type Args = ();
            type Output = ();
        }
    }
}
