//! Reads tokens as an [`ast`](crate::ast): syntax, and nothing but.
//!
//! Every parser goes on after a mistake, at the next `,` or the next item.

mod agent;
mod branch;
mod dir;
mod entries;
mod function;
mod in_doubt;
mod on_error;
mod one_value;
mod structure;
mod tool;
mod undo;

pub(crate) use agent::{Item, agent, on_escalation_outside};
pub(crate) use branch::branch;
pub(crate) use dir::dir;
pub(crate) use in_doubt::in_doubt_block;
pub(crate) use on_error::on_error_block;
pub(crate) use structure::structure;
pub(crate) use tool::{example_above, tool_attribute, tool_block, without_examples};
pub(crate) use undo::undo_block;

use crate::{diag::Errors, messages, paths::Rt};
use proc_macro2::{Punct, TokenStream, TokenTree};
use syn::{
    Lit, Path, Token,
    parse::{ParseStream, Parser},
};

/// Runs `parser` over all of `tokens`. The parser reports its own mistakes; left-over tokens are one more.
fn all<T>(
    tokens: TokenStream,
    errors: &Errors,
    parser: impl FnOnce(ParseStream<'_>) -> T,
) -> Option<T> {
    let mut value = None;
    whole(
        tokens,
        errors,
        Box::new(|input| value = Some(parser(input))),
    );
    value
}

/// Runs a parser over all of `tokens`, whatever it returns.
fn whole<'p>(tokens: TokenStream, errors: &Errors, parser: Box<dyn FnOnce(ParseStream<'_>) + 'p>) {
    let parser = |input: ParseStream<'_>| {
        parser(input);
        if !input.is_empty() {
            errors.push(input.error("nothing is expected here"));
            rest(input);
        }
        Ok(())
    };
    let read = parser.parse2(tokens);
    // What a bracket has left over was passed over for a mistake that has been taken up.
    if errors.is_whole() {
        errors.ok(read);
    }
}

/// Reads `item, item, item,` and goes on at the next `,` after an item that cannot be read.
fn list<T>(
    input: ParseStream<'_>,
    errors: &Errors,
    mut item: impl FnMut(ParseStream<'_>) -> syn::Result<T>,
) -> Vec<T> {
    let mut items = Vec::new();
    while !input.is_empty() {
        match item(input) {
            Ok(item) => items.push(item),
            Err(error) => {
                errors.push(error);
                skip_to_comma(input);
            }
        }
        if input.is_empty() {
            break;
        }
        if input.parse::<Token![,]>().is_err() {
            let error = missing_comma(input);
            // Two items with nothing between them: the second is read all the same. Anything
            // else is passed over.
            if input.peek(syn::Ident) {
                errors.note(error);
            } else {
                errors.push(error);
                skip_to_comma(input);
                let _ = input.parse::<Token![,]>();
            }
        }
    }
    items
}

/// Returns the error for a missing comma, at the next token.
fn missing_comma(input: ParseStream<'_>) -> syn::Error {
    match input.fork().parse::<TokenTree>() {
        Ok(next @ (TokenTree::Ident(_) | TokenTree::Literal(_))) => {
            input.error(messages::comma_before(next))
        }
        _ => input.error(messages::COMMA),
    }
}

/// Skips tokens up to the next `,` outside of brackets, angle brackets included.
fn skip_to_comma(input: ParseStream<'_>) {
    let mut depth = 0_i32;
    let mut last = ' ';
    while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
        let Ok(token) = input.parse::<TokenTree>() else {
            return;
        };
        let this = if let TokenTree::Punct(punct) = &token {
            Punct::as_char(punct)
        } else {
            ' '
        };
        depth += match this {
            '<' => 1,
            '>' if !matches!(last, '-' | '=') => -1,
            _ => 0,
        };
        last = this;
    }
}

/// Reads `crate = path,` at the beginning of a macro's input, if it is there, and returns the path to the runtime.
fn rt(input: ParseStream<'_>) -> syn::Result<Rt> {
    if !(input.peek(Token![crate]) && input.peek2(Token![=])) {
        return Ok(Rt::under(None));
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    if input.peek(Lit) {
        return Err(input.error(messages::crate_wants_a_path()));
    }
    let root = input.call(Path::parse_mod_style)?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(Rt::under(Some(root)))
}

/// Reads all tokens that are left.
fn rest(input: ParseStream<'_>) -> TokenStream {
    input.parse().unwrap_or_default()
}
