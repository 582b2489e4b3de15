//! `undo`: the code that undoes a call:
//!
//! ```text
//! undo(change) => crm.restore(lead_id, change.previous).await,
//!
//! undo!(UpdateLeadStatus, |change| self.crm.restore(args.lead_id, change.previous).await);
//! ```

use super::{
    all,
    in_doubt::{is_block, name},
    on_error, rest, rt,
};
use crate::{
    ast::Undo,
    diag::Errors,
    keys, messages,
    names::plain,
    paths::Rt,
    suggest::{self, nearest},
    syntax::written,
};
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Expr, ExprClosure, Ident, Pat, ReturnType, Token, Type, parenthesized, parse::ParseStream,
    token,
};

/// The way to write `undo` behind the function of a tool, for messages.
const BEHIND: &str = "undo(output) => ..";

/// Tells whether `undo(output) => ..` comes next, also misspelt.
pub(super) fn is_next(input: ParseStream<'_>) -> bool {
    let word = input.fork().parse::<Ident>();
    word.is_ok_and(|word| nearest(&plain(&word), keys::TOOL_BLOCKS) == Some("undo"))
}

/// Reads `undo(output) => expr,`. After a mistake that leaves it unread, tokens up to the next block are skipped.
pub(super) fn undo(input: ParseStream<'_>, errors: &Errors) -> Option<Undo> {
    let read = errors.ok(behind(input, errors));
    while read.is_none() && !input.is_empty() && !is_block(input) {
        let _ = input.parse::<TokenTree>();
    }
    read
}

fn behind(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Undo> {
    let keyword: Ident = input.parse()?;
    let misspelt = (keyword != "undo").then(|| {
        let message = suggest::unknown("block", &keyword, keys::TOOL_BLOCKS);
        syn::Error::new(keyword.span(), message)
    });
    let mut output = None;
    if input.peek(token::Paren) {
        misspelt.into_iter().for_each(|error| errors.note(error));
        let inside;
        parenthesized!(inside in input);
        let names = inside.parse_terminated(name, Token![,])?;
        output = the_output(names, BEHIND, messages::SEEN_BEHIND, errors);
    } else {
        let nameless = || syn::Error::new(keyword.span(), messages::UNDO_WITHOUT_OUTPUT);
        let error = misspelt.unwrap_or_else(nameless);
        match input.peek(Token![=>]) {
            true => errors.note(error),
            false => return Err(error),
        }
    }
    if let Err(error) = on_error::arrow(input, messages::UNDO_ARROW, errors) {
        match input.is_empty() || is_block(input) {
            true => return Err(syn::Error::new(keyword.span(), messages::UNDO_ARROW)),
            false => errors.note(error),
        }
    }
    if input.is_empty() || is_block(input) {
        return Err(syn::Error::new(keyword.span(), messages::UNDO_OF_NOTHING));
    }
    let body = Expr::parse_with_earlier_boundary_rule(input)?;
    if input.peek(Token![;]) {
        errors.at(input.parse::<Token![;]>()?, messages::UNDO_ENDS);
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(Undo {
        keyword,
        tool: None,
        output,
        body,
    })
}

/// Returns the one pattern that the block is given; `None` for `_`. More patterns are reported.
fn the_output(
    patterns: impl IntoIterator<Item = (Pat, Option<Type>)>,
    written: &str,
    seen: &str,
    errors: &Errors,
) -> Option<Pat> {
    let mut patterns = patterns.into_iter();
    let (pattern, ty) = patterns.next()?;
    for (second, _) in patterns {
        errors.at(second, messages::undo_with_two_names(written, seen));
    }
    if let Some(ty) = ty {
        errors.at(ty, messages::output_without_type(written));
    }
    match pattern {
        Pat::Wild(_) => None,
        pattern => Some(pattern),
    }
}

/// Reads `undo!(Pay, |output| expr)`, and the path to the runtime.
pub(crate) fn undo_block(tokens: TokenStream, errors: &Errors) -> Option<(Rt, Undo)> {
    let read = |input: ParseStream<'_>| Ok((rt(input)?, alone(input, errors)?));
    all(tokens, errors, |input| {
        let read = errors.ok(read(input));
        if read.is_none() {
            rest(input);
        }
        read
    })?
}

fn alone(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Undo> {
    let wanted = |input: ParseStream<'_>| input.error(messages::UNDO_WANTS_A_TOOL);
    let tool = on_error::tool_type(input, errors, wanted, messages::doubt_by_type)?;
    let message = messages::undo_by_closure(written(&tool));
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
        inputs,
        output,
        body,
        ..
    } = closure;
    let spelled = format!("undo!({}, |output| ..)", written(&tool));
    if let ReturnType::Type(_, ty) = output {
        errors.at(ty, messages::doubt_without_type(&spelled));
    }
    let patterns = inputs.into_iter().map(|pattern| match pattern {
        Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
        pattern => (pattern, None),
    });
    let last = &tool.segments[tool.segments.len() - 1].ident;
    Ok(Undo {
        keyword: Ident::new("undo", last.span()),
        output: the_output(patterns, &spelled, messages::SEEN_ALONE, errors),
        tool: Some(tool),
        body: *body,
    })
}
