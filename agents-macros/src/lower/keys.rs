//! Entries to keys: which there are, what each takes, and that none is given twice.

use crate::{
    ast::{Element, Entry, Value},
    check::{
        messages,
        names::{nearest, plain},
    },
    diag::Errors,
    parse::{
        keys::{self, Key},
        ungrouped,
    },
    paths::Rt,
};
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Path};

/// The entries of one attribute, taken out key by key.
pub(super) struct Keys<'e> {
    entries: Vec<Entry>,
    known: &'static [Key],
    errors: &'e Errors,
}

impl<'e> Keys<'e> {
    /// Reports unknown keys, and keys given twice at both places; of those the first counts. A key that
    /// is misspelt counts as the one that was meant: it is not missing as well.
    pub(super) fn new(
        attribute: &str,
        entries: Vec<Entry>,
        known: &'static [Key],
        errors: &'e Errors,
    ) -> Self {
        let names: Vec<&str> = known.iter().map(|key| key.name).collect();
        let what = format!("`#[{attribute}]` key");
        let mut kept: Vec<Entry> = Vec::new();
        let mut reported: Vec<String> = Vec::new();
        let mut misspelt: Vec<Entry> = Vec::new();
        for mut entry in entries {
            let name = plain(&entry.key);
            if !names.contains(&name.as_str()) {
                let is_bound = attribute == "agent" && keys::BUDGET.contains(&name.as_str());
                let elsewhere = messages::said_elsewhere(attribute, &name);
                errors.at(
                    &entry.key,
                    match elsewhere {
                        Some(instead) => instead.to_owned(),
                        None if is_bound => messages::bound_outside_budget(&name),
                        None => messages::unknown(&what, &name, &names),
                    },
                );
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
        Keys {
            entries: kept,
            known,
            errors,
        }
    }

    /// `strict`
    pub(super) fn flag(&mut self, name: &str) -> Option<Ident> {
        let Entry { key, value } = self.take(name)?;
        if !matches!(value, Value::Nothing) {
            self.errors.at(&key, messages::takes_nothing(name));
        }
        Some(key)
    }

    /// `idempotent`, or `idempotent(for = expr)`
    pub(super) fn flag_for(&mut self, name: &str) -> Option<(Ident, Option<Expr>)> {
        let Entry { key, value } = self.take(name)?;
        let time = match value {
            Value::Nothing => return Some((key, None)),
            Value::Group(group) => <[Expr; 1]>::try_from(group).ok(),
            _ => None,
        };
        let time = time.and_then(|[time]| pair(time).ok());
        let time = time.filter(|(word, _)| word == "for").map(|(_, time)| time);
        if time.is_none() {
            self.errors.at(&key, messages::flag_without_for(name));
        }
        Some((key, time))
    }

    /// `timeout = expr`
    pub(super) fn value(&mut self, name: &str) -> Option<(Ident, Expr)> {
        let Entry { key, value } = self.take(name)?;
        match value {
            Value::Is(value) => Some((key, value)),
            _ => self.miswritten(&key),
        }
    }

    /// `prompt = expr`: an expression, and no literal but text.
    pub(super) fn words(&mut self, name: &str) -> Option<(Ident, Expr)> {
        let (key, value) = self.value(name)?;
        match &value {
            Expr::Lit(literal) if !matches!(literal.lit, Lit::Str(_)) => self.miswritten(&key),
            _ => Some((key, value)),
        }
    }

    /// `on_tool_use = expr`: an expression, and no literal.
    pub(super) fn code(&mut self, name: &str) -> Option<(Ident, Expr)> {
        let (key, value) = self.value(name)?;
        match value {
            Expr::Lit(_) => self.miswritten(&key),
            _ => Some((key, value)),
        }
    }

    /// `deprecated = "text"`: text that is written there, and no other expression.
    pub(super) fn text(&mut self, name: &str) -> Option<(Ident, LitStr)> {
        let (key, value) = self.value(name)?;
        match value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some((key, text)),
            _ => self.miswritten(&key),
        }
    }

    /// `tools = [a, ..b]`
    pub(super) fn list(&mut self, name: &str) -> Option<(Ident, Vec<Element>)> {
        let Entry { key, value } = self.take(name)?;
        match value {
            Value::List(elements) => Some((key, elements)),
            _ => self.miswritten(&key),
        }
    }

    /// `budget(..)` as `Err`, `budget = ..` as `Ok`.
    pub(super) fn group_or_value(
        &mut self,
        name: &str,
    ) -> Option<(Ident, Result<Expr, Vec<Expr>>)> {
        let Entry { key, value } = self.take(name)?;
        match value {
            Value::Is(value) => Some((key, Ok(value))),
            Value::Group(group) => Some((key, Err(group))),
            _ => self.miswritten(&key),
        }
    }

    /// `crate = path`
    pub(super) fn rt(&mut self) -> Rt {
        let root = self.value("crate").and_then(|(_, value)| self.path(value));
        Rt::under(root)
    }

    fn path(&self, value: Expr) -> Option<Path> {
        match value {
            Expr::Path(path) if path.qself.is_none() => return Some(path.path),
            Expr::Lit(lit) if matches!(lit.lit, Lit::Str(_)) => {
                self.errors.at(lit, messages::crate_wants_a_path())
            }
            other => self.errors.at(other, messages::crate_wants_a_path()),
        }
        None
    }

    fn take(&mut self, name: &str) -> Option<Entry> {
        let at = self
            .entries
            .iter()
            .position(|entry| plain(&entry.key) == name)?;
        Some(self.entries.remove(at))
    }

    fn miswritten<T>(&self, key: &Ident) -> Option<T> {
        let name = plain(key);
        if let Some(known) = self.known.iter().find(|known| known.name == name) {
            self.errors.at(key, messages::written_as(known));
        }
        None
    }
}

/// `api`, or `ttl(expr)`: one of the `known` words, with what it is given.
pub(super) fn word(
    what: &str,
    value: Expr,
    known: &[&str],
    errors: &Errors,
) -> Option<(Ident, Option<Expr>)> {
    let (word, argument) = match &value {
        Expr::Path(path) => (path.path.get_ident(), None),
        Expr::Call(call) if call.args.len() < 2 => match &*call.func {
            Expr::Path(path) => (path.path.get_ident(), call.args.first()),
            _ => (None, None),
        },
        _ => (None, None),
    };
    let is_call = matches!(value, Expr::Call(_));
    match word {
        Some(word)
            if known.contains(&plain(word).as_str())
                && (argument.is_some() || !is_call || takes_one(word)) =>
        {
            Some((word.clone(), argument.cloned()))
        }
        _ => {
            let found = super::written(&value);
            errors.at(&value, messages::unknown(what, found, known));
            None
        }
    }
}

/// Of which more has to be said: `ttl(..)`.
fn takes_one(word: &Ident) -> bool {
    word == "ttl" || word == "when"
}

/// `max_turns = 1`: what is set, and to what. Anything else is given back.
pub(super) fn pair(value: Expr) -> Result<(Ident, Expr), Box<Expr>> {
    if let Expr::Assign(assign) = &value
        && let Expr::Path(left) = &*assign.left
        && let Some(name) = left.path.get_ident()
    {
        return Ok((name.clone(), ungrouped((*assign.right).clone())));
    }
    Err(Box::new(value))
}
