//! The rules for the arms of `on_error`.
//!
//! rustc reports an arm that is never reached: it sees more than tokens, and the expansion denies unreachable
//! patterns.

use super::arguments;
use crate::{
    ast::{Arm, Arms, bound},
    diag::Errors,
    keys::{self, Kind},
    messages,
    names::{plain, type_name},
    suggest::{self, any_error, failure, nearest, verbs},
    syntax::{function, handed_to, pair},
};
use proc_macro2::Span;
use quote::ToTokens;
use std::borrow::Cow;
use syn::{
    Expr, ExprCall, ExprLit, Ident, Lit, parse_quote_spanned,
    spanned::Spanned,
    visit::{self, Visit},
    visit_mut::{self, VisitMut},
};

/// The owner of a block of arms: one tool, or an agent with its tools.
#[derive(Clone, Copy)]
pub(crate) enum Of<'a> {
    /// Single tool. Its arms see the injected values of these names.
    Tool(&'a [Ident]),
    /// An agent: the arms are for all of its tools, or for some of them by name. The types of their errors are not
    /// known.
    Tools,
}

/// Checks each arm of one block by itself, and stores the corrected arms in the block's field `meant`.
pub(crate) fn arms_as_written(block: &mut Arms, of: Of<'_>, errors: &Errors) {
    if let Some(tool) = &mut block.tool {
        suggest::tool_type(tool, errors);
    }
    let meant = block.arms.iter().filter_map(|arm| meant(arm, of, errors));
    block.meant = meant.collect();
}

/// Returns an arm with its mistakes corrected; `None` if its kind is unknown, its patterns do not fit, or a mistake
/// cannot be corrected.
fn meant(written: &Arm, of: Of<'_>, errors: &Errors) -> Option<Arm> {
    let kind = suggest::kind(&written.kind)?;
    if !written.fits(kind.takes) {
        return None;
    }
    let is_execution = kind.name == "execution_error";
    let written = match of {
        Of::Tools if is_execution => any_error::mend(written, errors)?,
        _ => Cow::Borrowed(written),
    };
    let mut arm = written.clone().into_owned();
    arm.kind = Ident::new(kind.name, arm.kind.span());
    let mut verbs = Verbs {
        inner: 0,
        bound: bound::names(&written),
        injected: match of {
            Of::Tool(injected) => injected,
            Of::Tools => &[],
        },
        waits: false,
        errors,
    };
    verbs::keep_decision(&mut arm.body, errors);
    verbs::say_what_text_is(&mut arm.body, false, errors);
    verbs.visit_expr_mut(&mut arm.body);
    if verbs.waits {
        // What it binds counts as used: that it waits is one mistake.
        let bound = bound::in_patterns(&written);
        let variant = Ident::new(kind.variant, arm.kind.span());
        arm.body = parse_quote_spanned! {variant.span()=> {
            let _ = (#(&#bound,)*);
            __rt::None::<__rt::Decision<__rt::kinds::#variant>>
        }};
    }
    if let Some((_, guard)) = &mut arm.guard {
        verbs.visit_expr_mut(guard);
    }
    if is_execution {
        failure::mend(&written, &mut arm.patterns, errors);
    }
    Some(arm)
}

/// Checks the verbs of an arm, such as `retry(..)`, and their arguments. Each expression is corrected first, where the
/// meaning is clear.
struct Verbs<'a> {
    /// The number of closures, async blocks and functions around the current expression: an `.await` within one of them
    /// belongs to it.
    inner: usize,
    /// The names that the arm binds, which a repair agent named in the arm must not use.
    bound: Vec<Ident>,
    injected: &'a [Ident],
    /// Is `true` if the arm contains an `.await`, which is a mistake.
    waits: bool,
    errors: &'a Errors,
}

