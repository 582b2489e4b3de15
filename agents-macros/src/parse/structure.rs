//! A team, as one expression:
//!
//! ```text
//! structure!(
//!     Project::new(db)
//!         .budget(tokens(500_000))
//!         .delegates(CodeMaster.grants([WriteFile, Compile]).delegates(Coder.grants([WriteFile])), Writer)
//! )
//! ```
//!
//! What is said of a place is said behind the agent, which is any expression. So the last calls of a
//! chain belong to the place as far as they are [known](keys::PLACE), and the agent begins behind them.

use super::{all, keys, rest};
use crate::{
    ast::{Argument, Placed, Said},
    check::{
        messages,
        names::{nearest, plain},
    },
    diag::Errors,
};
use proc_macro2::TokenStream;
use syn::{Expr, ExprMethodCall, Ident, Token};

/// `structure!(root)`
pub(crate) fn structure(tokens: TokenStream, errors: &Errors) -> Option<Placed> {
    all(tokens, errors, |input| {
        let root = errors.ok(input.parse::<Expr>());
        let _ = input.parse::<Option<Token![,]>>();
        if root.is_none() {
            rest(input);
        }
        root.map(|root| placed(root, errors))
    })?
}

fn placed(mut expr: Expr, errors: &Errors) -> Placed {
    let mut said = Vec::new();
    loop {
        expr = match expr {
            // What `macro_rules!` leaves, and what people write to break lines.
            Expr::Group(group) => *group.expr,
            Expr::Paren(paren) => *paren.expr,
            Expr::MethodCall(call) if is_known(&call.method) => {
                let (receiver, one) = taken_apart(call, errors);
                said.push(one);
                receiver
            }
            Expr::MethodCall(call) if is_mistaken(&call) => {
                errors.at(&call.method, mistake(&call));
                *call.receiver
            }
            agent => {
                said.reverse();
                return Placed { agent, said };
            }
        }
    }
}

fn taken_apart(call: ExprMethodCall, errors: &Errors) -> (Expr, Said) {
    let ExprMethodCall {
        receiver,
        method,
        turbofish,
        paren_token,
        args,
        ..
    } = call;
    if let Some(turbofish) = turbofish {
        errors.at(turbofish, messages::no_turbofish(&method));
    }
    let argument = |value| match method == "delegates" {
        true => Argument::Delegate(placed(value, errors)),
        false => Argument::Value(value),
    };
    let one = Said {
        args: args.into_iter().map(argument).collect(),
        method,
        paren: paren_token,
    };
    (*receiver, one)
}

fn known() -> Vec<&'static str> {
    keys::PLACE.iter().map(|key| key.name).collect()
}

fn is_known(method: &Ident) -> bool {
    known().contains(&plain(method).as_str())
}

/// Whether an unknown call was meant for the place: it is spelt nearly like one of those, or stands
/// behind one.
fn is_mistaken(call: &ExprMethodCall) -> bool {
    nearest(&plain(&call.method), &known()).is_some() || is_of_a_place(&call.receiver)
}

/// Whether the place of an agent has begun in here. Builders of agents have a `budget` as well.
fn is_of_a_place(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            let list = matches!(call.args.first(), Some(Expr::Array(_)));
            call.method == "delegates"
                || (list && (call.method == "grants" || call.method == "confirm"))
                || is_of_a_place(&call.receiver)
        }
        _ => false,
    }
}

fn mistake(call: &ExprMethodCall) -> String {
    match is_of_a_place(&call.receiver) && nearest(&plain(&call.method), &known()).is_none() {
        true => messages::behind_a_place(&call.method),
        false => messages::unknown("word about a place", &call.method, &known()),
    }
}
