//! The entries of an attribute, by their keys.

use crate::{
    ast::{Element, Entry, Value},
    names::{plain, written},
    paths::Rt,
    syntax::pair,
};
use syn::{Expr, ExprLit, Ident, Lit, LitStr};

/// The checked entries of one attribute. Each is taken out by its key.
pub(super) struct Keys(pub(super) Vec<Entry>);

impl Keys {
    /// Takes `strict`.
    pub(super) fn flag(&mut self, name: &str) -> Option<Ident> {
        self.take(name).map(|entry| entry.key)
    }

    /// Takes `idempotent`, or `idempotent(for = expr)`.
    pub(super) fn flag_for(&mut self, name: &str) -> Option<(Ident, Option<Expr>)> {
        let Entry { key, value } = self.take(name)?;
        let time = match value {
            Value::Group(group) => <[Expr; 1]>::try_from(group).ok(),
            _ => None,
        };
        let time = time.and_then(|[time]| pair(time).ok());
        Some((key, time.map(|(_, time)| time)))
    }

    /// Takes `timeout = expr`.
    pub(super) fn value(&mut self, name: &str) -> Option<(Ident, Expr)> {
        match self.take(name)? {
            Entry {
                key,
                value: Value::Is(value),
            } => Some((key, value)),
            _ => None,
        }
    }

    /// Takes `deprecated = "text"`.
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

    /// Takes `name = "web_search"`: the name of a tool or an agent, which is otherwise that of its function.
    pub(super) fn name(&mut self) -> Option<Ident> {
        self.text("name").and_then(|(_, text)| written(&text))
    }

    /// Takes `tools = [a, ..b]`.
    pub(super) fn list(&mut self, name: &str) -> Option<(Ident, Vec<Element>)> {
        match self.take(name)? {
            Entry {
                key,
                value: Value::List(elements),
            } => Some((key, elements)),
            _ => None,
        }
    }

    /// Takes `budget(..)` as `Err`, and `budget = ..` as `Ok`.
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

    /// Takes `crate = path`.
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
