//! The arms of `on_error`: those of a `match`, with a kind of failure for a pattern.
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

use super::{all, rest, rt, skip_to_comma};
use crate::{
    ast::{Arm, Arms},
    diag::Errors,
    keys, messages,
    paths::Rt,
    suggest::{self, colons},
    syntax::written,
};
use proc_macro2::{Group, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, Ident, LitStr, Pat, Path, Token, braced, parenthesized,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
    token,
};

/// Tells whether `on_error { .. }` comes next, also misspelt.
pub(super) fn is_next(input: ParseStream<'_>) -> bool {
    input.peek(Ident) && input.peek2(token::Brace)
}

/// Reads `on_error { .. }`.
pub(super) fn on_error(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Arms> {
    let keyword: Ident = input.parse()?;
    let arms = block(input, errors)?;
    if keyword != "on_error" {
        errors.at(
            &keyword,
            suggest::unknown("block", &keyword, keys::TOOL_BLOCKS),
        );
    }
    Ok(Arms {
        attrs: Vec::new(),
        keyword,
        tool: None,
        named: None,
        skill: None,
        arms,
        meant: Vec::new(),
    })
}

/// Reads the content of `on_error!(..)`: `match error { .. }`, with or without a tool before it. Errors about the whole
/// block are shown at `keyword`, the word before the parentheses; if `keyword` is `None`, they are shown at `match`.
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
        false => {
            let none = None::<&str>;
            let wanted = |input: ParseStream<'_>| input.error(messages::arms_in_a_match(none));
            Some(tool_type(
                input,
                errors,
                wanted,
                messages::tool_by_its_type,
            )?)
        }
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
    if input.parse::<Ident>().is_err() || !input.peek(token::Brace) {
        return Err(no_match(input));
    }
    let keyword = keyword.unwrap_or_else(|| Ident::new("on_error", match_token.span));
    let arms = block(input, errors)?;
    input.parse::<Option<Token![,]>>()?;
    Ok(Arms {
        attrs: Vec::new(),
        keyword,
        tool,
        named,
        skill: None,
        arms,
        meant: Vec::new(),
    })
}

/// Reads the type of a tool, `ReadFile`. A value of it, or a call that returns one, is reported and read as the type.
pub(super) fn tool_type(
    input: ParseStream<'_>,
    errors: &Errors,
    wanted: impl FnOnce(ParseStream<'_>) -> syn::Error,
    by_type: fn(String) -> String,
) -> syn::Result<Path> {
    let mut path = input
        .call(Path::parse_mod_style)
        .map_err(|_| wanted(input))?;
    if input.peek(token::Brace) || input.peek(token::Paren) {
        let is_made = |path: &Path| {
            let last = path.segments.last();
            path.segments.len() > 1
                && last.is_some_and(|last| last.ident.to_string().starts_with(char::is_lowercase))
        };
        let value: Group = input.parse()?;
        if is_made(&path) {
            path.segments.pop();
            path.segments.pop_punct();
        }
        errors.at(value, by_type(written(&path)));
    }
    Ok(path)
}

/// Reads `on_error!(ReadFile, match error { .. })`, and the path to the runtime.
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

/// Reads the arms of a block in braces.
fn block(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Vec<Arm>> {
    let block = TokenStream::from(input.parse::<TokenTree>()?);
    let arms = |input: ParseStream<'_>| {
        let inside;
        braced!(inside in input);
        Ok(arms(&inside, errors))
    };
    arms.parse2(colons::replaced(block, errors))
}

fn arms(input: ParseStream<'_>, errors: &Errors) -> Vec<Arm> {
    let mut arms = Vec::new();
    while !input.is_empty() {
        if let Some(verb) = step(input) {
            errors.at(&verb, messages::step_for_an_arm(&verb));
            next(input);
            continue;
        }
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
                if input.peek(Token![if]) {
                    errors.note(input.error(messages::GUARD_BEHIND));
                    next(input);
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
        any.into()
    } else {
        kind(input)?
    };
    // A kind without its patterns is read as one with none, and said to lack them.
    let patterns = if input.peek(token::Paren) {
        let inside;
        parenthesized!(inside in input);
        inside.parse_terminated(Pat::parse_multi_with_leading_vert, Token![,])?
    } else if input.peek(token::Brace) {
        errors.at(&kind, messages::kind_with_braces(&kind));
        let inside;
        braced!(inside in input);
        inside.parse_terminated(Pat::parse_multi_with_leading_vert, Token![,])?
    } else {
        Punctuated::new()
    };
    while input.parse::<Option<Token![|]>>()?.is_some() {
        let second: Ident = input.parse()?;
        input.parse::<Option<Group>>()?;
        errors.at(&second, messages::kinds_joined(&kind, &second));
    }
    let guard = match guard(input, errors)? {
        Some(if_token) => Some((if_token, input.parse()?)),
        None => None,
    };
    arrow(input, messages::ARROW, errors)?;
    Ok(Arm {
        attrs,
        kind,
        patterns,
        guard,
        body: Expr::parse_with_earlier_boundary_rule(input)?,
    })
}

/// Returns the verb of a step, such as `escalate(..)`, that stands in the place of an arm.
fn step(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    let verb = ahead.parse::<Ident>().ok()?;
    (keys::is_verb(&verb) && ahead.peek(token::Paren)).then_some(verb)
}

/// Reads the kind of failure of an arm, such as `execution_error`. Of a path such as `ToolError::Execution` the last
/// name is read.
fn kind(input: ParseStream<'_>) -> syn::Result<Ident> {
    let mut kind: Ident = input.parse()?;
    while input.parse::<Option<Token![::]>>()?.is_some() {
        kind = input.parse()?;
    }
    Ok(kind)
}

/// Reads the `if` of an arm's guard; `None` if the arm has no guard. A `when` is reported, and read as `if`.
fn guard(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Option<Token![if]>> {
    if input
        .fork()
        .parse::<Ident>()
        .is_ok_and(|word| word == "when")
    {
        let word: Ident = input.parse()?;
        errors.at(&word, messages::guard_begins_with_if(&word));
        return Ok(Some(Token![if](word.span())));
    }
    input.parse()
}

/// Reads the `=>` of an arm. The signs `->`, `:` and `=` are reported, and read as `=>`; any other token is an error.
pub(super) fn arrow(input: ParseStream<'_>, message: &str, errors: &Errors) -> syn::Result<()> {
    if input.peek(Token![=>]) {
        input.parse::<Token![=>]>()?;
    } else if input.peek(Token![->]) {
        errors.at(input.parse::<Token![->]>()?, message);
    } else if input.peek(Token![:]) {
        errors.at(input.parse::<Token![:]>()?, message);
    } else if input.peek(Token![=]) {
        errors.at(input.parse::<Token![=]>()?, message);
    } else {
        return Err(input.error(message));
    }
    Ok(())
}

/// Skips the rest of an arm that cannot be read, up to the next arm.
fn next(input: ParseStream<'_>) {
    skip_to_comma(input);
    let _ = input.parse::<Token![,]>();
}

/// Tells whether the body of an arm ends with braces, so that it needs no comma behind it.
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
