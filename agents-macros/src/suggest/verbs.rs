//! Slips with verbs: typical mistakes of beginners.

use super::values;
use crate::{
    diag::Errors,
    keys::{self, Verb, is_verb},
    messages,
    names::{is_one_of, plain},
    suggest::{self, nearest},
    syntax::pair,
};
use syn::{
    BinOp, Block, Expr, ExprAssign, ExprCall, ExprLit, ExprMethodCall, ExprStruct, Ident, Lit,
    Member, Stmt, Token, parse_quote, parse_quote_spanned,
    punctuated::Punctuated,
    spanned::Spanned,
    token::{self, Paren},
};

/// Corrects one expression in an arm of `on_error!` where the meaning is clear: the expression itself, and the
/// arguments of a verb or of a method of a verb. Deeper expressions stay: the caller visits each of them.
pub(crate) fn mend(expr: &mut Expr, errors: &Errors) {
    match expr {
        Expr::Struct(literal) => {
            if let Some(call) = called(literal, errors) {
                *expr = Expr::Call(call);
            }
        }
        Expr::Binary(both) if matches!(both.op, BinOp::Or(_)) && is_decision(&both.left) => {
            errors.at(both.op, messages::joined_with_or("||"));
            let BinOp::Or(or) = both.op else { return };
            *expr = Expr::MethodCall(ExprMethodCall {
                attrs: Vec::new(),
                receiver: both.left.clone(),
                dot_token: Token![.](or.spans[0]),
                method: Ident::new("or", or.spans[0]),
                turbofish: None,
                paren_token: Paren(or.spans[1]),
                args: Punctuated::from_iter([(*both.right).clone()]),
            });
        }
        Expr::MethodCall(call) if is_or(&call.method) && is_decision(&call.receiver) => {
            errors.at(
                &call.method,
                messages::joined_with_or(format!(".{}(..)", call.method)),
            );
            call.method = Ident::new("or", call.method.span());
        }
        Expr::MethodCall(call) if is_decision(&call.receiver) => {
            match (call.method.to_string().as_str(), call.args.first_mut()) {
                ("severity", Some(value)) => values::severity(value, errors),
                ("backoff", Some(value)) => values::backoff(value, errors),
                _ => {}
            }
        }
        Expr::Call(call) => {
            if let Some(verb) = verb(&call.func) {
                arguments(call, verb, errors);
            } else if let Some(value) = values::exponential(call, errors) {
                *expr = value;
            }
        }
        _ => {}
    }
}

/// Corrects a semicolon behind a decision, `{ feedback("later"); }`: the decision is the value of the arm.
pub(crate) fn keep_decision(body: &mut Expr, errors: &Errors) {
    if let Expr::Block(block) = body
        && let Some(Stmt::Expr(last, semi)) = block.block.stmts.last_mut()
        && is_decision(last)
        && let Some(semi) = semi.take()
    {
        errors.at(semi, messages::decision_dropped());
    }
}

/// Corrects text in the place of a decision: `match why { .. => "file not found" }`. If all values are text, their type
/// says what is wrong. Among decisions, rustc would report the decisions instead.
pub(crate) fn say_what_text_is(value: &mut Expr, is_among_others: bool, errors: &Errors) {
    let last_of = |block: &mut Block, is_among_others| {
        if let Some(Stmt::Expr(last, None)) = block.stmts.last_mut() {
            say_what_text_is(last, is_among_others, errors);
        }
    };
    match value {
        Expr::Match(choice) => {
            for arm in &mut choice.arms {
                say_what_text_is(&mut arm.body, true, errors);
            }
        }
        Expr::If(choice) => {
            last_of(&mut choice.then_branch, true);
            if let Some((_, otherwise)) = &mut choice.else_branch {
                say_what_text_is(otherwise, true, errors);
            }
        }
        Expr::Block(block) => last_of(&mut block.block, is_among_others),
        Expr::Paren(inner) => say_what_text_is(&mut inner.expr, is_among_others, errors),
        text if is_among_others && is_text(text) => {
            errors.at(&*text, messages::text_for_decision());
            *text = parse_quote_spanned!(text.span()=> feedback(#text));
        }
        _ => {}
    }
}

/// Tells whether an expression is text: `"file not found"`, `format!(..)`.
fn is_text(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Str(_)),
        Expr::Macro(called) => called.mac.path.is_ident("format"),
        _ => false,
    }
}

