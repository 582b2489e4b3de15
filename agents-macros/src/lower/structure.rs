//! Teams.

use crate::{
    ast::{self, Argument},
    model::{Member, Said, ToolRef},
    syntax::ungrouped,
};
use syn::{Expr, Ident};

/// Turns one agent of a `structure!`, and those below it, into the model from which code is printed.
pub(crate) fn member(written: ast::Placed) -> Member {
    Member {
        agent: written.agent,
        said: written.said.into_iter().filter_map(said).collect(),
    }
}

fn said(one: ast::Said) -> Option<Said> {
    let ast::Said { method, args, .. } = one;
    let (mut members, mut values) = (Vec::new(), Vec::new());
    for arg in args {
        match arg {
            Argument::Delegate(below) => members.push(member(below)),
            Argument::Value(value) => values.push(value),
        }
    }
    match method.to_string().as_str() {
        "delegates" => Some(Said::Delegates(method, members)),
        "budget" => values.pop().map(|budget| Said::Budget(method, budget)),
        "background" | "background_until_answer" => Some(Said::Background(method)),
        "grants" => listed(method, values, Said::Grants),
        _ => listed(method, values, Said::Confirm),
    }
}

fn listed(
    method: Ident,
    mut values: Vec<Expr>,
    said: fn(Ident, Vec<ToolRef>) -> Said,
) -> Option<Said> {
    let Some(Expr::Array(list)) = values.pop() else {
        return None;
    };
    let tools = list.elems.into_iter();
    let tools = tools.filter_map(|tool| ToolRef::of(ungrouped(tool)).ok());
    Some(said(method, tools.collect()))
}
