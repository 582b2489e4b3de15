//! The arms of `on_error`: those of a `match`, a kind of failure for a pattern.
//!
//! ```text
//! on_error {
//!     invalid_args(raw, _) => fix(my_cleanup(raw)).or(fix(agent = JsonFixer, retries = 3)),
//!     execution_error(Returned(e)) if e.is_busy() => retry(max_attempts = 3),
//! }
//!
//! on_error!(ReadFile, match error { execution_error(_) => throw("no") });
//! on_error!("github_*", match error { execution_error(_) => feedback("try later") });
//! ```

use super::{all, keys, rest, rt, skip_to_comma};
use crate::{
    ast::{Arm, Arms},
    check::messages,
    diag::Errors,
    lower::written,
    paths::Rt,
};
use proc_macro2::{Group, TokenStream};
use syn::{
    Attribute, Expr, Ident, LitStr, Pat, Path, Token, braced, parenthesized, parse::ParseStream,
    punctuated::Punctuated, token,
};

/// Whether `on_error { .. }` comes next.
pub(super) fn is_next(input: ParseStream<'_>) -> bool {
    input.peek(Ident) && input.peek2(token::Brace)
}

/// Reads `on_error { .. }`.
pub(super) fn on_error(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Arms> {
    let keyword: Ident = input.parse()?;
    let inside;
    braced!(inside in input);
    if keyword != "on_error" {
        errors.at(
            &keyword,
            messages::unknown("block", &keyword, &["on_error"]),
        );
    }
    Ok(Arms {
        attrs: Vec::new(),
        keyword,
        tool: None,
        named: None,
        arms: arms(&inside, errors),
    })
}

/// Reads what stands in `on_error!(..)`: `match error { .. }`, with the tool before it or without. Where
/// nothing stands before the parentheses that could be underlined, `match` is.
pub(super) fn matched(
    input: ParseStream<'_>,
    keyword: Option<Ident>,
    errors: &Errors,
) -> syn::Result<Arms> {
    let named: Option<LitStr> = input.parse()?;
    // `on_error! { execution_error(_) => .. }` names no tool.
    let is_arm = input.peek(Ident) && input.peek2(token::Paren);
    let is_match = input.peek(Token![match]) || input.peek(token::Brace);
    let tool = match named.is_some() || is_arm || is_match || input.is_empty() {
        true => None,
        false => Some(input.call(Path::parse_mod_style)?),
    };
    let of = tool.as_ref().map(written).or(named.as_ref().map(written));
    let no_match = |input: ParseStream<'_>| input.error(messages::arms_in_a_match(of.as_ref()));
    if named.is_some() || tool.is_some() {
        if !input.peek(Token![,]) {
            return Err(no_match(input));
        }
        input.parse::<Token![,]>()?;
    }
    let Ok(match_token) = input.parse::<Token![match]>() else {
        return Err(no_match(input));
    };
    input.parse::<Ident>()?;
    let keyword = keyword.unwrap_or_else(|| Ident::new("on_error", match_token.span));
    let inside;
    braced!(inside in input);
    let arms = arms(&inside, errors);
    input.parse::<Option<Token![,]>>()?;
    Ok(Arms {
        attrs: Vec::new(),
        keyword,
        tool,
        named,
        arms,
    })
}

/// `on_error!(ReadFile, match error { .. })`, and whose runtime it is for
pub(crate) fn on_error_block(tokens: TokenStream, errors: &Errors) -> Option<(Rt, Arms)> {
    let read = |input: ParseStream<'_>| Ok((rt(input)?, matched(input, None, errors)?));
    all(tokens, errors, |input| {
        let arms = errors.ok(read(input));
        if arms.is_none() {
            rest(input);
        }
        arms
    })?
}

fn arms(input: ParseStream<'_>, errors: &Errors) -> Vec<Arm> {
    let mut arms = Vec::new();
    while !input.is_empty() {
        match arm(input, errors) {
            Ok(arm) => {
                let braces = ends_with_braces(&arm.body);
                arms.push(arm);
                if input.is_empty()
                    || input
                        .parse::<Option<Token![,]>>()
                        .is_ok_and(|comma| comma.is_some())
                    || braces
                {
                    continue;
                }
                let error = input.error(messages::COMMA_BEFORE_ARM);
                if input.peek(Ident) && input.peek2(token::Paren) {
                    errors.note(error);
                } else {
                    errors.push(error);
                    next(input);
                }
            }
            Err(error) => {
                errors.push(error);
                next(input);
            }
        }
    }
    arms
}

fn arm(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Arm> {
    let attrs = input.call(Attribute::parse_outer)?;
    input.parse::<Option<Token![|]>>()?;
    let kind = if let Some(any) = input.parse::<Option<Token![_]>>()? {
        let kinds: Vec<&str> = keys::KINDS.iter().map(|kind| kind.name).collect();
        errors.at(any, messages::arm_by_kind(&kinds));
        any.into()
    } else {
        input.parse()?
    };
    // A kind without its patterns is read as one with none, and said to lack them.
    let patterns = if input.peek(token::Paren) {
        let inside;
        parenthesized!(inside in input);
        inside.parse_terminated(Pat::parse_multi_with_leading_vert, Token![,])?
    } else {
        Punctuated::new()
    };
    while input.parse::<Option<Token![|]>>()?.is_some() {
        let second: Ident = input.parse()?;
        input.parse::<Option<Group>>()?;
        errors.at(&second, messages::kinds_joined(&kind, &second));
    }
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(if_token) => Some((if_token, input.parse()?)),
        None => None,
    };
    input.parse::<Token![=>]>()?;
    Ok(Arm {
        attrs,
        kind,
        patterns,
        guard,
        body: Expr::parse_with_earlier_boundary_rule(input)?,
    })
}

/// Goes to the next arm.
fn next(input: ParseStream<'_>) {
    skip_to_comma(input);
    let _ = input.parse::<Token![,]>();
}

/// A body that needs no comma behind it.
fn ends_with_braces(body: &Expr) -> bool {
    matches!(
        body,
        Expr::Block(_)
            | Expr::Match(_)
            | Expr::If(_)
            | Expr::Unsafe(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_)
    )
}
