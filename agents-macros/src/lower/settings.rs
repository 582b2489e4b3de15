//! The keys of `#[agent(..)]` that are settings.

use super::keys::Keys;
use crate::{
    ast::Element,
    diag::Errors,
    keys, messages,
    model::{Budget, Call, Settings},
    names::{plain, type_name},
    suggest,
    syntax::{function, pair, written},
};
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, RangeLimits};

/// The settings, taken out of the keys.
pub(super) fn settings(keys: &mut Keys<'_>, errors: &Errors) -> Settings {
    Settings {
        prompt: keys.words("prompt"),
        description: keys.words("description"),
        model: keys
            .value("model")
            .filter(|(_, model)| is_model(model, errors)),
        tools: keys
            .list("tools")
            .map(|(key, elements)| (key, tools(elements, errors))),
        budget: keys
            .group_or_value("budget")
            .map(|(key, bounds)| (key, budget(bounds, errors))),
        memory: keys.value("memory"),
        policies: keys
            .list("policies")
            .map(|(key, elements)| (key, policies(elements, errors))),
        strict: keys.flag("strict"),
        on_tool_use: keys.code("on_tool_use"),
        fixers: keys
            .list("fixers")
            .map(|(key, elements)| (key, fixers(elements, errors))),
    }
}

/// `ollama("qwen3:4b")`, and not its name alone.
fn is_model(model: &Expr, errors: &Errors) -> bool {
    match model {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => {
            errors.at(name, messages::name_of_a_model(&name.value()));
            false
        }
        _ => true,
    }
}

/// `[ReadFile, ..more]`. A range is a spread that lost its comma; a function is not its tool.
fn tools(mut elements: Vec<Element>, errors: &Errors) -> Vec<Element> {
    elements.retain(|element| {
        if let Element::One(tool) = element
            && let Some(function) = function(tool)
        {
            errors.at(
                tool,
                messages::function_in_list(function, &type_name(function)),
            );
            return false;
        }
        if let Element::One(Expr::Range(range)) = element
            && matches!(range.limits, RangeLimits::HalfOpen(_))
            && let Some(end) = &range.end
        {
            errors.at(range, messages::spread_of_a_list(written(end)));
            return false;
        }
        true
    });
    elements
}

/// `[SqlFixer]`
fn fixers(mut elements: Vec<Element>, errors: &Errors) -> Vec<Element> {
    elements.retain(|element| {
        let (Element::One(agent) | Element::Spread(_, agent)) = element;
        let function = function(agent);
        if let Some(function) = function {
            errors.at(
                agent,
                messages::function_for_agent(function, &type_name(function)),
            );
        }
        function.is_none()
    });
    elements
}

/// `[("github_*", ToolPolicy::new().confirm())]`
fn policies(elements: Vec<Element>, errors: &Errors) -> Vec<(Expr, Expr)> {
    let pair = |element: Element| match element {
        Element::One(Expr::Tuple(pair)) if pair.elems.len() == 2 => {
            let mut parts = pair.elems.into_iter();
            parts.next().zip(parts.next())
        }
        Element::One(other) | Element::Spread(_, other) => {
            errors.at(&other, messages::policy_is_a_pair(written(&other)));
            None
        }
    };
    elements.into_iter().filter_map(pair).collect()
}

/// `tokens(500_000).time(minutes(30))`, as a budget is written where a run or a place in a team gets one.
fn is_budget(value: &Expr) -> bool {
    match value {
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Field(_) => true,
        // In small letters it is a bound without its value.
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|name| name.ident.to_string().chars().all(|c| !c.is_lowercase())),
        _ => false,
    }
}

fn budget(bounds: Result<Expr, Vec<Expr>>, errors: &Errors) -> Budget {
    let bounds = match bounds.map_err(<[Expr; 1]>::try_from) {
        Ok(value) => return Budget::Value(value),
        Err(Ok([value])) if is_budget(&value) => return Budget::Value(value),
        Err(Ok(one)) => Vec::from(one),
        Err(Err(bounds)) => bounds,
    };
    let mut calls: Vec<Call> = Vec::new();
    for bound in bounds {
        match pair(bound) {
            Ok((method, _)) if !keys::BUDGET.contains(&plain(&method).as_str()) => {
                errors.at(&method, suggest::unknown("bound", &method, keys::BUDGET));
            }
            Ok((method, _)) if calls.iter().any(|call| call.method == method) => {
                for again in calls.iter().filter(|call| call.method == method) {
                    errors.at(&again.method, messages::twice(&method));
                }
                errors.at(&method, messages::twice(&method));
            }
            Ok((method, Expr::Lit(number))) if method == "time" => errors.at(
                &number,
                suggest::duration_without_unit("the time", "time", &number.lit),
            ),
            Ok((method, value)) => calls.push(Call {
                method,
                argument: value.into_token_stream(),
            }),
            Err(other) => errors.at(&other, messages::budget_wants_values(written(&other))),
        }
    }
    Budget::Bounds(calls)
}
