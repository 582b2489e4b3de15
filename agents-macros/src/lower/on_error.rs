//! Arms as they are written to arms as rustc reads them.
//!
//! ```text
//! retry(max_attempts = 3)              retry().max_attempts(3)
//! fix(agent = JsonFixer, retries = 2)  fix_with(JsonFixer).retries(2)
//! execution_error(Returned(e))         __rt::CallError::Execution(__rt::Failure::Returned(e))
//! return escalate("no")                return __rt::IntoDecision::<__rt::kinds::Execution>::into_plan(escalate("no"))
//! ```
//!
//! Calls are rewritten in place, with the user's own tokens: what is wrong with them is underlined
//! there.

use super::cfgs;
use crate::{
    ast::{self, bound},
    diag::Errors,
    keys::{self, Verb},
    messages,
    model::{Arm, Arms, Under},
    names::{plain, type_name},
    paths::end,
    suggest::{
        self, any_error,
        failure::{self, Returned},
        nearest, verbs,
    },
    syntax::{function, handed_to, pair, written},
};
use proc_macro2::Span;
use std::borrow::Cow;
use syn::{
    Attribute, Expr, ExprCall, ExprMethodCall, Ident, Token, parse_quote_spanned,
    punctuated::Punctuated,
    token,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

/// Whose failures arms are for.
#[derive(Clone, Copy)]
pub(crate) enum Of<'a> {
    /// Those of one tool: they are of its own type, and the arms see the values of these names besides their own.
    Tool(&'a [Ident]),
    /// Those of all tools that an agent has, or of some by their names.
    Tools,
}

/// What the user meant by one `on_error`.
pub(crate) fn on_error(mut written: ast::Arms, of: Of<'_>, errors: &Errors) -> Arms {
    let injected = match of {
        Of::Tool(injected) => injected,
        Of::Tools => &[],
    };
    written
        .attrs
        .retain(|attribute| !attribute.path().is_ident("doc"));
    if let Some(tool) = &mut written.tool {
        by_type(tool, errors);
    }
    let mut arms = Vec::new();
    let (mut reruns, mut returned, mut fixers) = (Vec::new(), Vec::new(), Vec::new());
    for arm in &written.arms {
        let Some(kind) = meant(&arm.kind) else {
            continue;
        };
        if !arm.fits(kind.takes) {
            continue;
        }
        let of_any = kind.name == "execution_error" && matches!(of, Of::Tools);
        let arm = match of_any {
            true => any_error::mend(arm, errors),
            false => Some(Cow::Borrowed(arm)),
        };
        let Some(arm) = arm.as_deref() else { continue };
        let variant = Ident::new(kind.variant, arm.kind.span());
        let mut sugar = Sugar {
            variant: &variant,
            inner: 0,
            bound: bound::names(arm),
            injected,
            is_cut_off: kind.name == "execution_error"
                && arm.patterns.first().is_some_and(failure::is_cut_off),
            reruns: Vec::new(),
            fixers: Vec::new(),
            waits: false,
            errors,
        };
        let mut body = arm.body.clone();
        verbs::keep_decision(&mut body, errors);
        verbs::say_what_text_is(&mut body, false, errors);
        sugar.visit_expr_mut(&mut body);
        if sugar.waits {
            // What it binds counts as used: that it waits is one mistake.
            let bound = bound::in_patterns(arm);
            body = parse_quote_spanned! {variant.span()=> {
                let _ = (#(&#bound,)*);
                __rt::None::<__rt::Decision<__rt::kinds::#variant>>
            }};
        }
        let guard = arm.guard.as_ref().map(|(_, guard)| {
            let mut guard = guard.clone();
            sugar.visit_expr_mut(&mut guard);
            guard
        });
        let cfgs = cfgs(&arm.attrs);
        reruns.extend(under(&cfgs, sugar.reruns));
        fixers.extend(under(&cfgs, sugar.fixers));
        let mut patterns = arm.patterns.clone();
        if kind.name == "execution_error" {
            let mut waited = Returned(Vec::new());
            patterns
                .iter()
                .for_each(|pattern| waited.visit_pat(pattern));
            returned.extend(under(&cfgs, waited.0));
            failure::mend(arm, &mut patterns, errors);
            patterns
                .iter_mut()
                .for_each(|pattern| failure::qualify(pattern, errors));
        }
        arms.push(Arm {
            attrs: arm.attrs.clone(),
            variant,
            patterns,
            guard,
            body,
        });
    }
    let tool = written.tool.clone();
    Arms {
        written,
        tool,
        arms,
        reruns,
        returned,
        fixers,
    }
}

/// `read_file` is reported, and read as the type that was meant.
pub(super) fn by_type(tool: &mut syn::Path, errors: &Errors) {
    if let Some(last) = tool.segments.last_mut()
        && plain(&last.ident).starts_with(char::is_lowercase)
    {
        errors.at(
            &last.ident,
            messages::function_for_tool(&last.ident, &type_name(&last.ident)),
        );
        last.ident = type_name(&last.ident);
    }
}

/// What stands in an arm is there if the arm is.
fn under<T>(cfgs: &[Attribute], all: Vec<T>) -> impl Iterator<Item = Under<T>> {
    all.into_iter().map(|it| Under {
        cfgs: cfgs.to_vec(),
        it,
    })
}

/// The kind of this name, or the one that it is a misspelling of: that has been said, and what else is
/// wrong with the arm is said as well.
fn meant(name: &Ident) -> Option<&'static keys::Kind> {
    let names: Vec<&str> = keys::KINDS.iter().map(|kind| kind.name).collect();
    let meant = nearest(&plain(name), &names)?;
    keys::KINDS.iter().find(|kind| kind.name == meant)
}

struct Sugar<'a> {
    variant: &'a Ident,
    /// How many closures, async blocks and functions stand around: a `return` in there is theirs.
    inner: usize,
    /// What the arm binds: nothing outside of it can name that.
    bound: Vec<Ident>,
    injected: &'a [Ident],
    /// Whether the arm is of executions alone that may have taken effect.
    is_cut_off: bool,
    reruns: Vec<Ident>,
    fixers: Vec<Expr>,
    /// Whether the arm waits for something, which it cannot.
    waits: bool,
    errors: &'a Errors,
}

