//! Translates the checked [`ast`](crate::ast) to the [`model`](crate::model).

mod agent;
mod branch;
mod dir;
mod in_doubt;
mod keys;
mod on_error;
mod on_escalation;
mod params;
mod settings;
mod structure;
mod tool;
mod undo;

pub(crate) use agent::{function_agent, skill_agent};
pub(crate) use branch::branch;
pub(crate) use dir::dir;
pub(crate) use in_doubt::in_doubt;
pub(crate) use on_error::on_error;
pub(crate) use structure::member;
pub(crate) use tool::tool;
pub(crate) use undo::undo;

use crate::{ast::Function, syntax::is_lint_level};
use syn::{Attribute, FnArg};

/// Returns the `#[cfg(..)]` attributes of an item, which the generated code repeats.
fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .cloned()
        .collect()
}

/// Removes all attributes but lint levels from parameters, since rustc would not accept them there.
fn strip_parameters(function: &mut Function) {
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(is_lint_level);
        }
    }
}
