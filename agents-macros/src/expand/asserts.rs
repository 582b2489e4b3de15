//! What has to hold, asked at the user's own tokens, so that rustc answers there.
//!
//! A type goes through a trait that says what is expected of it, such as
//! `<PathBuf as __rt::Argument>::Type`: for a type that is not fit there is one error, in words of
//! ours, in place of one for each bound of the derives and builders behind.

use crate::{check::messages, model::Returns, paths::here};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned};

/// `<PathBuf as __rt::Argument>::Type`
pub(super) fn argument(ty: &Type) -> TokenStream {
    quote_spanned!(here(ty.span())=> <#ty as __rt::Argument>::Type)
}

/// `<<io::Result<String> as __rt::Returns>::Ok as __rt::ToolOutput>::Type`
pub(super) fn tool_output(returns: &Returns) -> TokenStream {
    let value = value(returns);
    quote_spanned!(here(returns.span())=> <#value as __rt::ToolOutput>::Type)
}

/// `<<io::Result<String> as __rt::Returns>::Err as __rt::ToolFault>::Type`
pub(super) fn tool_fault(returns: &Returns) -> TokenStream {
    match returns {
        Returns::Result(ty) => {
            quote_spanned!(here(ty.span())=> <<#ty as __rt::Returns>::Err as __rt::ToolFault>::Type)
        }
        Returns::Nothing(_) | Returns::Value(_) => quote!(__rt::Infallible),
    }
}

/// `<Summary as __rt::ModelAnswer>::Type`
pub(super) fn model_answer(returns: &Returns) -> TokenStream {
    let value = value(returns);
    quote_spanned!(here(returns.span())=> <#value as __rt::ModelAnswer>::Type)
}

/// `String`, or `<io::Result<String> as __rt::Returns>::Ok`
pub(super) fn value(returns: &Returns) -> TokenStream {
    match returns {
        Returns::Result(ty) => quote_spanned!(here(ty.span())=> <#ty as __rt::Returns>::Ok),
        other => other.written(),
    }
}

/// Refuses a `Result` that goes by another name:
///
/// ```ignore
/// const _: () = {
///     use __rt::NotResult as _;
///     assert!(!__rt::ResultProbe::<Reading>::IS_RESULT, "..");
/// };
/// ```
pub(super) fn no_hidden_result(returns: &Returns) -> Option<TokenStream> {
    let Returns::Value(ty) = returns else { return None };
    let message = messages::HIDDEN_RESULT;
    Some(quote_spanned! {here(ty.span())=>
        const _: () = {
            #[allow(unused_imports)]
            use __rt::NotResult as _;
            ::core::assert!(!__rt::ResultProbe::<#ty>::IS_RESULT, #message);
        };
    })
}