impl VisitMut for Sugar<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        verbs::mend(expr, self.errors);
        let is_inner = matches!(expr, Expr::Closure(_) | Expr::Async(_));
        self.inner += usize::from(is_inner);
        visit_mut::visit_expr_mut(self, expr);
        self.inner -= usize::from(is_inner);
        match expr {
            Expr::Return(out) if self.inner == 0 => {
                let (variant, span) = (self.variant, out.return_token.span);
                let value = out.expr.take();
                out.expr = value.map(|value| {
                    let end = end(&value);
                    let into_plan = parse_quote_spanned!(span=> __rt::IntoDecision::<__rt::kinds::#variant>::into_plan);
                    Box::new(Expr::Call(ExprCall {
                        attrs: Vec::new(),
                        func: Box::new(into_plan),
                        paren_token: token::Paren(end),
                        args: Punctuated::from_iter([*value]),
                    }))
                });
            }
            Expr::Call(_) => self.call(expr),
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

impl Sugar<'_> {
    /// `agent = JsonFixer`: a run that was stored looks for the agent outside of the arms, so it has
    /// to be there, too. `None` if there cannot be an agent of this name.
    fn fixer(&mut self, agent: Expr) -> Option<Expr> {
        if let Some(name) = bound::mention(&agent, &self.bound) {
            self.errors.at(&name, messages::bound_in_arm(&name));
            return Some(agent);
        }
        if let Some(function) = function(&agent).filter(|name| !self.injected.contains(name)) {
            self.errors.at(
                &agent,
                messages::function_for_agent(function, &type_name(function)),
            );
            return None;
        }
        self.fixers.push(agent.clone());
        Some(agent)
    }

    /// `verb(a, key = v)` to `verb(a).key(v)`
    fn call(&mut self, expr: &mut Expr) {
        let Expr::Call(call) = expr else { return };
        let Expr::Path(path) = &mut *call.func else {
            return;
        };
        let Some(mut verb) = path.path.get_ident().cloned() else {
            return;
        };
        let known = match keys::VERBS.iter().find(|known| verb == known.name) {
            Some(known) => known,
            // Any function may be called here, but only a verb has keys.
            None => {
                let Some(meant) = misspelt(&verb, &call.args) else {
                    return;
                };
                let names: Vec<&str> = keys::VERBS.iter().map(|verb| verb.name).collect();
                self.errors
                    .at(&verb, suggest::unknown("verb", &verb, &names));
                verb = Ident::new(meant.name, verb.span());
                path.path = verb.clone().into();
                meant
            }
        };
        // Elsewhere it is the wrong verb, whatever the tool does.
        let reruns = match self.variant == "Execution" {
            true => verb == "retry" || (self.is_cut_off && (verb == "fix" || verb == "fix_with")),
            false => false,
        };
        if reruns {
            self.reruns.push(verb.clone());
        }
        let mut plain = Punctuated::new();
        let mut modifiers = Vec::new();
        for argument in std::mem::take(&mut call.args) {
            match pair(argument) {
                Err(argument) if plain.len() == known.plain => {
                    let written = written(&argument);
                    self.errors.at(
                        &argument,
                        messages::value_too_many(known.name, known.plain, known.next, &written),
                    );
                }
                Err(argument) => plain.push(*argument),
                Ok((key, agent)) if key == "agent" && verb == "fix" => {
                    if let Some(agent) = self.fixer(agent) {
                        path.path = Ident::new("fix_with", verb.span()).into();
                        plain.push(agent);
                    } else {
                        plain.push(parse_quote_spanned!(verb.span()=> __rt::None));
                    }
                }
                Ok((key, value)) if known.keys.iter().any(|name| key == name) => {
                    modifiers.push((key, value))
                }
                Ok((key, _)) => self
                    .errors
                    .at(&key, suggest::unknown_modifier(&verb, &key, known.keys)),
            }
        }
        call.args = plain;
        let end = call.paren_token.span.close();
        with_modifiers(expr, modifiers, end);
    }
}

/// The verb that was meant by `retyr(max_attempts = 3)`, or by `ask(agent = JsonFixer)`.
fn misspelt(name: &Ident, arguments: &Punctuated<Expr, Token![,]>) -> Option<&'static Verb> {
    let has_key_of = |verb: &&Verb| {
        let is_key = |argument: &Expr| {
            pair(argument.clone()).is_ok_and(|(key, _)| verb.keys.iter().any(|name| key == name))
        };
        arguments.iter().any(is_key)
    };
    let names: Vec<&str> = keys::VERBS.iter().map(|verb| verb.name).collect();
    let meant = nearest(&plain(name), &names);
    let mut verbs = keys::VERBS.iter().filter(has_key_of);
    let first = verbs.clone().next();
    verbs.find(|verb| meant == Some(verb.name)).or(first)
}

/// `verb(a)` to `verb(a).key(v)`, which ends where the user's call does: what rustc proposes to write behind
/// an arm is put there.
pub(super) fn with_modifiers(verb: &mut Expr, modifiers: Vec<(Ident, Expr)>, end: Span) {
    for (method, value) in modifiers {
        let receiver = std::mem::replace(verb, Expr::PLACEHOLDER);
        *verb = Expr::MethodCall(ExprMethodCall {
            attrs: Vec::new(),
            receiver: Box::new(receiver),
            dot_token: Token![.](method.span()),
            method,
            turbofish: None,
            paren_token: token::Paren(end),
            args: Punctuated::from_iter([value]),
        });
    }
}
