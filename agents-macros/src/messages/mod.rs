//! The texts of all diagnostics: what is wrong, then the way out.
//!
//! Texts are in lower case, without a full stop, with code in backticks. The callers decide which text is raised, and
//! where. They also find the words that are put into a text.

mod agent;
mod arms;
mod dir;
mod in_doubt;
mod keys;
mod syntax;
mod team;
mod tool;
mod undo;

pub(crate) use agent::*;
pub(crate) use arms::*;
pub(crate) use dir::*;
pub(crate) use in_doubt::*;
pub(crate) use keys::*;
pub(crate) use syntax::*;
pub(crate) use team::*;
pub(crate) use tool::*;
pub(crate) use undo::*;

/// Returns a noun with its article, for messages: `a tool`, `an agent`.
fn a(what: &str) -> String {
    match what.starts_with('a') {
        true => format!("an {what}"),
        false => format!("a {what}"),
    }
}

fn number(n: usize) -> String {
    match n {
        1 => "one thing".to_owned(),
        n => format!("{n} things"),
    }
}

fn one_of(known: &[&str]) -> String {
    match known {
        [one] => format!("`{one}`"),
        many => format!("one of `{}`", many.join("`, `")),
    }
}

fn all_of(names: &[&str]) -> String {
    match names {
        [before @ .., last] => format!("`{}` and `{last}`", before.join("`, `")),
        [] => String::new(),
    }
}
