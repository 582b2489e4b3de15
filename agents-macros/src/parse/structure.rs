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
//! The agent is any expression, and the description of its place follows it. So the last calls of a chain describe
//! the place as far as they are [known](keys::PLACE). The agent is all that stands before them.

use super::rt;
use crate::{
    ast::{Argument, Placed, Said},
    diag::Errors,
    keys, messages,
    names::plain,
    paths::Rt,
    suggest::{self, nearest},
    syntax::ungrouped,
};
use proc_macro2::{Span, TokenStream};
use syn::{
    Expr, ExprCall, ExprLit, ExprMethodCall, ExprPath, ExprStruct, Ident, Token,
    parse::{ParseStream, Parser},
};

/// Reads `structure!(root)`, and the path to the runtime.
pub(crate) fn structure(tokens: TokenStream, errors: &Errors) -> Option<(Rt, Placed)> {
    if tokens.is_empty() {
        errors.note(syn::Error::new(Span::call_site(), messages::NO_ROOT));
        return None;
    }
    let root = |input: ParseStream<'_>| {
        let rt = rt(input)?;
        let root = input.parse::<Expr>()?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            let second = input.parse::<proc_macro2::TokenStream>()?;
            errors.at(second, messages::SECOND_ROOT);
        }
        Ok((rt, root))
    };
    errors
        .ok(root.parse2(tokens))
        .map(|(rt, root)| (rt, placed(root, errors)))
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
            Expr::MethodCall(mut call) if meant(&call.method).is_some() => {
                errors.at(
                    &call.method,
                    suggest::unknown("word", &call.method, &known()),
                );
                // Read on as it is meant: what stands inside may hold mistakes as well.
                if let Some(name) = meant(&call.method) {
                    call.method = Ident::new(name, call.method.span());
                }
                Expr::MethodCall(call)
            }
            Expr::MethodCall(call) if is_of_a_place(&call.receiver) => {
                errors.at(&call.method, messages::behind_a_place(&call.method));
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
    for argument in &args {
        without_attributes(argument, errors);
    }
    let argument = |value| match method == "delegates" {
        true => Argument::Delegate(placed(value, errors)),
        false => Argument::Value(ungrouped(value)),
    };
    let one = Said {
        args: args.into_iter().map(argument).collect(),
        method,
        paren: paren_token,
    };
    (*receiver, one)
}

/// Reports the attributes of an argument, or of the elements in a list, where they mean nothing.
fn without_attributes(expr: &Expr, errors: &Errors) {
    match expr {
        Expr::Array(list) => {
            for element in &list.elems {
                without_attributes(element, errors);
            }
        }
        Expr::Path(ExprPath { attrs, .. })
        | Expr::MethodCall(ExprMethodCall { attrs, .. })
        | Expr::Call(ExprCall { attrs, .. })
        | Expr::Struct(ExprStruct { attrs, .. })
        | Expr::Lit(ExprLit { attrs, .. }) => {
            for attribute in attrs {
                errors.at(attribute, messages::attribute_in_a_team());
            }
        }
        _ => {}
    }
}

fn known() -> Vec<&'static str> {
    keys::words(keys::PLACE)
}

fn is_known(method: &Ident) -> bool {
    known().contains(&plain(method).as_str())
}

/// Returns the method of a place that was probably meant by a misspelt method.
fn meant(method: &Ident) -> Option<&'static str> {
    nearest(&plain(method), &known())
}

/// Tells whether a chain of calls shows that it describes a place in a team, by `delegates(..)`, `grants([..])` or
/// `confirm([..])`. A call of `budget` does not show that, since builders of agents have one as well.
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
