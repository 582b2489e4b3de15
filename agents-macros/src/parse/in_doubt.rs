//! `in_doubt`: the code that finds out what became of an interrupted execution:
//!
//! ```text
//! in_doubt(key) => match bank.find(key).await? { .. },
//!
//! in_doubt!(Pay, |key| match self.bank.find(key).await? { .. });
//! ```

use super::{all, on_error, rest, rt};
use crate::{
    ast::InDoubt,
    diag::Errors,
    keys, messages,
    names::plain,
    paths::Rt,
    suggest::{self, nearest},
    syntax::written,
};
use proc_macro2::{Group, TokenStream, TokenTree};
use syn::{
    Expr, ExprClosure, Ident, Pat, ReturnType, Token, Type, parenthesized, parse::ParseStream,
    token,
};

/// The way to write `in_doubt` behind the function of a tool, for messages.
const BEHIND: &str = "in_doubt(key) => ..";

/// Tells whether `in_doubt(key) => ..` comes next, also misspelt.
pub(super) fn is_next(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let Ok(word) = ahead.parse::<Ident>() else {
        return false;
    };
    match nearest(&plain(&word), keys::TOOL_BLOCKS) {
        Some(meant) => meant == "in_doubt",
        None => {
            ahead.peek(token::Paren) && ahead.parse::<Group>().is_ok() && ahead.peek(Token![=>])
        }
    }
}

/// Tells whether a block of a tool, such as `on_error` or `undo`, begins here.
pub(super) fn is_block(input: ParseStream<'_>) -> bool {
    let word = input.fork().parse::<Ident>();
    word.is_ok_and(|word| keys::TOOL_BLOCKS.iter().any(|block| word == block))
}

/// Reads `in_doubt(key) => expr,`. If it cannot, it skips the tokens up to the next keyword of a tool's block.
pub(super) fn in_doubt(input: ParseStream<'_>, errors: &Errors) -> Option<InDoubt> {
    let read = errors.ok(behind(input, errors));
    while read.is_none() && !input.is_empty() && !is_block(input) {
        let _ = input.parse::<TokenTree>();
    }
    read
}

fn behind(input: ParseStream<'_>, errors: &Errors) -> syn::Result<InDoubt> {
    let keyword: Ident = input.parse()?;
    let misspelt = (keyword != "in_doubt").then(|| {
        let message = suggest::unknown("block", &keyword, keys::TOOL_BLOCKS);
        syn::Error::new(keyword.span(), message)
    });
    let mut key = None;
    if input.peek(token::Paren) {
        misspelt.into_iter().for_each(|error| errors.note(error));
        let inside;
        parenthesized!(inside in input);
        let names = inside.parse_terminated(name, Token![,])?;
        key = the_key(names, BEHIND, messages::SEEN_BEHIND, errors);
    } else {
        let keyless = || syn::Error::new(keyword.span(), messages::DOUBT_WITHOUT_KEY);
        let error = misspelt.unwrap_or_else(keyless);
        match input.peek(Token![=>]) {
            true => errors.note(error),
            false => return Err(error),
        }
    }
    if let Err(error) = on_error::arrow(input, messages::DOUBT_ARROW, errors) {
        match input.is_empty() || is_block(input) {
            true => return Err(syn::Error::new(keyword.span(), messages::DOUBT_ARROW)),
            false => errors.note(error),
        }
    }
    if input.is_empty() || is_block(input) {
        return Err(syn::Error::new(keyword.span(), messages::DOUBT_OF_NOTHING));
    }
    let body = Expr::parse_with_earlier_boundary_rule(input)?;
    if input.peek(Token![;]) {
        errors.at(input.parse::<Token![;]>()?, messages::DOUBT_ENDS);
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(InDoubt {
        keyword,
        tool: None,
        key,
        body,
    })
}

/// Reads the name `key`. A type behind it is read too, so that it can be reported.
pub(super) fn name(input: ParseStream<'_>) -> syn::Result<(Pat, Option<Type>)> {
    let name = Pat::parse_single(input)?;
    let ty = match input.parse::<Option<Token![:]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    Ok((name, ty))
}

/// Returns the one name that the block is given; `None` for `_`. More names are reported.
fn the_key(
    names: impl IntoIterator<Item = (Pat, Option<Type>)>,
    written: &str,
    seen: &str,
    errors: &Errors,
) -> Option<Ident> {
    let mut names = names.into_iter();
    let (name, ty) = names.next()?;
    for (second, _) in names {
        errors.at(second, messages::doubt_with_two_names(written, seen));
    }
    if let Some(ty) = ty {
        errors.at(ty, messages::key_without_type(written));
    }
    match name {
        Pat::Wild(_) => None,
        Pat::Ident(name) => {
            if name.by_ref.is_some() || name.mutability.is_some() || name.subpat.is_some() {
                errors.at(&name, messages::key_without_type(written));
            }
            Some(name.ident)
        }
        other => {
            errors.at(other, messages::key_without_type(written));
            None
        }
    }
}

/// Reads `in_doubt!(Pay, |key| expr)`, and the path to the runtime.
pub(crate) fn in_doubt_block(tokens: TokenStream, errors: &Errors) -> Option<(Rt, InDoubt)> {
    let read = |input: ParseStream<'_>| Ok((rt(input)?, alone(input, errors)?));
    all(tokens, errors, |input| {
        let read = errors.ok(read(input));
        if read.is_none() {
            rest(input);
        }
        read
    })?
}

fn alone(input: ParseStream<'_>, errors: &Errors) -> syn::Result<InDoubt> {
    let wanted = |input: ParseStream<'_>| input.error(messages::DOUBT_WANTS_A_TOOL);
    let tool = on_error::tool_type(input, errors, wanted, messages::doubt_by_type)?;
    let message = messages::doubt_by_closure(written(&tool));
    let comma: Option<Token![,]> = input.parse()?;
    if input.is_empty() {
        return Err(syn::Error::new_spanned(tool, message));
    }
    if comma.is_none() {
        return Err(input.error(message));
    }
    let closure = match input.parse()? {
        Expr::Closure(closure) => closure,
        other => return Err(syn::Error::new_spanned(other, message)),
    };
    input.parse::<Option<Token![,]>>()?;
    let ExprClosure {
        asyncness,
        inputs,
        output,
        body,
        ..
    } = closure;
    if let Some(asyncness) = asyncness {
        errors.at(asyncness, messages::DOUBT_IS_ASYNC);
    }
    let spelled = format!("in_doubt!({}, |key| ..)", written(&tool));
    if let ReturnType::Type(_, ty) = output {
        errors.at(ty, messages::doubt_without_type(&spelled));
    }
    let names = inputs.into_iter().map(|name| match name {
        Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
        name => (name, None),
    });
    let keyword = &tool.segments[tool.segments.len() - 1].ident;
    Ok(InDoubt {
        keyword: Ident::new("in_doubt", keyword.span()),
        key: the_key(names, &spelled, messages::SEEN_ALONE, errors),
        tool: Some(tool),
        body: *body,
    })
}
