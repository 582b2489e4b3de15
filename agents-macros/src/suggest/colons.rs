//! Slips such as `escalate("no", severity: High)`, with `:` for `=`.

use crate::{diag::Errors, keys, messages};
use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

/// Replaces `:` by `=` where a verb's key is set by mistake with a colon, and reports it.
pub(crate) fn replaced(tokens: TokenStream, errors: &Errors) -> TokenStream {
    within(tokens.clone(), errors).unwrap_or(tokens)
}

/// Replaces colons in brackets; `None` if no colon has to be replaced. Unchanged brackets keep their spans.
fn within(tokens: TokenStream, errors: &Errors) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut is_changed = false;
    for i in 0..tokens.len() {
        let TokenTree::Group(group) = &tokens[i] else {
            continue;
        };
        let mut inside = within(group.stream(), errors);
        if group.delimiter() == Delimiter::Parenthesis && is_called(&tokens[..i]) {
            let arguments = inside.clone().unwrap_or_else(|| group.stream());
            inside = keys_set(arguments, errors).or(inside);
        }
        if let Some(inside) = inside {
            let mut new = Group::new(group.delimiter(), inside);
            new.set_span(group.span());
            tokens[i] = new.into();
            is_changed = true;
        }
    }
    is_changed.then(|| tokens.into_iter().collect())
}

/// Replaces the colons in a verb's arguments: `severity: High` becomes `severity = High`.
fn keys_set(arguments: TokenStream, errors: &Errors) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = arguments.into_iter().collect();
    let mut is_changed = false;
    for i in 1..tokens.len() {
        let (TokenTree::Ident(key), TokenTree::Punct(colon)) = (&tokens[i - 1], &tokens[i]) else {
            continue;
        };
        let begins = i == 1 || is_punct(&tokens[i - 2], ',');
        if begins && colon.as_char() == ':' && colon.spacing() == Spacing::Alone {
            errors.at(colon, messages::colon_for_equals(key));
            let mut equals = Punct::new('=', Spacing::Alone);
            equals.set_span(colon.span());
            tokens[i] = equals.into();
            is_changed = true;
        }
    }
    is_changed.then(|| tokens.into_iter().collect())
}

/// Tells whether the last of these tokens is the name of a verb.
fn is_called(before: &[TokenTree]) -> bool {
    matches!(before, [.., TokenTree::Ident(name)] if keys::is_verb(name))
}

fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == punct)
}
