//! Slips in the pattern of an `execution_error`.

use super::nearest;
use crate::{
    ast::{Arm, bound},
    diag::Errors,
    messages,
    names::is_one_of,
    paths::qualified,
    syntax::{is_capitalised, written},
    walk::{self, Part},
};
use proc_macro2::Span;
use quote::ToTokens;
use syn::{
    Expr, Ident, Pat, PatTupleStruct, Path, Token, parse_quote, punctuated::Punctuated,
    spanned::Spanned, token::Paren,
};

const VARIANTS: [&str; 3] = ["Returned", "TimedOut", "Panicked"];

/// Corrects the pattern of an `execution_error`, and reports the mistake:
///
/// ```text
/// execution_error(why) => match why { Lost::Far => .. }    execution_error(Returned(why)) => ..
/// execution_error(Lost::Far)                               execution_error(Returned(Lost::Far))
/// execution_error(Err(e))                                  execution_error(Returned(e))
/// execution_error(TimedOut)                                execution_error(TimedOut(..))
/// ```
pub(crate) fn mend(arm: &Arm, patterns: &mut Punctuated<Pat, Token![,]>, errors: &Errors) {
    if let Some(variant) = patterns.first().and_then(variant_of_another) {
        errors.at(variant, messages::variant_for_failure(&written(variant)));
        returned(patterns, variant.span());
    } else if let Some(Pat::Ident(binding)) = patterns.first() {
        let name = binding.ident.clone();
        if taken_for_error(arm, &name).is_some() {
            errors.at(&name, messages::failure_for_its_error(&name));
            returned(patterns, name.span());
        }
    }
    for pattern in patterns {
        spell(pattern, errors);
    }
}

/// Corrects the misspelt name of a variant of `Failure`, and adds the parentheses that it lacks.
fn spell(pattern: &mut Pat, errors: &Errors) {
    match pattern {
        Pat::TupleStruct(variant) => {
            let name = variant.path.get_ident();
            if let Some(name) = name.filter(|name| *name == "Err" || *name == "Ok").cloned() {
                errors.at(&name, messages::result_for_failure(&name));
                variant.path = Ident::new("Returned", name.span()).into();
            }
        }
        // Of an unknown name rustc says what was meant.
        Pat::Ident(binding) if binding.subpat.is_none() => {
            let name = &binding.ident;
            if is_one_of(name, &VARIANTS) {
                errors.at(name, messages::failure_without_parentheses(name));
                *pattern = parse_quote!(#name(..));
            }
        }
        Pat::Ident(binding) => {
            if let Some((_, inner)) = &mut binding.subpat {
                spell(inner, errors);
            }
        }
        Pat::Or(either) => either.cases.iter_mut().for_each(|case| spell(case, errors)),
        Pat::Paren(inner) => spell(&mut inner.pat, errors),
        _ => {}
    }
}

/// Returns how an arm uses `name` as an error of one type, as far as tokens tell.
pub(crate) fn taken_for_error(arm: &Arm, name: &Ident) -> Option<TakenFor> {
    // What binds the name anew has another value.
    let bound = bound::names(arm);
    if bound.iter().filter(|other| *other == name).count() != 1 {
        return None;
    }
    let mut found = None;
    let mut look = |part: Part<'_>| {
        if let (None, Part::Expr(expr)) = (&found, part) {
            found = taken_for(expr, name);
        }
        true
    };
    walk::read_expr(&arm.body, &mut look);
    if let Some((_, guard)) = &arm.guard {
        walk::read_expr(guard, &mut look);
    }
    found
}

