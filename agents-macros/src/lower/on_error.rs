//! Lowers the arms of `on_error`.
//!
//! ```text
//! retry(max_attempts = 3)              retry().max_attempts(3)
//! fix(agent = JsonFixer, retries = 2)  fix_with(JsonFixer).retries(2)
//! execution_error(Returned(e))         __rt::CallError::Execution(__rt::Failure::Returned(e))
//! return escalate("no")                return __rt::IntoDecision::<__rt::kinds::Execution>::into_plan(escalate("no"))
//! ```
//!
//! Calls are rewritten in place, with the user's own tokens: rustc underlines mistakes there.

use super::{cfgs, drop_docs, handed_out};
use crate::{
    ast::{self, bound, failure},
    keys,
    model::{Arm, Arms, Under},
    paths::qualified,
    syntax::{handed_to, is_capitalised, pair},
    walk::{self, Look, Part},
};
use proc_macro2::Span;
use syn::{
    Attribute, Expr, ExprMethodCall, Ident, Item, Pat, Token, parse_quote, parse_quote_spanned,
    punctuated::Punctuated, token,
};

/// Turns the arms of one `on_error` into the model from which code is printed, with plain Rust in place of the macro's
/// notation.
pub(crate) fn on_error(mut written: ast::Arms) -> Arms {
    drop_docs(&mut written.attrs);
    let mut arms = Vec::new();
    let (mut reruns, mut returned, mut fixers) = (Vec::new(), Vec::new(), Vec::new());
    for meant in std::mem::take(&mut written.meant) {
        let Some(kind) = keys::kind(&meant.kind) else {
            continue;
        };
        let is_execution = kind.name == "execution_error";
        let variant = Ident::new(kind.variant, meant.kind.span());
        let mut sugar = Sugar {
            variant: &variant,
            inner: 0,
            bound: bound::names(&meant),
            is_cut_off: is_execution && meant.patterns.first().is_some_and(failure::is_cut_off),
            reruns: Vec::new(),
            fixers: Vec::new(),
        };
        let ast::Arm {
            attrs,
            kind: _,
            mut patterns,
            guard,
            mut body,
        } = meant;
        walk::rewrite(&mut body, &mut sugar);
        let guard = guard.map(|(_, mut guard)| {
            walk::rewrite(&mut guard, &mut sugar);
            guard
        });
        let cfgs = cfgs(&attrs);
        reruns.extend(under(&cfgs, sugar.reruns));
        fixers.extend(under(&cfgs, sugar.fixers));
        if is_execution {
            let mut waited = Vec::new();
            for pattern in &mut patterns {
                failure::returned(pattern, &mut waited);
                qualify(pattern);
            }
            returned.extend(under(&cfgs, waited));
        }
        arms.push(Arm {
            attrs,
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

/// Qualifies a bare capitalised name as a variant of `Failure`, so that a typo is an error and no binding.
///
/// `Failure` counts as generated code, so no lint asks the user to leave the prefix out.
fn qualify(pattern: &mut Pat) {
    match pattern {
        Pat::TupleStruct(variant) => {
            if let Some(name) = variant.path.get_ident().filter(|name| is_capitalised(name)) {
                let path = qualified("Failure", name);
                variant.path = parse_quote!(#path);
            }
        }
        Pat::Ident(binding) if binding.subpat.is_none() && is_capitalised(&binding.ident) => {
            let path = qualified("Failure", &binding.ident);
            *pattern = parse_quote!(#path);
        }
        Pat::Ident(binding) => {
            if let Some((_, inner)) = &mut binding.subpat {
                qualify(inner);
            }
        }
        Pat::Or(either) => either.cases.iter_mut().for_each(qualify),
        Pat::Paren(inner) => qualify(&mut inner.pat),
        _ => {}
    }
}

/// Attaches the `#[cfg]` attributes of an arm to each thing that was found in the arm.
fn under<T>(cfgs: &[Attribute], all: Vec<T>) -> Vec<Under<T>> {
    let mut found = Vec::new();
    for it in all {
        let cfgs = cfgs.to_vec();
        found.push(Under { cfgs, it });
    }
    found
}

struct Sugar<'a> {
    variant: &'a Ident,
    /// The number of closures, async blocks and functions around the current expression: a `return` within one of them
    /// belongs to it.
    inner: usize,
    /// The names that the arm binds, which a repair agent named in the arm must not use.
    bound: Vec<Ident>,
    /// Is `true` if the arm is only for timeouts and panics, after which the tool may have taken effect.
    is_cut_off: bool,
    reruns: Vec<Ident>,
    fixers: Vec<Expr>,
}

impl Look for Sugar<'_> {
    fn enter(&mut self, part: Part<'_>) -> bool {
        match part {
            Part::Expr(Expr::Closure(_) | Expr::Async(_)) | Part::Item(Item::Fn(_)) => {
                self.inner += 1;
            }
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
            Part::Expr(Expr::Return(out)) if self.inner == 0 => {
                let (variant, span) = (self.variant, out.return_token.span);
                let into_plan = parse_quote_spanned!(span=> __rt::IntoDecision::<__rt::kinds::#variant>::into_plan);
                handed_out(out, into_plan);
            }
            Part::Expr(expr @ Expr::Call(_)) => self.call(expr),
            _ => {}
        }
    }
}

impl Sugar<'_> {
    /// Rewrites the call of a verb from `verb(a, key = v)` to `verb(a).key(v)`.
    fn call(&mut self, expr: &mut Expr) {
        let Expr::Call(call) = expr else { return };
        let Expr::Path(path) = &mut *call.func else {
            return;
        };
        let Some(verb) = path.path.get_ident().cloned() else {
            return;
        };
        if keys::named(&verb, keys::VERBS).is_none() {
            return;
        }
        // Elsewhere it is the wrong verb, whatever the tool does.
        let reruns = match self.variant == "Execution" {
            true => verb == "retry" || (self.is_cut_off && (verb == "fix" || verb == "fix_with")),
            false => false,
        };
        if reruns {
            self.reruns.push(verb.clone());
        }
        let (mut values, mut modifiers) = (Punctuated::new(), Vec::new());
        for argument in std::mem::take(&mut call.args) {
            match pair(argument) {
                Err(value) => values.push(*value),
                Ok((key, agent)) if key == "agent" && verb == "fix" => {
                    // A stored run looks for the agent outside of the arms.
                    if bound::mention(&agent, &self.bound).is_none() {
                        self.fixers.push(agent.clone());
                    }
                    path.path = Ident::new("fix_with", verb.span()).into();
                    values.push(agent);
                }
                Ok(modifier) => modifiers.push(modifier),
            }
        }
        call.args = values;
        let end = call.paren_token.span.close();
        with_modifiers(expr, modifiers, end);
    }
}

/// Appends `.key(value)` calls to a verb. The result ends where the user's call does: rustc proposes new arms behind
/// that place.
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
