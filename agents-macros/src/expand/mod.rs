//! Prints the [`model`](crate::model) as tokens: the calls that a person would write, and nothing else.

mod agent;
mod arguments;
mod asserts;
mod dir;
mod edges;
mod fallback;
mod generated_type;
mod implementation;
mod in_doubt;
mod on_error;
mod on_escalation;
mod settings;
mod skills;
mod structure;
mod tool;
mod undo;

pub(crate) use agent::agent;
pub(crate) use dir::dir;
pub(crate) use fallback::{expression, no_expression, untouched};
pub(crate) use in_doubt::alone as in_doubt;
pub(crate) use on_error::alone as on_error;
pub(crate) use skills::block;
pub(crate) use structure::{branch, structure};
pub(crate) use tool::tool;
pub(crate) use undo::alone as undo;

use crate::{
    names::is_one_of,
    paths::{Rt, end},
};
use proc_macro2::{Delimiter, Group, TokenStream};
use quote::quote;
use syn::{Attribute, Block, Expr, Macro, Stmt};

/// A call on the builder of an agent for one member of its block, with the `#[cfg]` attributes of that member.
struct Step {
    attrs: Vec<Attribute>,
    call: TokenStream,
}

/// Prints the value of an arm, converted by `into`. An arm that never gives a value, such as `todo!()`, stays as it is.
fn given(arm: &Expr, into: &TokenStream) -> TokenStream {
    // Behind `=>` nobody minds braces, in a call lints do.
    if let Expr::Block(block) = arm
        && let ([Stmt::Expr(only, None)], [], None) =
            (&*block.block.stmts, &*block.attrs, &block.label)
    {
        return given(only, into);
    }
    if gives_nothing(arm) {
        return quote!(#arm);
    }
    // What rustc proposes to write behind the arm is put where this ends.
    let mut handed = Group::new(Delimiter::Parenthesis, quote!(#arm));
    handed.set_span(end(arm));
    quote!(#into #handed)
}

/// Tells whether an arm never gives a value, as far as its tokens tell: each path returns or panics.
fn gives_nothing(arm: &Expr) -> bool {
    match arm {
        Expr::Return(_) => true,
        Expr::Macro(called) => is_end(&called.mac),
        Expr::Block(block) => ends(&block.block),
        Expr::Group(group) => gives_nothing(&group.expr),
        Expr::Paren(paren) => gives_nothing(&paren.expr),
        Expr::If(choice) => {
            let otherwise = choice.else_branch.as_ref();
            ends(&choice.then_branch)
                && otherwise.is_some_and(|(_, otherwise)| gives_nothing(otherwise))
        }
        Expr::Match(choice) => choice.arms.iter().all(|arm| gives_nothing(&arm.body)),
        _ => false,
    }
}

fn ends(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(last, _)) => gives_nothing(last),
        Some(Stmt::Macro(last)) => is_end(&last.mac),
        _ => false,
    }
}

/// Tells whether a macro never returns: `todo!()`, `panic!()` and the like.
fn is_end(called: &Macro) -> bool {
    called.path.segments.last().is_some_and(|name| {
        let ends = ["todo", "unimplemented", "unreachable", "panic"];
        is_one_of(&name.ident, &ends)
    })
}

/// Prints a hidden scope for all generated items that the user does not name. Macros in it are named from the root:
/// beside an unknown attribute, rustc expands them before it sees the `use`.
///
/// ```ignore
/// #[allow(trivial_bounds, unused_qualifications)]
/// const _: () = {
///     use ::agents::__rt;
///     /* items */
/// };
/// ```
fn hidden(rt: &Rt, cfgs: &[Attribute], items: &TokenStream) -> TokenStream {
    // That the user's types fit is written as a bound on each: of most it is plain.
    quote! {
        #(#cfgs)*
        #[allow(trivial_bounds, unused_qualifications)]
        const _: () = {
            use #rt;
            #items
        };
    }
}
