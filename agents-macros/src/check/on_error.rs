//! The rules for the arms of `on_error`.
//!
//! That an arm is never reached is left to rustc: it sees more than tokens, and the expansion denies
//! unreachable patterns.

use crate::{
    ast::{Arm, Arms},
    diag::Errors,
    keys::{self, Kind},
    messages,
    names::plain,
    suggest::{self, nearest},
};
use quote::ToTokens;
use syn::{
    Expr, ExprLit, Lit,
    visit::{self, Visit},
};

/// Checks one block. Arms for one tool answer what happens to its calls; an agent's own answer what
/// happens to its final answer, too.
pub(crate) fn on_error(block: &Arms, is_for_tool: bool, errors: &Errors) {
    for arm in &block.arms {
        let Some(kind) = kind(arm, is_for_tool, errors) else {
            continue;
        };
        patterns(arm, kind, errors);
        Steps(errors).visit_expr(&arm.body);
    }
}

/// `invalid_args(..)`: one of the kinds, and one that can happen here.
fn kind(arm: &Arm, is_for_tool: bool, errors: &Errors) -> Option<&'static Kind> {
    let Some(kind) = keys::KINDS.iter().find(|kind| arm.kind == kind.name) else {
        errors.at(&arm.kind, unknown(&plain(&arm.kind), is_for_tool));
        return None;
    };
    if is_for_tool && kind.name == "invalid_output" {
        errors.at(&arm.kind, messages::not_on_a_tool());
    }
    Some(kind)
}

/// A kind that there is not: of those that can happen here the one that was meant, or all.
fn unknown(found: &str, is_for_tool: bool) -> String {
    let all: Vec<&str> = keys::KINDS.iter().map(|kind| kind.name).collect();
    let is_here = |name: &&str| !is_for_tool || *name != "invalid_output";
    let here: Vec<&str> = all.iter().copied().filter(is_here).collect();
    if found == "_" {
        return messages::arm_by_kind(&here);
    }
    let found_as_failure =
        |(word, _): &&(&str, &str)| found.to_lowercase().replace('_', "") == *word;
    match keys::FAILURES.iter().find(found_as_failure) {
        Some((_, failure)) => messages::failure_for_kind(found, failure),
        None if is_for_tool && nearest(found, &all) == Some("invalid_output") => {
            messages::not_on_a_tool().to_owned()
        }
        None => suggest::unknown("error kind", found, &here),
    }
}

/// `invalid_args(raw, error)`: as many patterns as the kind hands over.
fn patterns(arm: &Arm, Kind { name, takes, .. }: &Kind, errors: &Errors) {
    if arm.fits(takes) {
        return;
    }
    let found = arm.patterns.len();
    let message = messages::wrong_patterns(name, takes, found);
    if found == 0 {
        errors.at(&arm.kind, message);
    } else {
        errors.at(&arm.patterns, message);
    }
}

/// What no type sees: steps that can never be taken.
struct Steps<'e>(&'e Errors);

impl Steps<'_> {
    /// A count, however it is written, that takes the sense out of its verb.
    fn count(&self, key: &str, count: &Expr, at: &impl ToTokens) {
        let Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) = count
        else {
            return;
        };
        match (key, number.base10_parse::<u64>()) {
            ("max_attempts", Ok(number @ (0 | 1))) => {
                self.0.at(at, messages::never_retries(number));
            }
            ("retries", Ok(0)) => self.0.at(at, messages::never_asks()),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Steps<'_> {
    /// `escalate("no").or(..)`, `fix(tidy(raw)?).or(..)`
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "or" {
            Questions(self.0).visit_expr(&call.receiver);
        }
        if call.method == "or"
            && let Some(verb @ ("escalate" | "throw" | "feedback")) =
                verb(&call.receiver).as_deref()
        {
            self.0.at(&call.method, messages::never_falls_through(verb));
        }
        if let Some(count) = call.args.first() {
            self.count(&call.method.to_string(), count, count);
        }
        visit::visit_expr_method_call(self, call);
    }

    /// `retry(max_attempts = 1)`, `fix(agent = JsonFixer, retries = 0)`
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        let key = assign.left.to_token_stream().to_string();
        self.count(&key, &assign.right, assign);
        visit::visit_expr_assign(self, assign);
    }
}

/// Each `?` that leaves the arms before the next step of a plan is reached.
struct Questions<'e>(&'e Errors);

impl<'ast> Visit<'ast> for Questions<'_> {
    fn visit_expr_try(&mut self, question: &'ast syn::ExprTry) {
        self.0
            .at(question.question_token, messages::QUESTION_BEFORE_OR);
        visit::visit_expr_try(self, question);
    }

    /// What stands before another `.or(..)` is looked at there.
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        match call.method == "or" {
            true => call.args.iter().for_each(|step| self.visit_expr(step)),
            false => visit::visit_expr_method_call(self, call),
        }
    }

    // A `?` in there leaves only that.
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item_fn(&mut self, _: &'ast syn::ItemFn) {}
}

/// The verb by which a chain ends: what comes after it only comes when that gives nothing.
fn verb(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Paren(inner) => verb(&inner.expr),
        Expr::MethodCall(call) if call.method == "or" => verb(call.args.first()?),
        // `.severity(..)`, `.retries(..)`
        Expr::MethodCall(call) => verb(&call.receiver),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
            _ => None,
        },
        _ => None,
    }
}