/// Corrects braces: `retry { max_attempts: 3 }` becomes `retry(max_attempts = 3)`.
fn called(literal: &ExprStruct, errors: &Errors) -> Option<ExprCall> {
    let name = literal.path.get_ident().filter(|name| is_verb(name))?;
    errors.at(name, messages::verb_with_braces(name));
    let argument = |field: &syn::FieldValue| {
        let Member::Named(key) = &field.member else {
            return field.expr.clone();
        };
        assigned(key, field.expr.clone(), key.span())
    };
    Some(ExprCall {
        attrs: Vec::new(),
        func: Box::new(parse_quote!(#name)),
        paren_token: token::Paren(literal.brace_token.span),
        args: literal.fields.iter().map(argument).collect(),
    })
}

/// Corrects the arguments of a verb: `max_attempts == 3`, `agent = "JsonFixer"`, `severity = "Low"`, `backoff = 100`. A
/// `fix` without anything to fix with is reported as well.
fn arguments(call: &mut ExprCall, verb: &Verb, errors: &Errors) {
    for argument in &mut call.args {
        if let Expr::Binary(both) = argument
            && let (BinOp::Eq(equals), Expr::Path(left)) = (both.op, &*both.left)
            && let Some(key) = left.path.get_ident()
            && is_one_of(key, verb.keys)
        {
            errors.at(equals, messages::colon_for_equals(key));
            *argument = assigned(key, (*both.right).clone(), equals.spans[0]);
        }
        if let Expr::Assign(set) = argument
            && let Expr::Path(key) = &*set.left
            && let Some(key) = key.path.get_ident()
            && is_one_of(key, verb.keys)
        {
            match (key.to_string().as_str(), &*set.right) {
                (
                    "agent",
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(name),
                        ..
                    }),
                ) => {
                    errors.at(name, messages::agent_in_quotes(&name.value()));
                    *argument = parse_quote_spanned!(name.span()=> __rt::None);
                }
                ("severity", _) => values::severity(&mut set.right, errors),
                ("backoff", _) => values::backoff(&mut set.right, errors),
                _ => {}
            }
        } else if verb.name == "sanitize" {
            values::no_value(argument, errors);
        }
    }
    let is_told = |argument: &Expr| match argument {
        Expr::Assign(set) => matches!(&*set.left, Expr::Path(key) if key.path.is_ident("agent")),
        _ => true,
    };
    if verb.name == "fix" && !call.args.is_empty() && !call.args.iter().any(is_told) {
        errors.at(&call.func, messages::fix_with_nothing());
        call.args.push(parse_quote!(__rt::None));
    }
}

/// Returns the expression `key = value`, with its equals sign at the place `at`.
fn assigned(key: &Ident, value: Expr, at: proc_macro2::Span) -> Expr {
    Expr::Assign(ExprAssign {
        attrs: Vec::new(),
        left: Box::new(parse_quote!(#key)),
        eq_token: Token![=](at),
        right: Box::new(value),
    })
}

/// Tells whether an expression is a verb, with or without methods behind it.
fn is_decision(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => is_decision(&inner.expr),
        Expr::MethodCall(call) => is_decision(&call.receiver),
        Expr::Call(call) => verb(&call.func).is_some(),
        _ => false,
    }
}

fn verb(function: &Expr) -> Option<&'static Verb> {
    let Expr::Path(path) = function else {
        return None;
    };
    let name = path.path.get_ident()?;
    keys::named(name, keys::VERBS)
}

/// Tells whether a method is the name that other libraries have for `or`.
fn is_or(method: &Ident) -> bool {
    is_one_of(method, &["or_else", "otherwise", "then", "and_then"])
}

/// Returns the verb that is called; `None` if something else is called. A misspelt verb is reported, and corrected.
pub(crate) fn named(call: &mut ExprCall, errors: &Errors) -> Option<&'static Verb> {
    let Expr::Path(path) = &mut *call.func else {
        return None;
    };
    let name = path.path.get_ident()?.clone();
    if let Some(known) = keys::named(&name, keys::VERBS) {
        return Some(known);
    }
    // Any function may be called here, but only a verb has keys.
    let meant = misspelt(&name, &call.args)?;
    errors.at(&name, suggest::unknown("verb", &name, &keys::verbs()));
    path.path = Ident::new(meant.name, name.span()).into();
    Some(meant)
}

/// Returns the verb that was meant by `retyr(max_attempts = 3)`, or by `ask(agent = JsonFixer)`.
fn misspelt(name: &Ident, arguments: &Punctuated<Expr, Token![,]>) -> Option<&'static Verb> {
    let has_key_of = |verb: &&Verb| {
        let is_key = |argument: &Expr| {
            pair(argument.clone()).is_ok_and(|(key, _)| is_one_of(&key, verb.keys))
        };
        arguments.iter().any(is_key)
    };
    let meant = nearest(&plain(name), &keys::verbs());
    let mut verbs = keys::VERBS.iter().filter(has_key_of);
    let first = verbs.clone().next();
    verbs.find(|verb| meant == Some(verb.name)).or(first)
}
