//! The keys of `#[agent(..)]` that are settings.

use super::keys::Keys;
use crate::{
    ast::Element,
    model::{Budget, Call, Settings},
    syntax::pair,
};
use quote::ToTokens;
use syn::Expr;

/// Takes the settings of an agent out of the entries of its attribute.
pub(super) fn settings(keys: &mut Keys) -> Settings {
    Settings {
        prompt: keys.value("prompt"),
        description: keys.value("description"),
        model: keys.value("model"),
        purpose: keys.value("purpose"),
        tools: keys.list("tools"),
        budget: keys
            .group_or_value("budget")
            .map(|(key, bounds)| (key, budget(bounds))),
        memory: keys.value("memory"),
        policies: keys
            .list("policies")
            .map(|(key, elements)| (key, policies(elements))),
        strict: keys.flag("strict"),
        on_tool_use: keys.value("on_tool_use"),
        validate: keys.value("validate"),
        hand_off: keys.list("hand_off"),
        fixers: keys.list("fixers"),
    }
}

/// Reads the list of policies, `[("github_*", ToolPolicy::new().confirm())]`, as pairs of a pattern and a policy.
fn policies(elements: Vec<Element>) -> Vec<(Expr, Expr)> {
    let pair = |element: Element| match element {
        Element::One(Expr::Tuple(pair)) => {
            let mut parts = pair.elems.into_iter();
            parts.next().zip(parts.next())
        }
        _ => None,
    };
    elements.into_iter().filter_map(pair).collect()
}

fn budget(bounds: Result<Expr, Vec<Expr>>) -> Budget {
    let bounds = match bounds.map_err(<[Expr; 1]>::try_from) {
        Ok(value) => return Budget::Value(value),
        Err(Ok([value])) if Budget::is_value(&value) => return Budget::Value(value),
        Err(Ok(one)) => Vec::from(one),
        Err(Err(bounds)) => bounds,
    };
    let call = |(method, value): (_, Expr)| Call {
        method,
        argument: value.into_token_stream(),
    };
    let bounds = bounds.into_iter().filter_map(|bound| pair(bound).ok());
    Budget::Bounds(bounds.map(call).collect())
}
