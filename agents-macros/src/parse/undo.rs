//! `undo`: the code that undoes a call:
//!
//! ```text
//! undo(change) => crm.restore(lead_id, change.previous).await,
//!
//! undo!(UpdateLeadStatus, |change| self.crm.restore(args.lead_id, change.previous).await);
//! ```

use super::one_value::{Block, Names, Read};
use crate::{ast::Undo, diag::Errors, keys, messages, names::plain, paths::Rt, suggest::nearest};
use proc_macro2::TokenStream;
use syn::{Ident, Pat, parse::ParseStream};

const BLOCK: Block = Block {
    word: "undo",
    value: "output",
    without_value: messages::UNDO_WITHOUT_OUTPUT,
    arrow: messages::UNDO_ARROW,
    of_nothing: messages::UNDO_OF_NOTHING,
    ends: messages::UNDO_ENDS,
    wants_a_tool: messages::UNDO_WANTS_A_TOOL,
    by_closure: |tool| messages::undo_by_closure(tool),
    is_async: None,
};

/// Tells whether `undo(output) => ..` comes next, also misspelt.
pub(super) fn is_next(input: ParseStream<'_>) -> bool {
    let word = input.fork().parse::<Ident>();
    word.is_ok_and(|word| nearest(&plain(&word), keys::TOOL_BLOCKS) == Some("undo"))
}

/// Reads `undo(output) => expr,`.
pub(super) fn undo(input: ParseStream<'_>, errors: &Errors) -> Option<Undo> {
    BLOCK.behind(input, output, errors).map(made)
}

/// Reads `undo!(Pay, |output| expr)`, and the path to the runtime.
pub(crate) fn undo_block(tokens: TokenStream, errors: &Errors) -> Option<(Rt, Undo)> {
    let (rt, read) = BLOCK.alone(tokens, output, errors)?;
    Some((rt, made(read)))
}

fn made(read: Read<Option<Pat>>) -> Undo {
    Undo {
        keyword: read.keyword,
        tool: read.tool,
        output: read.name,
        body: read.body,
    }
}

/// Returns the one pattern that the block is given; `None` for `_`, and if no pattern is written. More patterns, and a
/// type, are reported.
fn output(names: Names, errors: &Errors) -> Option<Pat> {
    let Names {
        written,
        form,
        seen,
    } = names;
    let mut patterns = written.into_iter();
    let (pattern, ty) = patterns.next()?;
    for (second, _) in patterns {
        errors.at(second, messages::undo_with_two_names(&form, seen));
    }
    if let Some(ty) = ty {
        errors.at(ty, messages::output_without_type(&form));
    }
    Some(pattern).filter(|pattern| !matches!(pattern, Pat::Wild(_)))
}
