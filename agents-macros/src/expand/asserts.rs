//! Bounds at the user's own tokens, so that rustc answers there.
//!
//! Generated items have bounds on the user's types, and use the types through those bounds:
//!
//! ```ignore
//! struct ArgumentsOfReadFile where PathBuf: __rt::Argument { path: <PathBuf as __rt::Argument>::Type }
//! ```
//!
//! For an unfit type the bound is the only error, at the type and in our words. The code inside may rely on it.
//! Otherwise each derive and each builder would report an error of its own.

use crate::{
    messages,
    model::Returns,
    paths::{end, here, start},
    syntax::{argument, last_name},
};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Generics, Type, WhereClause, spanned::Spanned};

/// Prints a bound such as `PathBuf: __rt::Argument`; rustc reports it at the user's type.
pub(super) fn bound(ty: &dyn ToTokens, what: &str) -> TokenStream {
    // From the type's first token to its last: exactly that is underlined.
    let last = end(ty);
    let what = syn::Ident::new(what, last);
    let bound = quote_spanned!(last=> : __rt::#what);
    quote!(#ty #bound)
}

/// Prints a type that is reached through a trait: `<PathBuf as __rt::Argument>::Type`.
pub(super) fn through(ty: &dyn ToTokens, what: &str) -> TokenStream {
    let ty = ty.to_token_stream();
    let at = here(ty.span());
    let what = syn::Ident::new(what, at);
    quote_spanned!(at=> <#ty as __rt::#what>::Type)
}

/// Prints a `where` clause with the user's own predicates and `bounds`.
pub(super) fn with_bounds(generics: &Generics, bounds: &[TokenStream]) -> WhereClause {
    let own = generics
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates);
    syn::parse_quote!(where #(#own,)* #(#bounds,)*)
}

/// Prints the type of a returned value: `String`, or `<io::Result<String> as __rt::Returns>::Ok`.
pub(super) fn value(returns: &Returns) -> TokenStream {
    match returns {
        Returns::Result(ty) => taken_apart(ty, "Ok"),
        other => other.written(),
    }
}

/// Prints the error type of a function: `<io::Result<String> as __rt::Returns>::Err`; `None` if it returns no `Result`.
pub(super) fn fault(returns: &Returns) -> Option<TokenStream> {
    match returns {
        Returns::Result(ty) => Some(taken_apart(ty, "Err")),
        Returns::Nothing(_) | Returns::Value(_) => None,
    }
}

/// Prints one part of a `Result` type. Every token gets the place of that part in the user's code, as far as it can be
/// seen: rustc reports mistakes there.
fn taken_apart(ty: &Type, part: &str) -> TokenStream {
    let at = argument(ty, usize::from(part == "Err")).unwrap_or(ty);
    let first = start(at);
    let last = end(at);
    let part = syn::Ident::new(part, last);
    let open = quote_spanned!(first=> <);
    let close = quote_spanned!(last=> as __rt::Returns>::#part);
    quote!(#open #ty #close)
}

/// Prints an assertion that refuses a return type which is a `Result` under another name. There is no assertion for a
/// plain `Result`, for a type with a name of std that is none, and for a type that mentions `Self`.
///
/// ```ignore
/// const _: () = {
///     use __rt::NotResult as _;
///     assert!(!__rt::ResultProbe::<Reading>::IS_RESULT, "..");
/// };
/// ```
pub(super) fn no_hidden_result(returns: &Returns) -> Option<TokenStream> {
    let Returns::Value(ty) = returns else {
        return None;
    };
    // `Self` means nothing out there.
    if has_a_name_of_std(ty) || mentions_self(ty.to_token_stream()) {
        return None;
    }
    let message = messages::HIDDEN_RESULT;
    Some(quote_spanned! {ty.span()=>
        const _: () = {
            #[allow(unused_imports, reason = "a `Result` says so itself")]
            use __rt::NotResult as _;
            ::core::assert!(!__rt::ResultProbe::<#ty>::IS_RESULT, #message);
        };
    })
}

/// Tells whether a type has a name of the standard library that nobody gives to a `Result`.
fn has_a_name_of_std(ty: &Type) -> bool {
    const NAMES: [&str; 20] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize", "Box", "Option", "String", "Vec",
    ];
    last_name(ty).is_some_and(|name| NAMES.contains(&name.as_str()))
}

fn mentions_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => mentions_self(group.stream()),
        _ => false,
    })
}
