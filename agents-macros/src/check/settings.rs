//! The rules for the keys of `#[agent(..)]` that are settings.

use super::keys;
use crate::{
    ast::{Element, Entry, Value},
    diag::Errors,
    keys::{BUDGET, CONTEXT},
    messages,
    model::Budget,
    names::{plain, type_name},
    suggest,
    syntax::{deferring, function, pair, policy_of_context, written},
};
use syn::{Expr, ExprLit, Ident, Lit, RangeLimits};

/// Checks the values of an agent's settings, each by itself. A value that is reported is left out.
pub(super) fn settings(entries: &mut Vec<Entry>, errors: &Errors) {
    keys::value(entries, "model", &|value| model(value, errors));
    keys::value(entries, "purpose", &|value| purpose(value, errors));
    elements(entries, "tools", &|tool_| tool(tool_, errors));
    for entry in entries.iter_mut().filter(|entry| entry.key == "budget") {
        if let Value::Group(bounds) = &mut entry.value {
            budget(bounds, errors);
        }
    }
    keys::value(entries, "context", &|value| context(value, errors));
    elements(entries, "policies", &|element| policy(element, errors));
    elements(entries, "hand_off", &|element| agent(element, errors));
    elements(entries, "fixers", &|element| agent(element, errors));
}

/// Checks each element of the list of one key. An element for which `fits` returns `false` is left out.
pub(super) fn elements(entries: &mut [Entry], key: &str, fits: &dyn Fn(&Element) -> bool) {
    for entry in entries.iter_mut().filter(|entry| plain(&entry.key) == key) {
        if let Value::List(elements) = &mut entry.value {
            elements.retain(fits);
        }
    }
}

/// Checks that a model is more than its name: `model = ollama("qwen3:4b")`. Returns `false` if it is only a name, and
/// is reported.
fn model(value: &Expr, errors: &Errors) -> bool {
    match value {
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

/// Checks that a purpose is no text: `purpose = PurposeKey::Reasoning`. Returns `false` if it is text, and is reported.
pub(super) fn purpose(value: &Expr, errors: &Errors) -> bool {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => {
            errors.at(name, messages::purpose_as_text(&name.value()));
            false
        }
        _ => true,
    }
}

/// Checks an element of a list of tools, `[ReadFile, ..more]`, and returns `false` if it is reported: a function is not
/// its tool, `deferred(..)` needs dots before it, and a range is a spread that lost its comma.
fn tool(element: &Element, errors: &Errors) -> bool {
    let Element::One(tool) = element else {
        return true;
    };
    if let Some(function) = function(tool) {
        let message = messages::function_in_list(function, &type_name(function));
        errors.at(tool, message);
        return false;
    }
    if let Some(call) = deferring(tool) {
        let message = messages::deferred_without_dots(written(&call.args));
        errors.at(tool, message);
        return false;
    }
    if let Expr::Range(range) = tool
        && matches!(range.limits, RangeLimits::HalfOpen(_))
        && let Some(end) = &range.end
    {
        errors.at(range, messages::spread_of_a_list(written(end)));
        return false;
    }
    true
}

/// Checks an element of a list of agents, `[SqlFixer]`. Returns `false` if the element is reported.
fn agent(element: &Element, errors: &Errors) -> bool {
    let (Element::One(agent) | Element::Spread(_, agent)) = element;
    let function = function(agent);
    if let Some(function) = function {
        let message = messages::function_for_agent(function, &type_name(function));
        errors.at(agent, message);
    }
    function.is_none()
}

/// Checks an element of `policies`: `[("github_*", ToolPolicy::new().confirm())]`. Returns `false` if the element is
/// reported.
fn policy(element: &Element, errors: &Errors) -> bool {
    match element {
        Element::One(Expr::Tuple(pair)) if pair.elems.len() == 2 => true,
        Element::One(other) | Element::Spread(_, other) => {
            errors.at(other, messages::policy_is_a_pair(written(other)));
            false
        }
    }
}

/// Checks `context = trim(at = 0.75)` and `context = compact(at = 0.75, by = Summariser)`. Returns `false` if the value
/// is reported. Any other expression but a literal is left to rustc.
fn context(value: &Expr, errors: &Errors) -> bool {
    if let Expr::Lit(literal) = value {
        errors.at(literal, messages::context_is_a_policy());
        return false;
    }
    let Some((verb, parts)) = policy_of_context(value) else {
        return true;
    };
    let mut seen: Vec<Ident> = Vec::new();
    let mut fits = true;
    for part in parts {
        let (name, value) = match pair(part) {
            Ok(part) => part,
            Err(other) => {
                errors.at(
                    &other,
                    messages::context_wants_names(&verb, written(&other)),
                );
                fits = false;
                continue;
            }
        };
        let first = seen.iter().find(|first| **first == name);
        let problem = match (plain(&name).as_str(), &value) {
            _ if first.is_some() => Some(messages::twice(&name)),
            ("by", _) if verb == "trim" => Some(messages::trim_by().to_owned()),
            ("at", Expr::Lit(number)) if !is_share(&number.lit) => {
                errors.at(number, messages::no_share(written(&value)));
                fits = false;
                continue;
            }
            (known, _) if CONTEXT.contains(&known) => None,
            _ => Some(suggest::unknown("part", &name, CONTEXT)),
        };
        if let Some(problem) = problem {
            errors.at(&name, problem);
            fits = false;
        }
        seen.push(name);
    }
    if verb == "compact" && fits && !seen.iter().any(|name| name == "by") {
        errors.at(value, messages::compact_by_nobody());
        fits = false;
    }
    fits
}

/// Returns `true` for a number of more than 0 and at most 1.
fn is_share(number: &Lit) -> bool {
    let share: Option<f64> = match number {
        Lit::Float(share) => share.base10_parse().ok(),
        Lit::Int(share) => share.base10_parse().ok(),
        _ => None,
    };
    share.is_some_and(|share| share > 0.0 && share <= 1.0)
}

/// Checks `budget(max_turns = 10, tokens = 5_000)`: known bounds, each once and with a value. A bound that is reported
/// is left out.
fn budget(bounds: &mut Vec<Expr>, errors: &Errors) {
    if let [value] = bounds.as_slice()
        && Budget::is_value(value)
    {
        return;
    }
    let mut seen: Vec<Ident> = Vec::new();
    bounds.retain(|bound| {
        let (name, value) = match pair(bound.clone()) {
            Ok(bound) => bound,
            Err(other) => {
                let message = messages::budget_wants_values(written(&other));
                errors.at(&other, message);
                return false;
            }
        };
        if !BUDGET.contains(&plain(&name).as_str()) {
            errors.at(&name, suggest::unknown("bound", &name, BUDGET));
            return false;
        }
        if let Some(first) = seen.iter().find(|first| **first == name) {
            errors.at(first, messages::twice(&name));
            errors.at(&name, messages::twice(&name));
            return false;
        }
        if let Expr::Lit(number) = &value
            && name == "time"
        {
            let message = suggest::duration_without_unit("the time", "time", &number.lit);
            errors.at(number, message);
            return false;
        }
        seen.push(name);
        true
    });
}