/// Returns how an expression itself uses `name` as an error of one type.
fn taken_for(expr: &Expr, name: &Ident) -> Option<TakenFor> {
    let matched = |pattern: &Pat| TakenFor::Matched(pattern.clone());
    let asked = |what: &dyn ToTokens| TakenFor::Asked(what.to_token_stream().to_string());
    match expr {
        Expr::Match(choice) if is_it(&choice.expr, name) => {
            let mut patterns = choice.arms.iter().map(|arm| &arm.pat);
            patterns.find(|pattern| is_of_another(pattern)).map(matched)
        }
        Expr::Let(choice) if is_it(&choice.expr, name) => {
            is_of_another(&choice.pat).then(|| matched(&choice.pat))
        }
        // A failure has no fields.
        Expr::Field(field) if is_it(&field.base, name) => Some(asked(&field.member)),
        // Methods that errors have and failures do not.
        Expr::MethodCall(call) if is_it(&call.receiver, name) => {
            let methods = ["kind", "source", "downcast_ref", "raw_os_error", "status"];
            is_one_of(&call.method, &methods).then(|| asked(&call.method))
        }
        _ => None,
    }
}

/// Tells whether an expression is the failure itself: `why`, `&why`, `*why`.
fn is_it(expr: &Expr, name: &Ident) -> bool {
    match expr {
        Expr::Path(path) => path.path.is_ident(name),
        Expr::Paren(inner) => is_it(&inner.expr, name),
        Expr::Reference(inner) => is_it(&inner.expr, name),
        Expr::Unary(inner) => is_it(&inner.expr, name),
        _ => false,
    }
}

/// The use of a failure as if it were the tool's error.
pub(crate) enum TakenFor {
    /// The value is matched against this pattern.
    Matched(Pat),
    /// The name of a method or field of the value that is used.
    Asked(String),
}

/// Wraps the pattern of an arm: `why` becomes `Returned(why)`.
fn returned(patterns: &mut Punctuated<Pat, Token![,]>, span: Span) {
    let returned = qualified("Failure", &Ident::new("Returned", span));
    let elems = std::mem::take(patterns);
    patterns.push(Pat::TupleStruct(PatTupleStruct {
        attrs: Vec::new(),
        qself: None,
        path: parse_quote!(#returned),
        paren_token: Paren(span),
        elems,
    }));
}

/// Returns the path of a pattern such as `Oops::Late`, which the tool returned and which is no `Failure`.
pub(crate) fn variant_of_another(pattern: &Pat) -> Option<&Path> {
    let path = match pattern {
        Pat::Or(either) => return variant_of_another(either.cases.first()?),
        Pat::Paren(inner) => return variant_of_another(&inner.pat),
        Pat::Reference(inner) => return variant_of_another(&inner.pat),
        Pat::TupleStruct(variant) => &variant.path,
        Pat::Struct(variant) => &variant.path,
        Pat::Path(variant) => &variant.path,
        _ => return None,
    };
    let mut names = path.segments.iter().rev();
    let (variant, of) = (&names.next()?.ident, &names.next()?.ident);
    (of != "Failure" && !is_one_of(variant, &VARIANTS)).then_some(path)
}

/// Tells whether a pattern belongs to another type than `Failure`. A misspelt variant of `Failure` does not.
fn is_of_another(pattern: &Pat) -> bool {
    let is_other = |name: &Ident| nearest(&name.to_string(), &VARIANTS).is_none();
    let path = match pattern {
        Pat::Ident(binding) => {
            return binding.subpat.is_none()
                && is_capitalised(&binding.ident)
                && is_other(&binding.ident);
        }
        Pat::Or(either) => return either.cases.iter().any(is_of_another),
        Pat::Paren(inner) => return is_of_another(&inner.pat),
        Pat::Reference(inner) => return is_of_another(&inner.pat),
        Pat::TupleStruct(variant) => &variant.path,
        Pat::Struct(variant) => &variant.path,
        Pat::Path(variant) => &variant.path,
        _ => return false,
    };
    let Some(last) = path.segments.last() else {
        return false;
    };
    match path.segments.len() {
        1 => is_other(&last.ident),
        _ => !is_one_of(&last.ident, &VARIANTS),
    }
}
