//! Slips in the `#[serde(..)]` and `#[schemars(..)]` of a parameter. The derives report them as well, but then make
//! nothing of the arguments, which is two errors more.

use super::nearest;
use crate::{
    diag::Errors,
    keys, messages,
    names::is_one_of,
    suggest,
    syntax::{attribute_name, written},
};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Ident, LitStr, Meta, Type};

/// Corrects the attributes of the parameter `name`. Entries that are reported are left out.
pub(crate) fn mend(attrs: &mut [Attribute], name: Option<&Ident>, ty: &Type, errors: &Errors) {
    for attribute in attrs {
        let of = attribute_name(attribute);
        let known = match of.as_str() {
            "serde" => keys::SERDE,
            "schemars" => keys::SCHEMARS,
            _ => continue,
        };
        let Meta::List(list) = &mut attribute.meta else {
            continue;
        };
        let mut entries = entries(&list.tokens);
        let before = entries.len();
        entries.retain(|entry| {
            let slip = misspelt(&of, entry, known)
                .or_else(|| default_by_its_value(entry, name, ty))
                .or_else(|| unlimited(entry));
            slip.map(|error| errors.note(error)).is_none()
        });
        if entries.len() < before {
            list.tokens = quote!(#(#(#entries)*),*);
        }
    }
}

/// Splits the tokens of an attribute at their commas.
fn entries(tokens: &TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
    let entries = tokens.split(is_comma).map(<[TokenTree]>::to_vec);
    entries.filter(|entry| !entry.is_empty()).collect()
}

/// Returns the error about a misspelt key, such as `defualt`. Any other unknown word is left to the derive macro, whose
/// version may be newer and know it.
fn misspelt(of: &str, entry: &[TokenTree], known: &[&str]) -> Option<syn::Error> {
    let key = unknown_key(entry, known)?;
    nearest(&key.to_string(), known)?;
    let what = format!("`#[{of}]` key");
    Some(syn::Error::new(
        key.span(),
        suggest::unknown(&what, key, known),
    ))
}

/// Returns the error about a default that is given by its value: `default = 10`. serde wants the name of a function.
fn default_by_its_value(
    entry: &[TokenTree],
    name: Option<&Ident>,
    ty: &Type,
) -> Option<syn::Error> {
    let [TokenTree::Ident(key), TokenTree::Punct(set), value @ ..] = entry else {
        return None;
    };
    let value: TokenStream = value.iter().cloned().collect();
    let is_text = syn::parse2::<LitStr>(value.clone()).is_ok();
    if key != "default" || set.as_char() != '=' || value.is_empty() || is_text {
        return None;
    }
    let message = messages::default_by_its_value(name?, written(ty), written(&value));
    Some(syn::Error::new_spanned(value, message))
}

/// Returns the error about an unknown limit, such as `mx` in `range(min = 1, mx = 5)`.
fn unlimited(entry: &[TokenTree]) -> Option<syn::Error> {
    let [TokenTree::Ident(limits), TokenTree::Group(group)] = entry else {
        return None;
    };
    let (_, known) = keys::LIMITS.iter().find(|(name, _)| limits == name)?;
    let inner = entries(&group.stream());
    let key = inner.iter().find_map(|entry| unknown_key(entry, known))?;
    let what = format!("`{limits}` key");
    Some(syn::Error::new(
        key.span(),
        suggest::unknown(&what, key, known),
    ))
}

fn unknown_key<'e>(entry: &'e [TokenTree], known: &[&str]) -> Option<&'e Ident> {
    match entry.first() {
        Some(TokenTree::Ident(key)) if !is_one_of(key, known) => Some(key),
        _ => None,
    }
}