impl VisitMut for Verbs<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        verbs::mend(expr, self.errors);
        let is_inner = matches!(expr, Expr::Closure(_) | Expr::Async(_));
        self.inner += usize::from(is_inner);
        visit_mut::visit_expr_mut(self, expr);
        self.inner -= usize::from(is_inner);
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Await(wait) if self.inner == 0 => {
                self.waits = true;
                self.errors.at(wait.await_token, messages::WAITING_ARM);
            }
            _ => {}
        }
    }

    fn visit_macro_mut(&mut self, called: &mut syn::Macro) {
        handed_to(called, |expr| self.visit_expr_mut(expr));
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        self.inner += 1;
        visit_mut::visit_item_fn_mut(self, item);
        self.inner -= 1;
    }
}

impl Verbs<'_> {
    /// Checks the call of a verb, `verb(a, key = v)`, and leaves out arguments that it reports.
    fn call(&self, call: &mut ExprCall) {
        if let Some(known) = verbs::named(call, self.errors) {
            let at = call.func.span();
            arguments(call, known, self.errors, |key, argument| match key {
                "agent" => self.fixer(argument, at),
                _ => argument,
            });
        }
    }

    /// Checks the repair agent in `agent = JsonFixer`. A stored run looks for the agent outside of the arms, so it must
    /// not use names that the arm binds.
    fn fixer(&self, argument: Expr, at: Span) -> Expr {
        let Ok((_, agent)) = pair(argument.clone()) else {
            return argument;
        };
        if let Some(name) = bound::mention(&agent, &self.bound) {
            self.errors.at(&name, messages::bound_in_arm(&name));
        } else if let Some(name) = function(&agent).filter(|name| !self.injected.contains(name)) {
            let message = messages::function_for_agent(name, &type_name(name));
            self.errors.at(&agent, message);
            return parse_quote_spanned!(at=> __rt::None);
        }
        argument
    }
}

/// Checks an `on_error!` that stands alone, and so has to name the type of a tool.
pub(crate) fn on_error_alone(block: &Arms, errors: &Errors) {
    if let Some(name) = &block.named {
        errors.at(name, messages::named_in_an_agent());
    } else if block.tool.is_none() {
        errors.at(&block.keyword, messages::arms_need_a_tool());
    }
    on_error(block, true, errors);
}

/// Checks one block of arms. Arms for one tool, or for tools by name, answer failures of calls. Those of an agent or of
/// a skill answer failures of the final answer, too.
pub(crate) fn on_error(block: &Arms, is_for_tool: bool, errors: &Errors) {
    for arm in &block.arms {
        let Some(kind) = kind(arm, is_for_tool, errors) else {
            continue;
        };
        patterns(arm, kind, errors);
        Steps(errors).visit_expr(&arm.body);
    }
}

/// Checks that the kind of failure of an arm, such as `invalid_args(..)`, is known and can happen here.
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

/// Returns the message about an unknown kind of failure. It names the kind that was meant, or all that can happen here.
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

/// Checks that an arm has as many patterns as its kind of failure has values: `invalid_args(raw, error)`.
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

/// Reports steps of a decision that can never be taken. The types do not show these.
struct Steps<'e>(&'e Errors);

impl Steps<'_> {
    /// Reports a count that makes its verb useless, such as a `retry` of one attempt.
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
    /// Checks the steps of a chain of verbs: `escalate("no").or(..)`, `fix(tidy(raw)?).or(..)`.
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

    /// Checks the counts of verbs: `retry(max_attempts = 1)`, `fix(agent = JsonFixer, retries = 0)`.
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        let key = assign.left.to_token_stream().to_string();
        self.count(&key, &assign.right, assign);
        visit::visit_expr_assign(self, assign);
    }
}

/// Reports each `?` in a step before `.or(..)`: it would return from the `on_error!` before the next step of the
/// decision is tried.
struct Questions<'e>(&'e Errors);

impl<'ast> Visit<'ast> for Questions<'_> {
    fn visit_expr_try(&mut self, question: &'ast syn::ExprTry) {
        self.0
            .at(question.question_token, messages::QUESTION_BEFORE_OR);
        visit::visit_expr_try(self, question);
    }

    /// Skips the receiver of another `.or(..)`, since the visitor comes to it on its own.
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

/// Returns the last verb of a chain. The step after the chain is taken only if that verb does not settle the failure.
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
