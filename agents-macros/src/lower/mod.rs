//! [`ast`](crate::ast) to [`model`](crate::model): what the user wrote to what is meant.

mod agent;
mod branch;
mod in_doubt;
mod keys;
mod on_error;
mod on_escalation;
mod params;
mod settings;
mod structure;
mod tool;

pub(crate) use agent::{function_agent, skill_agent};
pub(crate) use branch::branch;
pub(crate) use in_doubt::in_doubt;
pub(crate) use on_error::on_error;
pub(crate) use structure::member;
pub(crate) use tool::tool;

use crate::{ast::Function, syntax::is_lint_level};
use syn::{Attribute, FnArg};

/// `#[cfg(..)]`: what goes for the item goes for everything that is made of it.
fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .cloned()
        .collect()
}

/// Takes from the parameters everything that only a macro may put there, and `self`.
fn strip_parameters(function: &mut Function) {
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(is_lint_level);
        }
    }
}
