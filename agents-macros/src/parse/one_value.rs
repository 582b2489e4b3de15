//! Blocks of a tool that are given one value, and are one expression: `in_doubt` and `undo`.
//!
//! ```text
//! word(name) => expression,            behind the function of the tool
//! word!(Tool, |name| expression);      alone, beside it
//! ```

use super::{all, on_error, rest, rt};
use crate::{diag::Errors, keys, messages, names::is_one_of, paths::Rt, suggest, syntax::written};
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Expr, ExprClosure, Ident, Pat, Path, ReturnType, Token, Type, parenthesized,
    parse::ParseStream, token,
};

/// A block: its word, and the messages about its mistakes.
pub(super) struct Block {
    pub(super) word: &'static str,
    /// The name of the value in messages, such as `key`.
    pub(super) value: &'static str,
    pub(super) without_value: &'static str,
    pub(super) arrow: &'static str,
    pub(super) of_nothing: &'static str,
    pub(super) ends: &'static str,
    pub(super) wants_a_tool: &'static str,
    pub(super) by_closure: fn(&str) -> String,
    /// The message about `async` before the closure; `None` if it may stand there.
    pub(super) is_async: Option<&'static str>,
}

/// A block as it was read.
pub(super) struct Read<N> {
    pub(super) keyword: Ident,
    /// The tool that the block names; `None` if it stands behind the function of the tool.
    pub(super) tool: Option<Path>,
    /// The name of the value.
    pub(super) name: N,
    pub(super) body: Expr,
}

/// Names that the user has written for the value. One name without a type is right.
pub(super) struct Names {
    pub(super) written: Vec<(Pat, Option<Type>)>,
    /// The right form of the block, for messages; `seen` says what is in scope there.
    pub(super) form: String,
    pub(super) seen: &'static str,
}

/// Takes the name of the value out of what is written, and reports the rest.
pub(super) type Take<N> = fn(Names, &Errors) -> N;

/// Tells whether a block of a tool, such as `on_error` or `undo`, begins here.
pub(super) fn is_block(input: ParseStream<'_>) -> bool {
    let word = input.fork().parse::<Ident>();
    word.is_ok_and(|word| is_one_of(&word, keys::TOOL_BLOCKS))
}

impl Block {
    /// Reads `word(name) => expr,`. If the tokens cannot be read, those up to the next keyword of a tool's block are
    /// skipped.
    pub(super) fn behind<N: Default>(
        &self,
        input: ParseStream<'_>,
        take: Take<N>,
        errors: &Errors,
    ) -> Option<Read<N>> {
        let read = errors.ok(self.read_behind(input, take, errors));
        while read.is_none() && !input.is_empty() && !is_block(input) {
            let _ = input.parse::<TokenTree>();
        }
        read
    }

    fn read_behind<N: Default>(
        &self,
        input: ParseStream<'_>,
        take: Take<N>,
        errors: &Errors,
    ) -> syn::Result<Read<N>> {
        let keyword: Ident = input.parse()?;
        let misspelt = (keyword != self.word).then(|| {
            let message = suggest::unknown("block", &keyword, keys::TOOL_BLOCKS);
            syn::Error::new(keyword.span(), message)
        });
        let mut name = N::default();
        if input.peek(token::Paren) {
            misspelt.into_iter().for_each(|error| errors.note(error));
            let inside;
            parenthesized!(inside in input);
            let written = inside.parse_terminated(self::name, Token![,])?;
            let names = Names {
                written: written.into_iter().collect(),
                form: format!("{}({}) => ..", self.word, self.value),
                seen: messages::SEEN_BEHIND,
            };
            name = take(names, errors);
        } else {
            let nameless = || syn::Error::new(keyword.span(), self.without_value);
            let error = misspelt.unwrap_or_else(nameless);
            match input.peek(Token![=>]) {
                true => errors.note(error),
                false => return Err(error),
            }
        }
        if let Err(error) = on_error::arrow(input, self.arrow, errors) {
            match input.is_empty() || is_block(input) {
                true => return Err(syn::Error::new(keyword.span(), self.arrow)),
                false => errors.note(error),
            }
        }
        if input.is_empty() || is_block(input) {
            return Err(syn::Error::new(keyword.span(), self.of_nothing));
        }
        let body = Expr::parse_with_earlier_boundary_rule(input)?;
        if input.peek(Token![;]) {
            errors.at(input.parse::<Token![;]>()?, self.ends);
        }
        input.parse::<Option<Token![,]>>()?;
        Ok(Read {
            keyword,
            tool: None,
            name,
            body,
        })
    }

    /// Reads `word!(Tool, |name| expr)`, and the path to the runtime.
    pub(super) fn alone<N>(
        &self,
        tokens: TokenStream,
        take: Take<N>,
        errors: &Errors,
    ) -> Option<(Rt, Read<N>)> {
        let read = |input: ParseStream<'_>| Ok((rt(input)?, self.read_alone(input, take, errors)?));
        all(tokens, errors, |input| {
            let read = errors.ok(read(input));
            if read.is_none() {
                rest(input);
            }
            read
        })?
    }

    fn read_alone<N>(
        &self,
        input: ParseStream<'_>,
        take: Take<N>,
        errors: &Errors,
    ) -> syn::Result<Read<N>> {
        let wanted = |input: ParseStream<'_>| input.error(self.wants_a_tool);
        let tool = on_error::tool_type(input, errors, wanted, messages::doubt_by_type)?;
        let message = (self.by_closure)(&written(&tool));
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
        if let (Some(asyncness), Some(message)) = (asyncness, self.is_async) {
            errors.at(asyncness, message);
        }
        let form = format!("{}!({}, |{}| ..)", self.word, written(&tool), self.value);
        if let ReturnType::Type(_, ty) = output {
            errors.at(ty, messages::doubt_without_type(&form));
        }
        let names = inputs.into_iter().map(|name| match name {
            Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
            name => (name, None),
        });
        let names = Names {
            written: names.collect(),
            form,
            seen: messages::SEEN_ALONE,
        };
        let last = &tool.segments[tool.segments.len() - 1].ident;
        Ok(Read {
            keyword: Ident::new(self.word, last.span()),
            name: take(names, errors),
            tool: Some(tool),
            body: *body,
        })
    }
}

/// Reads the name of the value. A type behind it is read too, so that it can be reported.
fn name(input: ParseStream<'_>) -> syn::Result<(Pat, Option<Type>)> {
    let name = Pat::parse_single(input)?;
    let ty = match input.parse::<Option<Token![:]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    Ok((name, ty))
}
