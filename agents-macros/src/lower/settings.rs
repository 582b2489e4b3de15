//! The keys of `#[agent(..)]` that are settings.

use super::keys::Keys;
use crate::{
    ast::Element,
    model::{Budget, Call, Context, Settings},
    syntax::{pair, policy_of_context},
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
        context: keys
            .value("context")
            .map(|(key, value)| (key, context(value))),
        memory: keys.value("memory"),
        knowledge: keys.value("knowledge"),
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

/// Lowers `trim(at = 0.75)` and `compact(at = 0.75, by = Summariser)`.
fn context(value: Expr) -> Context {
    let Some((verb, parts)) = policy_of_context(&value) else {
        return Context::Value(value);
    };
    let pairs = parts.into_iter().filter_map(|part| pair(part).ok());
    let (by, calls): (Vec<_>, Vec<_>) = pairs.partition(|(name, _)| name == "by");
    let call = |(method, value): (_, Expr)| Call {
        method,
        argument: value.into_token_stream(),
    };
    Context::Policy {
        verb,
        by: by.into_iter().next().map(|(_, by)| by),
        calls: calls.into_iter().map(call).collect(),
    }
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
