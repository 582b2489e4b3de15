//! Slips in the arms for all tools of an agent. There the type of an error is unknown until it is asked for.

use super::failure::{TakenFor, taken_for_error, variant_of_another};
use crate::{
    ast::{Arm, failure::is_returned},
    diag::Errors,
    messages,
    syntax::{is_capitalised, written},
    walk::{self, Part},
};
use proc_macro2::Span;
use std::borrow::Cow;
use syn::{BinOp, Expr, Ident, Pat, Token, parse_quote, punctuated::Punctuated, spanned::Spanned};

/// Corrects an arm of an agent that takes the error of any tool for that of one tool:
///
/// ```text
/// execution_error(Returned(Jam::Shut)) => ..
/// execution_error(Returned(e)) if let Some(Jam::Shut) = e.downcast_ref() => ..
/// ```
///
/// An arm is left out if only its body, or only one of several patterns, shows that one type is meant.
pub(crate) fn mend<'a>(arm: &'a Arm, errors: &Errors) -> Option<Cow<'a, Arm>> {
    let Some(pattern) = arm.patterns.first() else {
        return Some(Cow::Borrowed(arm));
    };
    if variant_of_another(pattern).is_some() {
        errors.at(pattern, messages::error_of_one_tool(&written(pattern)));
        return Some(Cow::Owned(asked(arm, pattern)));
    }
    for own in held(pattern) {
        if is_of_one_type(&own) {
            errors.at(&own, messages::error_of_one_tool(&written(&own)));
            let is_all = matches!(pattern, Pat::TupleStruct(whole) if is_returned(&whole.path));
            return is_all.then(|| Cow::Owned(asked(arm, &own)));
        }
        if let Pat::Ident(binding) = &own
            && let Some(taken) = taken_for_error(arm, &binding.ident)
        {
            let message = match taken {
                // What an `AnyError` is to be asked.
                TakenFor::Asked(method) if method == "downcast_ref" => continue,
                TakenFor::Asked(_) => messages::asked_of_any_error(),
                TakenFor::Matched(variant) => messages::error_of_one_tool(&written(&variant)),
            };
            errors.at(own, message);
            return None;
        }
    }
    Some(Cow::Borrowed(arm))
}

/// Returns the arm as it was probably meant, with a guard that asks for the type of the error.
fn asked(arm: &Arm, own: &Pat) -> Arm {
    let e = Ident::new("e", Span::mixed_site());
    let returned: Pat = parse_quote!(Returned(#e));
    let is = parse_quote!(let Some(#own) = #e.downcast_ref());
    let guard = match &arm.guard {
        None => (Token![if](own.span()), is),
        Some((if_token, Expr::Binary(either))) if matches!(either.op, BinOp::Or(_)) => {
            (*if_token, parse_quote!(#is && (#either)))
        }
        Some((if_token, guard)) => (*if_token, parse_quote!(#is && #guard)),
    };
    Arm {
        attrs: arm.attrs.clone(),
        kind: arm.kind.clone(),
        patterns: Punctuated::from_iter([returned]),
        guard: Some(guard),
        body: arm.body.clone(),
    }
}

/// Returns the inner pattern of each `Returned(..)`, or the name that a pattern is.
fn held(pattern: &Pat) -> Vec<Pat> {
    if let Pat::Ident(_) = pattern {
        return vec![pattern.clone()];
    }
    let mut held = Vec::new();
    walk::read_pat(pattern, &mut |part| match part {
        Part::Pat(Pat::TupleStruct(variant)) if is_returned(&variant.path) => {
            held.extend(variant.elems.first().cloned());
            false
        }
        _ => true,
    });
    held
}

/// Tells whether a pattern fits only values of one type. A name in small letters fits any value, and so do the fields
/// of an `AnyError`.
fn is_of_one_type(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(binding) => match &binding.subpat {
            Some((_, inner)) => is_of_one_type(inner),
            None => is_capitalised(&binding.ident),
        },
        Pat::Or(either) => either.cases.iter().any(is_of_one_type),
        Pat::Paren(inner) => is_of_one_type(&inner.pat),
        Pat::Reference(inner) => is_of_one_type(&inner.pat),
        Pat::TupleStruct(_) | Pat::Path(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Tuple(_) => true,
        Pat::Struct(literal) => !literal.path.is_ident("AnyError"),
        _ => false,
    }
}
