//! What is known of a tool by its type alone, whether or not rustc takes its signature.

use super::{
    arguments::{bounds, sent},
    asserts,
};
use crate::model::Tool;
use proc_macro2::TokenStream;
use quote::quote;

/// `with` is what its function fails with.
///
/// ```ignore
/// impl __rt::ToolName for ReadFile { const NAME: &'static str = "read_file"; }
/// impl __rt::Fails for ReadFile { type With = <io::Result<String> as __rt::Returns>::Err; }
/// impl __rt::RetrySafe for ReadFile {} // if it does not write, or is `idempotent`
/// impl __rt::Fallible for ReadFile {}  // if it gives a `Result`
/// impl __rt::MayBeInDoubt for ReadFile { .. } // if it is not `RetrySafe`
/// impl ReadFile { pub fn __listed(self) -> __rt::SharedTool { .. } }
/// ```
pub(super) fn of_tool(tool: &Tool, with: &TokenStream) -> TokenStream {
    let (ty, name) = (&tool.ty, &tool.name);
    let retry_safe = tool
        .is_retry_safe()
        .then(|| quote!(#[automatically_derived] impl __rt::RetrySafe for #ty {}));
    let fallible = tool
        .returns
        .is_result()
        .then(|| quote!(#[automatically_derived] impl __rt::Fallible for #ty {}));
    let in_doubt = in_doubt(tool);
    let listed = listed(tool);
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl __rt::ToolName for #ty {
            const NAME: &'static str = #name;
        }
        #[automatically_derived]
        impl __rt::Fails for #ty {
            type With = #with;
        }
        #retry_safe
        #fallible
        #in_doubt
        #listed
    }
}

/// ```ignore
/// impl __rt::MayBeInDoubt for Pay
/// where
///     u32: __rt::Argument,
/// {
///     type Args = ArgumentsOfPay;
///     type Found = <Result<Receipt, BankError> as __rt::Returns>::Ok;
/// }
/// ```
fn in_doubt(tool: &Tool) -> Option<TokenStream> {
    let (ty, sent, bounds) = (&tool.ty, sent(tool), bounds(tool));
    let found = asserts::value(&tool.returns);
    tool.may_be_in_doubt().then(|| {
        quote! {
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl __rt::MayBeInDoubt for #ty where #(#bounds),* {
                type Args = #sent;
                type Found = #found;
            }
        }
    })
}

/// For the `tools = [..]` of agents:
///
/// ```ignore
/// impl ReadFile {
///     pub fn __listed(self) -> __rt::SharedTool {
///         use __rt::Refused as _;
///         __rt::Listing(self).shared()
///     }
/// }
/// ```
fn listed(tool: &Tool) -> TokenStream {
    let (ty, vis) = (&tool.ty, &tool.function.vis);
    quote! {
        impl #ty {
            #[doc(hidden)]
            #vis fn __listed(self) -> __rt::SharedTool {
                use __rt::Refused as _;
                __rt::Listing(self).shared()
            }
        }
    }
}
