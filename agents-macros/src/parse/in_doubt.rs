//! `in_doubt`: the code that finds out what became of an interrupted execution:
//!
//! ```text
//! in_doubt(key) => match bank.find(key).await? { .. },
//!
//! in_doubt!(Pay, |key| match self.bank.find(key).await? { .. });
//! ```

use super::one_value::{Block, Names, Read};
use crate::{
    ast::InDoubt, diag::Errors, keys, messages, names::plain, paths::Rt, suggest::nearest,
};
use proc_macro2::{Group, TokenStream};
use syn::{Ident, Pat, Token, parse::ParseStream, token};

const BLOCK: Block = Block {
    word: "in_doubt",
    value: "key",
    without_value: messages::DOUBT_WITHOUT_KEY,
    arrow: messages::DOUBT_ARROW,
    of_nothing: messages::DOUBT_OF_NOTHING,
    ends: messages::DOUBT_ENDS,
    wants_a_tool: messages::DOUBT_WANTS_A_TOOL,
    by_closure: |tool| messages::doubt_by_closure(tool),
    is_async: Some(messages::DOUBT_IS_ASYNC),
};

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

/// Reads `in_doubt(key) => expr,`.
pub(super) fn in_doubt(input: ParseStream<'_>, errors: &Errors) -> Option<InDoubt> {
    BLOCK.behind(input, key, errors).map(made)
}

/// Reads `in_doubt!(Pay, |key| expr)`, and the path to the runtime.
pub(crate) fn in_doubt_block(tokens: TokenStream, errors: &Errors) -> Option<(Rt, InDoubt)> {
    let (rt, read) = BLOCK.alone(tokens, key, errors)?;
    Some((rt, made(read)))
}

fn made(read: Read<Option<Ident>>) -> InDoubt {
    InDoubt {
        keyword: read.keyword,
        tool: read.tool,
        key: read.name,
        body: read.body,
    }
}

/// Returns the one name that the block is given; `None` for `_`, if no name is written, and for any other pattern,
/// which is reported. More names, and a type, are reported too.
fn key(names: Names, errors: &Errors) -> Option<Ident> {
    let Names {
        written,
        form,
        seen,
    } = names;
    let mut names = written.into_iter();
    let (name, ty) = names.next()?;
    for (second, _) in names {
        errors.at(second, messages::doubt_with_two_names(&form, seen));
    }
    if let Some(ty) = ty {
        errors.at(ty, messages::key_without_type(&form));
    }
    match name {
        Pat::Wild(_) => None,
        Pat::Ident(name) => {
            if name.by_ref.is_some() || name.mutability.is_some() || name.subpat.is_some() {
                errors.at(&name, messages::key_without_type(&form));
            }
            Some(name.ident)
        }
        other => {
            errors.at(other, messages::key_without_type(&form));
            None
        }
    }
}
