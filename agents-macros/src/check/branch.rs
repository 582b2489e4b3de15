//! The rules for branches.

use crate::{
    ast::{
        self,
        ends::{self, End},
    },
    diag::Errors,
    messages,
    model::Branch,
    paths::here,
    syntax::is_capitalised,
    walk::{self, Part},
};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Pat, parse_quote_spanned, spanned::Spanned};

/// The largest number of agents that one `branch!` can name, which is that of the largest tuple.
const MOST: usize = 12;

/// Checks each arm of a `branch!` by itself: it ends with `agent.run(input)`.
pub(crate) fn branch_as_written(branch: &mut ast::Branch, errors: &Errors) {
    for arm in &mut branch.arms {
        let bound = bound(&arm.pat);
        ends::visit(&mut arm.body, &mut |end| match end {
            End::Expr(body) => hands_on(body, &bound, errors),
            End::Block(block) => {
                errors.at(&*block, messages::hands_on_to_nobody());
                *block = parse_quote_spanned!(here(block.span())=> { ::core::unreachable!() });
            }
        });
    }
}

fn hands_on(body: &mut Expr, bound: &[String], errors: &Errors) {
    let at = match &*body {
        Expr::MethodCall(call) if call.method == "run" && call.args.len() == 1 => {
            let agent = &call.receiver;
            let tokens = agent.to_token_stream();
            let of_the_pattern = |name: &&String| mentions(tokens.clone(), name);
            let Some(name) = bound.iter().find(of_the_pattern) else {
                return;
            };
            errors.at(agent, messages::target_of_a_pattern(name));
            agent.span()
        }
        Expr::Await(it) => {
            errors.at(it.await_token, messages::no_await(".await"));
            body.span()
        }
        Expr::Try(it) => {
            errors.at(it.question_token, messages::no_await("?"));
            body.span()
        }
        it => {
            errors.at(it, messages::hands_on_to_nobody());
            body.span()
        }
    };
    *body = parse_quote_spanned!(here(at)=> ::core::unreachable!());
}

/// Returns the names that a pattern binds. A capitalised name is a variant.
fn bound(pattern: &Pat) -> Vec<String> {
    let mut names = Vec::new();
    walk::read_pat(pattern, &mut |part| {
        if let Part::Pat(Pat::Ident(binding)) = part
            && !is_capitalised(&binding.ident)
        {
            names.push(binding.ident.to_string());
        }
        true
    });
    names
}

fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// Checks the rules for a `branch!` as a whole, such as that it has arms.
pub(crate) fn branch(branch: &Branch, errors: &Errors) {
    if branch.targets.is_empty() && errors.is_empty() {
        errors.at(branch.match_token, messages::no_arms());
    }
    if let Some((_, agent)) = branch.targets.get(MOST) {
        errors.at(agent, messages::too_many_targets(MOST));
    }
}
