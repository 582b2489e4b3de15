//! Suggestions: the probable meaning of a misspelt word, or of a typical mistake.
//!
//! A mistake that is recognised here is reported, and read as what was meant. So one mistake is one error.

pub(crate) mod any_error;
pub(crate) mod attributes;
pub(crate) mod colons;
pub(crate) mod escalation;
pub(crate) mod failure;
pub(crate) mod values;
pub(crate) mod verbs;

use crate::{
    diag::Errors,
    keys::{self, Kind},
    messages,
    names::{plain, type_name},
    syntax::{bare, last_name, written},
};
use std::fmt::Display;
use syn::{Attribute, Expr, Ident, Lit, Meta, Pat, Path, Type, TypeReference, parse_quote};

/// Returns the known name that `found` was probably meant to be: the most similar one, or the only one with that word;
/// `None` if no known name is similar enough or has that word, or if several have it.
pub(crate) fn nearest<'k>(found: &str, known: &[&'k str]) -> Option<&'k str> {
    let found = found.to_lowercase();
    let most_like = known
        .iter()
        .map(|name| (strsim::jaro_winkler(&found, &name.to_lowercase()), *name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name);
    most_like.or_else(|| {
        let mut with_it = known
            .iter()
            .filter(|name| name.split('_').any(|word| word == found));
        let only = with_it.next()?;
        with_it.next().is_none().then_some(*only)
    })
}

/// Returns the message about an unknown name, with the known one that was probably meant.
pub(crate) fn unknown(what: &str, found: impl Display, known: &[&str]) -> String {
    let meant = nearest(&found.to_string(), known);
    messages::unknown(what, found, meant, known)
}

/// Returns the message about a key that a verb does not have.
pub(crate) fn unknown_modifier(verb: impl Display, key: impl Display, known: &[&str]) -> String {
    match known.is_empty() {
        true => messages::no_such_key(verb, key),
        false => unknown(&format!("`{verb}` key"), key, known),
    }
}

/// Returns the duration that a number probably means. `30` and `30s` mean the same.
pub(crate) fn duration(number: &Lit) -> Option<String> {
    let (digits, unit, made) = match number {
        Lit::Int(count) => (count.base10_digits(), count.suffix(), "secs"),
        Lit::Float(count) => (count.base10_digits(), count.suffix(), "secs_f64"),
        _ => return None,
    };
    let seconds = |of: u64, count: u64| (count.saturating_mul(of).to_string(), made);
    let (digits, made) = match (unit, digits.parse()) {
        ("" | "s" | "sec" | "secs", _) => (digits.to_owned(), made),
        ("ms", Ok::<u64, _>(_)) => (digits.to_owned(), "millis"),
        ("m" | "min", Ok(minutes)) => seconds(60, minutes),
        ("h", Ok(hours)) => seconds(60 * 60, hours),
        ("d", Ok(days)) => seconds(24 * 60 * 60, days),
        _ => return None,
    };
    Some(format!("std::time::Duration::from_{made}({digits})"))
}

/// Returns the message about a number where a duration is wanted.
pub(crate) fn duration_without_unit(what: &str, key: &str, found: &Lit) -> String {
    let some = || "std::time::Duration::from_secs(2)".to_owned();
    messages::duration_without_unit(what, key, &duration(found).unwrap_or_else(some))
}

/// Reports a misspelt mark, such as `#[skil]`, and reads it as the one that was meant. The method is then no second
/// mistake.
pub(crate) fn mark(attribute: &mut Attribute, errors: &Errors) {
    let Some(found) = attribute.path().get_ident().cloned() else {
        return;
    };
    let (name, known) = (found.to_string(), keys::MARKS);
    let meant = known
        .iter()
        .find(|mark| strsim::osa_distance(&name, mark) == 1);
    if let Some(meant) = meant {
        errors.at(&found, unknown("attribute", &name, known));
        let path = Path::from(Ident::new(meant, found.span()));
        match &mut attribute.meta {
            Meta::Path(found) => *found = path,
            Meta::List(list) => list.path = path,
            Meta::NameValue(pair) => pair.path = path,
        }
    }
}

/// Returns the kind of failure of this name, or the one that was probably meant.
///
/// That the name is misspelt is reported with the other rules for kinds.
pub(crate) fn kind(name: &Ident) -> Option<&'static Kind> {
    let meant = nearest(&plain(name), &keys::kinds())?;
    keys::KINDS.iter().find(|kind| kind.name == meant)
}

/// Reports a function such as `read_file` in the place of a tool, and reads it as the type beside the function.
pub(crate) fn tool_type(tool: &mut Path, errors: &Errors) {
    if let Some(last) = tool.segments.last_mut()
        && plain(&last.ident).starts_with(char::is_lowercase)
    {
        let ty = type_name(&last.ident);
        errors.at(&last.ident, messages::function_for_tool(&last.ident, &ty));
        last.ident = ty;
    }
}

/// Returns the type to write instead of a reference: `String` for `&str`.
pub(crate) fn owned(ty: &TypeReference) -> String {
    let elem = bare(&ty.elem);
    match (last_name(elem).as_deref(), elem) {
        (Some("str"), _) => "String".to_owned(),
        (Some("Path"), _) => "PathBuf".to_owned(),
        (_, Type::Slice(slice)) => format!("Vec<{}>", written(&slice.elem)),
        _ => written(elem),
    }
}

/// Returns the lifetime that a value means where `ttl(..)` is wanted: in `cache = Duration::from_secs(60)` and
/// `cache = 60`.
pub(crate) fn lifetime(value: &Expr) -> Option<String> {
    let is_of_a_type =
        |name: &Expr| matches!(name, Expr::Path(path) if path.path.segments.len() > 1);
    match value {
        Expr::Lit(number) => duration(&number.lit),
        Expr::Call(call) if is_of_a_type(&call.func) => Some(written(value)),
        _ => None,
    }
}

/// Reports `approval = when(|args| ..)`, whose closure does not take the context, and adds the missing parameter:
/// `when(|args, _| ..)`. So the rest of the tool is checked and expanded.
pub(crate) fn asked_with_both(asked: &mut Expr, errors: &Errors) {
    if let Expr::Closure(closure) = asked
        && let (Some(args), 1) = (closure.inputs.first(), closure.inputs.len())
    {
        let name = match args {
            Pat::Type(typed) => written(&typed.pat),
            other => written(other),
        };
        errors.at(args, messages::approval_without_context(name));
        closure.inputs.push(parse_quote!(_));
    }
}
