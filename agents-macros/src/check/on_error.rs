//! The rules for the arms of `on_error`.

use super::messages;
use crate::{
    ast::{Arm, OnError},
    diag::Errors,
    parse::keys,
};
use quote::ToTokens;
use syn::Pat;

/// Checks one block.
///
/// There is no runtime for it yet, which is one mistake at its keyword; its arms are checked all
/// the same.
pub(super) fn on_error(block: &OnError, errors: &Errors) {
    errors.at(&block.keyword, messages::unavailable("on_error"));
    for (i, arm) in block.arms.iter().enumerate() {
        let Some(takes) = kind(arm, errors) else { continue };
        patterns(arm, takes, errors);
        reachable(arm, &block.arms[..i], errors);
    }
}

/// `invalid_args(..)`: one of the kinds, and one that a tool has. Gives what it hands over.
fn kind(arm: &Arm, errors: &Errors) -> Option<&'static [&'static str]> {
    let names: Vec<&str> = keys::KINDS.iter().map(|(name, _)| *name).collect();
    let Some((name, takes)) = keys::KINDS.iter().find(|(name, _)| arm.kind == name) else {
        errors.at(&arm.kind, messages::unknown("error kind", &arm.kind, &names));
        return None;
    };
    if *name == "invalid_output" {
        errors.at(&arm.kind, messages::not_on_a_tool());
    }
    Some(takes)
}

/// `invalid_args(raw, error)`: as many patterns as the kind hands over.
fn patterns(arm: &Arm, takes: &[&str], errors: &Errors) {
    let found = arm.patterns.len();
    let rest = arm.patterns.iter().any(|pattern| matches!(pattern, Pat::Rest(_)));
    if found != takes.len() && !rest {
        let name = arm.kind.to_string();
        if found == 0 {
            errors.at(&arm.kind, messages::wrong_patterns(&name, takes, found));
        } else {
            errors.at(&arm.patterns, messages::wrong_patterns(&name, takes, found));
        }
    }
}

/// An arm below one that answers everything of its kind is dead.
fn reachable(arm: &Arm, above: &[Arm], errors: &Errors) {
    let shadow = above.iter().find(|above| {
        above.kind == arm.kind && above.guard.is_none() && (answers_all(above) || same_patterns(above, arm))
    });
    if let Some(above) = shadow {
        errors.at(&above.kind, messages::answers_everything(&above.kind));
        errors.at(&arm.kind, messages::unreachable_arm(&arm.kind));
    }
}

fn answers_all(arm: &Arm) -> bool {
    arm.patterns.iter().all(|pattern| match pattern {
        Pat::Wild(_) | Pat::Rest(_) => true,
        // A capitalised name is a variant, not a binding.
        Pat::Ident(binding) => binding.subpat.is_none() && binding.ident.to_string().starts_with(|c: char| !c.is_uppercase()),
        _ => false,
    })
}

fn same_patterns(a: &Arm, b: &Arm) -> bool {
    a.patterns.to_token_stream().to_string() == b.patterns.to_token_stream().to_string()
}
