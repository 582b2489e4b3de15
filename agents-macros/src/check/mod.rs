//! The rules, one function for each. The texts are in [`messages`].
//!
//! Functions that end in `_as_written` check the parts of an [`ast`](crate::ast), each by itself. What they report is
//! left out, or read as what was meant, so that the code can be lowered. The others check a whole
//! [`model`](crate::model).

mod agent;
mod branch;
mod dir;
mod in_doubt;
mod keys;
mod on_error;
mod on_escalation;
mod params;
mod settings;
mod signature;
mod structure;
mod tool;
mod undo;

pub(crate) use agent::{agent, function_as_written, skills_as_written};
pub(crate) use branch::{branch, branch_as_written};
pub(crate) use dir::dir;
pub(crate) use in_doubt::in_doubt_as_written;
pub(crate) use on_error::{Of, arms_as_written, on_error_alone};
pub(crate) use on_escalation::handler_as_written;
pub(crate) use structure::{structure, structure_as_written};
pub(crate) use tool::{tool, tool_as_written};
pub(crate) use undo::undo_as_written;

use crate::{
    diag::Errors,
    keys::Verb,
    messages,
    names::{is_one_of, plain},
    suggest::{self, nearest},
    syntax::{pair, written},
};
use syn::{Expr, ExprCall};

/// Returns the message about a name that no skill of the agent has, with the skill that was probably meant.
fn not_a_skill(name: &str, known: &[&str]) -> String {
    messages::not_a_skill(name, nearest(name, known), known)
}

/// Checks the arguments of a verb, and leaves out those that it reports. `set` is given each `key = value`, and returns
/// what stands in its place.
fn arguments(call: &mut ExprCall, verb: &Verb, errors: &Errors, set: &dyn Fn(&str, Expr) -> Expr) {
    let mut values = 0;
    for argument in std::mem::take(&mut call.args) {
        match pair(argument.clone()) {
            Err(value) if values == verb.plain => {
                let message =
                    messages::value_too_many(verb.name, verb.plain, verb.next, &written(&value));
                errors.at(&value, message);
            }
            Err(_) => {
                values += 1;
                call.args.push(argument);
            }
            Ok((key, _)) if is_one_of(&key, verb.keys) => {
                // The agent of a `fix` is handed over as a value.
                values += usize::from(key == "agent");
                call.args.push(set(&plain(&key), argument));
            }
            Ok((key, _)) => {
                let message = suggest::unknown_modifier(verb.name, &key, verb.keys);
                errors.at(&key, message);
            }
        }
    }
}
