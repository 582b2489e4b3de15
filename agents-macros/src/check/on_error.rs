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
    walk::{self, Look, Part},
};
use proc_macro2::Span;
use quote::ToTokens;
use std::borrow::Cow;
use syn::{Expr, ExprCall, ExprLit, Ident, Item, Lit, parse_quote_spanned, spanned::Spanned};

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
    walk::rewrite(&mut arm.body, &mut verbs);
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
        walk::rewrite(guard, &mut verbs);
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

impl Look for Verbs<'_> {
    fn enter(&mut self, part: Part<'_>) -> bool {
        match part {
            Part::Expr(expr) => {
                verbs::mend(expr, self.errors);
                self.inner += usize::from(matches!(expr, Expr::Closure(_) | Expr::Async(_)));
            }
            Part::Item(Item::Fn(_)) => self.inner += 1,
            Part::Macro(called) => {
                handed_to(called, self);
                return false;
            }
            _ => {}
        }
        true
    }

    fn leave(&mut self, part: Part<'_>) {
        match part {
            Part::Expr(Expr::Closure(_) | Expr::Async(_)) | Part::Item(Item::Fn(_)) => {
                self.inner -= 1;
            }
            Part::Expr(Expr::Call(call)) => self.call(call),
            Part::Expr(Expr::Await(wait)) if self.inner == 0 => {
                self.waits = true;
                self.errors.at(wait.await_token, messages::WAITING_ARM);
            }
            _ => {}
        }
    }
}

impl Verbs<'_> {
    /// Checks the call of a verb, `verb(a, key = v)`, and leaves out arguments that it reports.
    fn call(&self, call: &mut ExprCall) {
        if let Some(known) = verbs::named(call, self.errors) {
            let at = call.func.span();
            arguments(call, known, self.errors, &|key, argument| match key {
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
        steps(&arm.body, errors);
    }
}

/// Checks that the kind of failure of an arm, such as `invalid_args(..)`, is known and can happen here.
fn kind(arm: &Arm, is_for_tool: bool, errors: &Errors) -> Option<&'static Kind> {
    let Some(kind) = keys::kind(&arm.kind) else {
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
    let all = keys::kinds();
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
fn steps(body: &Expr, errors: &Errors) {
    walk::read_expr(body, &mut |part| {
        match part {
            // A chain of verbs: `escalate("no").or(..)`, `fix(tidy(raw)?).or(..)`.
            Part::Expr(Expr::MethodCall(call)) => {
                if call.method == "or" {
                    questions(&call.receiver, errors);
                    if let Some(verb @ ("escalate" | "throw" | "feedback")) =
                        verb(&call.receiver).as_deref()
                    {
                        errors.at(&call.method, messages::never_falls_through(verb));
                    }
                }
                if let Some(value) = call.args.first() {
                    count(&call.method.to_string(), value, value, errors);
                }
            }
            // The count of a verb: `retry(max_attempts = 1)`, `fix(agent = JsonFixer, retries = 0)`.
            Part::Expr(Expr::Assign(assign)) => {
                let key = assign.left.to_token_stream().to_string();
                count(&key, &assign.right, assign, errors);
            }
            _ => {}
        }
        true
    });
}

/// Reports a count that makes its verb useless, such as a `retry` of one attempt.
fn count(key: &str, value: &Expr, at: &dyn ToTokens, errors: &Errors) {
    let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = value
    else {
        return;
    };
    match (key, number.base10_parse::<u64>()) {
        ("max_attempts", Ok(number @ (0 | 1))) => errors.at(at, messages::never_retries(number)),
        ("retries", Ok(0)) => errors.at(at, messages::never_asks()),
        _ => {}
    }
}

/// Reports each `?` in a step before `.or(..)`: it would return from the `on_error!` before the next step of the
/// decision is tried.
fn questions(step: &Expr, errors: &Errors) {
    walk::read_expr(step, &mut |part| match part {
        Part::Expr(Expr::Try(question)) => {
            errors.at(question.question_token, messages::QUESTION_BEFORE_OR);
            true
        }
        // The receiver of another `.or(..)` is a step of its own.
        Part::Expr(Expr::MethodCall(call)) if call.method == "or" => {
            call.args.iter().for_each(|step| questions(step, errors));
            false
        }
        // A `?` in there leaves only that.
        Part::Expr(Expr::Closure(_) | Expr::Async(_)) | Part::Item(Item::Fn(_)) => false,
        _ => true,
    });
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
