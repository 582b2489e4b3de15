//! Slips in the arguments of verbs: severities, back-offs, values.

use crate::{
    diag::Errors,
    keys::SEVERITIES,
    messages,
    names::is_one_of,
    paths::{here, qualified},
    suggest,
    syntax::{is_capitalised, spelled_severity, written},
    walk::{self, Look, Part},
};
use proc_macro2::Span;
use syn::{
    Expr, ExprAssign, ExprCall, ExprLit, Ident, Lit, Pat, parse_quote, parse_quote_spanned,
    spanned::Spanned,
};

/// Corrects a severity that is given as text or misspelt. `High` and `Severity::High` are right, imported or not.
pub(crate) fn severity(value: &mut Expr, errors: &Errors) {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => {
            let meant = match lit {
                Lit::Str(name) => suggest::nearest(&name.value(), SEVERITIES),
                _ => None,
            };
            errors.at(
                &*lit,
                messages::severity_by_its_name(meant.unwrap_or("Medium")),
            );
            *value = some_severity(lit.span());
        }
        Expr::Path(path) if path.path.get_ident().is_some_and(is_unknown) => {
            errors.at(
                &*path,
                suggest::unknown("severity", written(&path.path), SEVERITIES),
            );
            *value = some_severity(path.span());
        }
        _ => walk::rewrite(value, &mut Qualified(errors)),
    }
}

struct Qualified<'e>(&'e Errors);

impl Look for Qualified<'_> {
    fn enter(&mut self, part: Part<'_>) -> bool {
        if let Part::Expr(Expr::Path(path)) | Part::Pat(Pat::Path(path)) = part
            && let Some(name) = spelled_severity(&path.path).cloned()
        {
            if is_unknown(&name) {
                self.0
                    .at(&name, suggest::unknown("severity", &name, SEVERITIES));
                *path = parse_quote_spanned!(name.span()=> __rt::Severity::High);
            } else {
                let qualified = qualified("Severity", &name);
                *path = parse_quote!(#qualified);
            }
        }
        true
    }

    fn leave(&mut self, _: Part<'_>) {}
}

/// Tells whether a name looks like a variant and is no severity. A name in capitals or in small letters may be a
/// value of the user's.
fn is_unknown(name: &Ident) -> bool {
    is_capitalised(name)
        && name.to_string().contains(char::is_lowercase)
        && !is_one_of(name, SEVERITIES)
}

fn some_severity(span: Span) -> Expr {
    parse_quote_spanned!(span=> __rt::Severity::High)
}

/// Corrects a bare duration or number in the place of a back-off.
pub(crate) fn backoff(value: &mut Expr, errors: &Errors) {
    let span = value.span();
    match value {
        Expr::Lit(ExprLit { lit, .. }) => {
            errors.at(&*lit, messages::backoff_is_a_function(&in_millis(lit)));
            *value = parse_quote_spanned!(span=> exponential());
        }
        Expr::Call(call) if is_duration(&call.func) => {
            let wait = written(call);
            errors.at(&*call, messages::backoff_is_a_function(&wait));
            *value = parse_quote_spanned!(here(span)=> constant(#call));
        }
        _ => {}
    }
}

/// Tells whether an expression names a function of `Duration`, such as `Duration::from_secs`.
fn is_duration(function: &Expr) -> bool {
    let Expr::Path(path) = function else {
        return false;
    };
    let of = path.path.segments.iter().rev().nth(1);
    of.is_some_and(|of| of.ident == "Duration")
}

fn in_millis(lit: &Lit) -> String {
    let millis = match lit {
        Lit::Int(millis) => millis.base10_digits(),
        _ => "100",
    };
    format!("std::time::Duration::from_millis({millis})")
}

/// Corrects `exponential(base, cap)` to `exponential().base(base).cap(cap)`.
pub(crate) fn exponential(call: &mut ExprCall, errors: &Errors) -> Option<Expr> {
    let Expr::Path(function) = &*call.func else {
        return None;
    };
    if !function.path.is_ident("exponential") || call.args.is_empty() {
        return None;
    }
    let (mut bounds, mut value) = (String::new(), Expr::Call(call.clone()));
    if let Expr::Call(bare) = &mut value {
        bare.args.clear();
    }
    for (argument, name) in call.args.iter().zip(["base", "cap"]) {
        let (name, given) = match argument {
            Expr::Assign(ExprAssign { left, right, .. }) => (written(left), &**right),
            _ => (name.to_owned(), argument),
        };
        let method = Ident::new(if name == "cap" { "cap" } else { "base" }, argument.span());
        let (wait, given): (String, Expr) = match given {
            Expr::Lit(ExprLit { lit, .. }) => {
                let wait = in_millis(lit);
                (wait, parse_quote!(__rt::Duration::ZERO))
            }
            given => (written(given), given.clone()),
        };
        bounds += &format!(".{method}({wait})");
        value = parse_quote_spanned!(argument.span()=> #value.#method(#given));
    }
    errors.at(&call.args, messages::exponential_by_its_bounds(&bounds));
    Some(value)
}

/// Corrects `sanitize(None)`, because rustc could not infer the type of `None`.
pub(crate) fn no_value(value: &mut Expr, errors: &Errors) {
    if let Expr::Path(path) = &*value
        && path.path.is_ident("None")
    {
        errors.at(&*value, messages::NO_VALUE);
        *value = parse_quote_spanned!(value.span()=> ());
    }
}
