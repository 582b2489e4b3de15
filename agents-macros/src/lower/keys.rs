//! The entries of an attribute, by their keys.

use crate::{
    ast::{Element, Entry, Value},
    names::{plain, written},
    paths::Rt,
    syntax::pair,
};
use syn::{Expr, ExprLit, Ident, Lit, LitStr};

/// The checked entries of one attribute. Each is taken out by its key, when the attribute is turned into the model.
pub(super) struct Keys(pub(super) Vec<Entry>);

impl Keys {
    /// Takes out a key without a value, such as `strict`; `None` if it is not there.
    pub(super) fn flag(&mut self, name: &str) -> Option<Ident> {
        self.take(name).map(|entry| entry.key)
    }

    /// Takes out `idempotent`, or `idempotent(for = expr)` with its time.
    pub(super) fn flag_for(&mut self, name: &str) -> Option<(Ident, Option<Expr>)> {
        let Entry { key, value } = self.take(name)?;
        let time = match value {
            Value::Group(group) => <[Expr; 1]>::try_from(group).ok(),
            _ => None,
        };
        let time = time.and_then(|[time]| pair(time).ok());
        Some((key, time.map(|(_, time)| time)))
    }

    /// Takes out a key with an expression, such as `timeout = expr`.
    pub(super) fn value(&mut self, name: &str) -> Option<(Ident, Expr)> {
        match self.take(name)? {
            Entry {
                key,
                value: Value::Is(value),
            } => Some((key, value)),
            _ => None,
        }
    }

    /// Takes out a key with a text, such as `deprecated = "text"`.
    pub(super) fn text(&mut self, name: &str) -> Option<(Ident, LitStr)> {
        match self.value(name)? {
            (
                key,
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }),
            ) => Some((key, text)),
            _ => None,
        }
    }

    /// Takes out `name = "web_search"`: the name of a tool or an agent. Returns `None` without the key; then the name
    /// comes from the function or the type.
    pub(super) fn name(&mut self) -> Option<Ident> {
        self.text("name").and_then(|(_, text)| written(&text))
    }

    /// Takes out a key with a list, such as `tools = [a, ..b]`.
    pub(super) fn list(&mut self, name: &str) -> Option<(Ident, Vec<Element>)> {
        match self.take(name)? {
            Entry {
                key,
                value: Value::List(elements),
            } => Some((key, elements)),
            _ => None,
        }
    }

    /// Takes out a key with a group as `Err`, such as `budget(..)`, and with a value as `Ok`, such as `budget = ..`.
    pub(super) fn group_or_value(
        &mut self,
        name: &str,
    ) -> Option<(Ident, Result<Expr, Vec<Expr>>)> {
        let Entry { key, value } = self.take(name)?;
        match value {
            Value::Is(value) => Some((key, Ok(value))),
            Value::Group(group) => Some((key, Err(group))),
            Value::Nothing | Value::List(_) => None,
        }
    }

    /// Takes out `crate = path`, and returns the path to the runtime.
    pub(super) fn rt(&mut self) -> Rt {
        Rt::under(match self.value("crate") {
            Some((_, Expr::Path(path))) => Some(path.path),
            _ => None,
        })
    }

    fn take(&mut self, name: &str) -> Option<Entry> {
        let is_it = |entry: &Entry| plain(&entry.key) == name;
        let at = self.0.iter().position(is_it)?;
        Some(self.0.remove(at))
    }
}
