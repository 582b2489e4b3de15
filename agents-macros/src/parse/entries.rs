//! The entries in the parentheses of an attribute:
//!
//! ```text
//! reads, timeout = Duration::from_secs(2), cache = ttl(minute()), budget(max_turns = 1),
//! tools = [ReadFile, WriteFile { root: self.root.clone() }, ..self.more()]
//! ```
//!
//! The keys and the forms of their values are no question of syntax: `check` has the rules for them.

use super::{all, list};
use crate::{
    ast::{Element, Entry, Value},
    diag::Errors,
    messages,
    names::plain,
    syntax::ungrouped,
};
use proc_macro2::TokenStream;
use syn::{
    Attribute, Expr, ExprAssign, ExprPath, Ident, Meta, Token, bracketed, ext::IdentExt,
    parenthesized, parse::ParseStream, token,
};

/// Reads the entries in the parentheses of the attribute `of`, such as `tool`.
pub(super) fn entries(of: &str, tokens: TokenStream, errors: &Errors) -> Vec<Entry> {
    all(tokens, errors, |input| {
        list(input, errors, |input| entry(of, input, errors))
    })
    .unwrap_or_default()
}

/// Reads the entries of an attribute on an item: `#[tool(..)]`, or `#[tool]` alone.
pub(super) fn of_attribute(attribute: &Attribute, errors: &Errors) -> Vec<Entry> {
    match &attribute.meta {
        Meta::Path(_) => Vec::new(),
        Meta::List(list) => {
            let of = list.path.segments.last().map(|last| last.ident.to_string());
            entries(&of.unwrap_or_default(), list.tokens.clone(), errors)
        }
        Meta::NameValue(pair) => {
            errors.at(pair, messages::attribute_with_equals(&pair.path));
            Vec::new()
        }
    }
}

/// Reads the expressions of an attribute on an item: `#[example(path = "a.txt", lines = 3)]`.
pub(super) fn arguments(attribute: &Attribute, errors: &Errors) -> Vec<Expr> {
    let Some(list_) = errors.ok(attribute.meta.require_list()) else {
        return Vec::new();
    };
    all(list_.tokens.clone(), errors, |input| {
        list(input, errors, |input| argument(input, errors))
    })
    .unwrap_or_default()
}

fn entry(of: &str, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Entry> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(messages::key_wanted(of)));
    }
    let key = input.call(Ident::parse_any)?;
    let value = if is_set(input, &key, errors)?.is_some() {
        if is_list(input) {
            let inside;
            bracketed!(inside in input);
            let alone = |attribute| {
                errors.at(attribute, messages::attribute_in_a_list(of, plain(&key)));
            };
            Value::List(list(&inside, errors, |input| element(input, alone)))
        } else {
            Value::Is(ungrouped(input.parse()?))
        }
    } else if input.peek(token::Paren) {
        let inside;
        parenthesized!(inside in input);
        Value::Group(list(&inside, errors, |input| argument(input, errors)))
    } else {
        Value::Nothing
    };
    Ok(Entry { key, value })
}

/// Reads the `=` behind a key; `None` if no `=` follows. A `:` is reported, and read as `=`.
fn is_set(input: ParseStream<'_>, key: &Ident, errors: &Errors) -> syn::Result<Option<Token![=]>> {
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        let colon: Token![:] = input.parse()?;
        errors.at(colon, messages::colon_for_equals(key));
        return Ok(Some(Token![=](colon.span)));
    }
    input.parse()
}

/// Reads an argument, such as `max_turns = 10` or `for = hours(24)`, as one expression.
fn argument(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Expr> {
    let is_set_by_colon = input.peek2(Token![:]) && !input.peek2(Token![::]);
    let is_for = input.peek(Token![for]) && (input.peek2(Token![=]) || is_set_by_colon);
    let is_word = input.peek(Ident) && is_set_by_colon;
    if !(is_for || is_word) {
        return input.parse();
    }
    let key = input.call(Ident::parse_any)?;
    let eq_token = is_set(input, &key, errors)?.unwrap_or_default();
    Ok(Expr::Assign(ExprAssign {
        attrs: Vec::new(),
        left: Box::new(Expr::Path(ExprPath {
            attrs: Vec::new(),
            qself: None,
            path: key.into(),
        })),
        eq_token,
        right: input.parse()?,
    }))
}

/// Tells whether a list comes next: `[..]` with nothing or a comma behind it. `[a, b].concat()` is an expression.
fn is_list(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    input.peek(token::Bracket)
        && ahead.parse::<proc_macro2::TokenTree>().is_ok()
        && (ahead.is_empty() || ahead.peek(Token![,]))
}

/// Reads one element of a list. `attributed` is called for attributes, which cannot stand there.
fn element(input: ParseStream<'_>, attributed: impl Fn(Attribute)) -> syn::Result<Element> {
    for attribute in input.call(Attribute::parse_outer)? {
        attributed(attribute);
    }
    if input.peek(Token![..]) && !input.peek(Token![..=]) && !input.peek(Token![...]) {
        return Ok(Element::Spread(input.parse()?, ungrouped(input.parse()?)));
    }
    input.parse().map(ungrouped).map(Element::One)
}
