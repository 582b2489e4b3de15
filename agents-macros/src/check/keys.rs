//! The rules for the keys of attributes.

use crate::{
    ast::{Entry, Value},
    diag::Errors,
    keys::{self, Key, Takes},
    messages,
    names::{self, plain},
    suggest::{self, nearest},
    syntax::pair,
};
use syn::{Expr, ExprLit, Ident, Lit};

/// Checks the entries of one attribute: each key is known and is given once, and each value has the form that its key
/// takes.
///
/// An entry with a mistake is reported and removed from `entries`, with three exceptions. Of two entries with the same
/// key, the first stays. A misspelt key is replaced by the known key that was probably meant, unless that key is given
/// as well. A key that needs no value stays, without the wrong value.
pub(super) fn entries(
    attribute: &str,
    entries: &mut Vec<Entry>,
    known: &'static [Key],
    errors: &Errors,
) {
    known_once(attribute, entries, known, errors);
    // The order of reports: the path to the runtime, effects, values, flags, notes.
    let rank = |key: &Key| match key.takes {
        Takes::Path => 0,
        _ if keys::EFFECTS.contains(&key.name) => 1,
        Takes::Nothing | Takes::TimeFor => 3,
        Takes::Text | Takes::Name => 4,
        _ => 2,
    };
    for place in 0..=4 {
        for key in known.iter().filter(|key| rank(key) == place) {
            let of_key = |entry: &Entry| plain(&entry.key) == key.name;
            entries.retain_mut(|entry| !of_key(entry) || fits(entry, key, errors));
        }
    }
}

/// Reports unknown keys, and each key that is given twice, at both places. Of two entries with the same key, the first
/// is kept.
fn known_once(attribute: &str, entries: &mut Vec<Entry>, known: &'static [Key], errors: &Errors) {
    let names = keys::words(known);
    let mut kept: Vec<Entry> = Vec::new();
    let mut reported: Vec<String> = Vec::new();
    let mut misspelt: Vec<Entry> = Vec::new();
    for mut entry in std::mem::take(entries) {
        let name = plain(&entry.key);
        if !names.contains(&name.as_str()) {
            let is_bound = attribute == "agent" && keys::BUDGET.contains(&name.as_str());
            let elsewhere = messages::said_elsewhere(attribute, &name);
            let message = match elsewhere {
                Some(instead) => instead.to_owned(),
                None if is_bound => messages::bound_outside_budget(&name),
                None => suggest::unknown(&format!("`#[{attribute}]` key"), &name, &names),
            };
            errors.at(&entry.key, message);
            if elsewhere.is_none()
                && let Some(meant) = nearest(&name, &names)
            {
                entry.key = Ident::new(meant, entry.key.span());
                misspelt.push(entry);
            }
        } else if let Some(first) = kept.iter().find(|first| plain(&first.key) == name) {
            if !reported.contains(&name) {
                errors.at(&first.key, messages::twice(&name));
                reported.push(name.clone());
            }
            errors.at(&entry.key, messages::twice(&name));
        } else {
            kept.push(entry);
        }
    }
    for entry in misspelt {
        if kept.iter().all(|other| other.key != entry.key) {
            kept.push(entry);
        }
    }
    *entries = kept;
}

/// Checks that a value has the form that its key takes. Returns `false` if the entry is reported and has to be removed.
/// A key that needs no value stays, without the wrong value: the result is `true`.
fn fits(entry: &mut Entry, key: &Key, errors: &Errors) -> bool {
    let fits = match (key.takes, &entry.value) {
        (Takes::Nothing, Value::Nothing) => true,
        (Takes::Nothing, _) => {
            errors.at(&entry.key, messages::takes_nothing(key.name));
            entry.value = Value::Nothing;
            return true;
        }
        (Takes::TimeFor, value) => {
            if !is_for_a_time(&entry.key, value, key.name, errors) {
                entry.value = Value::Nothing;
            }
            return true;
        }
        (Takes::Path, Value::Is(value)) => return is_path(value, errors),
        (Takes::Value, Value::Is(_)) => true,
        (Takes::Words, Value::Is(Expr::Lit(literal))) => matches!(literal.lit, Lit::Str(_)),
        (Takes::Code, Value::Is(Expr::Lit(_))) => false,
        (Takes::Words | Takes::Code, Value::Is(_)) => true,
        (Takes::Text, Value::Is(Expr::Lit(ExprLit { lit, .. }))) => matches!(lit, Lit::Str(_)),
        (
            Takes::Name,
            Value::Is(Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            })),
        ) => names::written(text).is_some(),
        (Takes::List, Value::List(_)) => true,
        (Takes::Bounds, Value::Is(_) | Value::Group(_)) => true,
        _ => false,
    };
    if !fits {
        errors.at(&entry.key, messages::written_as(key.name, key.usage));
    }
    fits
}

/// Checks `idempotent` and `idempotent(for = hours(24))`. Returns `false` if the value is reported.
fn is_for_a_time(key: &Ident, value: &Value, name: &str, errors: &Errors) -> bool {
    let time = match value {
        Value::Nothing => return true,
        Value::Group(group) => match &group[..] {
            [time] => pair(time.clone()).ok(),
            _ => None,
        },
        _ => None,
    };
    match time.filter(|(word, _)| word == "for") {
        None => errors.at(key, messages::flag_without_for(name)),
        Some((_, Expr::Lit(number))) => {
            let message = suggest::duration_without_unit("a time", "for", &number.lit);
            errors.at(&number, message);
        }
        Some(_) => return true,
    }
    false
}

/// Checks that the value of `crate = path::to::agents` is a path. Returns `false` if it is none, and is reported.
fn is_path(value: &Expr, errors: &Errors) -> bool {
    let is_path = matches!(value, Expr::Path(path) if path.qself.is_none());
    if !is_path {
        errors.at(value, messages::crate_wants_a_path());
    }
    is_path
}

/// Checks the value of one key with `fits`, if the key is there. If `fits` returns `false`, the key is left out with
/// its value.
pub(super) fn value(entries: &mut Vec<Entry>, key: &str, fits: &dyn Fn(&mut Expr) -> bool) {
    entries.retain_mut(|entry| match &mut entry.value {
        Value::Is(value) if plain(&entry.key) == key => fits(value),
        _ => true,
    });
}
