//! Doc comments, which become the descriptions for the model.

use crate::syntax::taken;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comments of one item, from which descriptions and prompts are made.
#[derive(Clone, Default)]
pub(crate) struct Docs {
    attrs: Vec<Attribute>,
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    Text(String),
    /// A part that is an expression: `#[doc = include_str!("prompt.md")]`
    Expr(Expr),
}

impl Docs {
    /// Takes the doc comments out of the attributes of an item.
    pub(crate) fn take(attrs: &mut Vec<Attribute>) -> Self {
        let mut docs = Docs::default();
        for attribute in taken(attrs, &|attribute| attribute.path().is_ident("doc")) {
            if let Meta::NameValue(pair) = &attribute.meta {
                docs.parts.push(match &pair.value {
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(text),
                        ..
                    }) => Part::Text(text.value()),
                    other => Part::Expr(other.clone()),
                });
            }
            docs.attrs.push(attribute);
        }
        docs
    }

    /// Tells whether the doc comments of the item have no text. An expression such as `include_str!(..)` counts as
    /// text.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts
            .iter()
            .all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()))
    }

    /// Returns the text of the doc comments as an expression: one literal, one include, or a `concat!` of several
    /// parts.
    pub(crate) fn text(&self) -> TokenStream {
        let parts: Vec<_> = self
            .parts
            .chunk_by(|a, b| a.is_text() && b.is_text())
            .map(joined)
            .collect();
        match parts.as_slice() {
            [] => quote!(""),
            [one] => quote!(#one),
            [first, others @ ..] => quote!(::core::concat!(#first #(, "\n", #others)*)),
        }
    }
}

impl Part {
    fn is_text(&self) -> bool {
        matches!(self, Part::Text(_))
    }
}

/// Joins lines of doc comments to one literal, without the space behind `///` and the ` * ` of a `/** .. */`. A part
/// that is an expression, such as `include_str!(..)`, is returned as it is.
fn joined(parts: &[Part]) -> TokenStream {
    let mut lines: Vec<&str> = Vec::new();
    for part in parts {
        match part {
            // An empty line is one, too.
            Part::Text(text) => match is_decorated(text) {
                true => lines.extend(text.split('\n').map(undecorated)),
                false => lines.extend(text.split('\n').map(trimmed)),
            },
            Part::Expr(expr) => return quote!(#expr),
        }
    }
    let text = lines.join("\n").trim().to_owned();
    quote!(#text)
}

fn trimmed(line: &str) -> &str {
    let line = line.strip_prefix(' ').unwrap_or(line);
    line.trim_end()
}

/// Tells whether all lines of a `/** .. */` begin with ` *`, apart from the first and from blank lines. Otherwise the
/// stars make a list. A text without further lines gives `false`.
fn is_decorated(text: &str) -> bool {
    let mut others = text
        .split('\n')
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .peekable();
    others.peek().is_some()
        && others.all(|line| line.trim_start().starts_with('*') && !line.starts_with('*'))
}

/// Returns a line of a `/** .. */` without its ` * `.
fn undecorated(line: &str) -> &str {
    let line = line.trim_start();
    trimmed(line.strip_prefix('*').unwrap_or(line))
}

impl ToTokens for Docs {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let attrs = &self.attrs;
        tokens.extend(quote!(#(#attrs)*));
    }
}
