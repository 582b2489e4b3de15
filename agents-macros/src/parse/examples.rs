//! `#[example(..)]` where `#[tool]` does not read it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, ImplItemFn,
    parse::{ParseStream, Parser},
};

/// `item` with an example that stands above its `#[tool]` below that, where it is read; and whether it is a method.
pub(crate) fn example_above(arguments: &TokenStream, item: TokenStream) -> (bool, TokenStream) {
    let function = syn::parse2::<ImplItemFn>(item.clone());
    let is_method = function.is_ok_and(|function| function.sig.receiver().is_some());
    let (attributes, rest) = apart(item);
    let is_tool = |attribute: &Attribute| {
        let name = attribute.path().segments.last();
        name.is_some_and(|name| name.ident == "tool")
    };
    let example = attributes.iter().any(is_tool).then(|| match arguments {
        nothing if nothing.is_empty() => quote!(#[example]),
        given => quote!(#[example(#given)]),
    });
    (is_method, quote!(#(#attributes)* #example #rest))
}

/// `item` without its examples: what no tool can be made of has nothing to show.
pub(crate) fn without_examples(item: TokenStream) -> TokenStream {
    let (mut attributes, rest) = apart(item);
    attributes.retain(|attribute| !attribute.path().is_ident("example"));
    quote!(#(#attributes)* #rest)
}

/// The attributes of an item, and what they stand on.
fn apart(item: TokenStream) -> (Vec<Attribute>, TokenStream) {
    let parser = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        Ok((attributes, input.parse()?))
    };
    let whole = item.clone();
    parser.parse2(item).unwrap_or((Vec::new(), whole))
}
