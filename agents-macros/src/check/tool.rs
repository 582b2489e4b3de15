//! The rules for tools.

use super::{
    in_doubt, keys,
    on_error::{self, Of},
    params, settings,
    signature::{head, is_concrete, is_owned, is_plain, named},
    undo::{self, text},
};
use crate::{
    ast::{self, Element, Example},
    diag::Errors,
    keys::{APPROVALS, CACHES, CATEGORIES, RISKS, UNKNOWN_KEYS},
    messages,
    model::{Param, ParamKind, Tool},
    names::plain,
    suggest,
    syntax::{self, borrow_in, has_key, is_static, last_name, parameter_name, typed, written},
};
use syn::{Attribute, Expr, Ident, PatType, ReturnType, Signature, Type};

/// Checks the parts of a tool, each by itself. A part that is reported is left out, or read as the user probably meant
/// it.
pub(crate) fn tool_as_written(tool: &mut ast::Tool, errors: &Errors) {
    let ast::Tool {
        entries,
        function,
        examples: _,
        on_error,
        in_doubt,
        undo,
    } = tool;
    keys::entries("tool", entries, crate::keys::TOOL, errors);
    keys::value(entries, "category", &|value| {
        word("category", value, CATEGORIES, errors).is_some()
    });
    keys::value(entries, "timeout", &|value| timeout(value, errors));
    keys::value(entries, "cache", &|value| cache(value, errors));
    keys::value(entries, "approval", &|value| approval(value, errors));
    keys::value(entries, "risk", &|value| {
        bare_word("risk", value, RISKS, errors)
    });
    keys::value(entries, "unknown_keys", &|value| {
        bare_word("rule for unknown keys", value, UNKNOWN_KEYS, errors)
    });
    keys::value(entries, "effect_description", &|value| {
        undo::effect_description(value, errors)
    });
    keys::value(entries, "irreversible", &|value| {
        undo::said(value, messages::IRREVERSIBLE_WITHOUT_REASON, errors)
    });
    settings::elements(entries, "secrets", &|element| secret(element, errors));
    params::params(&mut function.sig, errors);
    result(&function.sig, errors);
    if let Some(arms) = on_error {
        on_error::arms_as_written(arms, Of::Tool(&injected(&function.sig)), errors);
    }
    if let Some(doubt) = in_doubt {
        in_doubt::in_doubt_as_written(doubt, errors);
    }
    if let Some(undo) = undo {
        undo::undo_as_written(undo, errors);
    }
}

/// Splits a value such as `ttl(time)` into one of the `known` words and its argument. Any other value is reported, and
/// gives `None`.
fn word<'v>(
    what: &str,
    value: &'v Expr,
    known: &[&str],
    errors: &Errors,
) -> Option<(&'v Ident, Option<&'v Expr>)> {
    let takes_one = |word: &Ident| word == "ttl" || word == "when";
    let is_call = matches!(value, Expr::Call(_));
    let found = syntax::word(value).filter(|(word, argument)| {
        known.contains(&plain(word).as_str()) && (argument.is_some() || !is_call || takes_one(word))
    });
    if found.is_none() {
        errors.at(value, suggest::unknown(what, written(value), known));
    }
    found
}

/// Checks that an element of `secrets = ["crm"]` is a name. Returns `false` if it is none, and is reported.
fn secret(element: &Element, errors: &Errors) -> bool {
    let (Element::One(name) | Element::Spread(_, name)) = element;
    let is_name = matches!(element, Element::One(_))
        && text(name).is_some_and(|text| !text.value().trim().is_empty());
    if !is_name {
        errors.at(name, messages::secret_is_a_name(written(name)));
    }
    is_name
}

/// Checks that `timeout = Duration::from_secs(2)` is no number without a unit. Returns `false` if the value is
/// reported.
fn timeout(value: &Expr, errors: &Errors) -> bool {
    match value {
        Expr::Lit(number) => {
            let message = suggest::duration_without_unit("a timeout", "timeout", &number.lit);
            errors.at(number, message);
            false
        }
        _ => true,
    }
}

/// Checks `risk = high`: one of the known words, alone. Returns `false` if the value is reported.
fn bare_word(key: &str, value: &Expr, known: &[&str], errors: &Errors) -> bool {
    match word(key, value, known, errors) {
        None => false,
        Some((word, Some(argument))) => {
            errors.at(argument, messages::takes_nothing(word));
            false
        }
        Some(_) => true,
    }
}

/// Checks `cache = forever` and `cache = ttl(Duration::from_secs(60))`. Returns `false` if the value is reported.
fn cache(value: &Expr, errors: &Errors) -> bool {
    if let Some(lifetime) = suggest::lifetime(value) {
        errors.at(value, messages::cache_for_a_time(lifetime));
        return false;
    }
    match word("cache", value, CACHES, errors) {
        None => false,
        Some((word, None)) if word == "ttl" => {
            errors.at(word, messages::LIFETIME_OF_A_CACHE);
            false
        }
        Some((word, Some(argument))) if word != "ttl" => {
            errors.at(argument, messages::takes_nothing(word));
            false
        }
        Some(_) => true,
    }
}

/// Checks `approval = always` and `approval = when(|args, cx| args.amount > 100)`. Returns `false` if the value is
/// reported.
fn approval(value: &mut Expr, errors: &Errors) -> bool {
    if matches!(value, Expr::Closure(_)) {
        errors.at(value, messages::approval_by_closure());
        return false;
    }
    let fits = match word("approval", value, APPROVALS, errors) {
        None => false,
        Some((word, None)) if word == "when" => {
            errors.at(word, messages::CONDITION_OF_APPROVAL);
            false
        }
        Some((word, Some(argument))) if word != "when" => {
            errors.at(argument, messages::takes_nothing(word));
            false
        }
        Some(_) => true,
    };
    if let Expr::Call(call) = value
        && let Some(asked) = call.args.first_mut().filter(|_| fits)
    {
        suggest::asked_with_both(asked, errors);
    }
    fits
}

/// Checks the return type of a tool: it is written in full, and borrows from no parameter.
fn result(sig: &Signature, errors: &Errors) {
    let ReturnType::Type(_, ty) = &sig.output else {
        return;
    };
    is_concrete(ty, "the result of a tool", errors);
    // Where it could not borrow from a parameter, rustc says so.
    let is_lent = |typed: &&PatType| matches!(&*typed.ty, Type::Reference(_));
    if borrow_in(ty).is_some_and(|reference| !is_static(&reference))
        && typed(sig).iter().any(is_lent)
    {
        is_owned(ty, "a tool", "its result", errors);
    }
}

/// Returns the names of the parameters that are injected.
fn injected(sig: &Signature) -> Vec<Ident> {
    let is_injected = |typed: &&PatType| {
        let mut attrs = typed.attrs.iter();
        attrs.any(|attribute| attribute.path().is_ident("inject"))
    };
    let injected = typed(sig).into_iter().filter(is_injected);
    injected.filter_map(parameter_name).cloned().collect()
}

/// Checks the rules for a tool as a whole: its effects, descriptions, function and examples, and its `on_error`,
/// `in_doubt` and `undo`. [`tool_as_written`] has checked each part by itself before, such as the return type.
pub(crate) fn tool(tool: &Tool, errors: &Errors) {
    effects(tool, errors);
    described(tool, errors);
    asynchronous(tool, errors);
    is_plain("tool", &tool.function, errors);
    named(&tool.function, &tool.ty, errors);
    examples(tool, errors);
    if let Some(block) = &tool.on_error {
        on_error::on_error(&block.written, true, errors);
    }
    if let Some(doubt) = &tool.in_doubt {
        in_doubt::in_doubt(tool, doubt, errors);
    }
    undo::irreversible(tool, errors);
    if let Some(undo) = &tool.undo {
        undo::undo(tool, undo, errors);
    }
}

/// Checks the effects of a tool, as in `#[tool(reads)]`: exactly one of the three, and none that contradicts
/// `external`, `cache` or `idempotent`.
fn effects(tool: &Tool, errors: &Errors) {
    match tool.effects.as_slice() {
        [] => errors.at(&tool.function.sig.ident, messages::no_effects(&tool.name)),
        [one] => {
            if let Some(external) = &tool.external
                && one == "none"
            {
                errors.at(external, messages::external_without_effects());
            }
            if let Some(cached) = &tool.cached
                && one == "writes"
            {
                errors.at(cached, messages::cached_write());
            }
            let of_writes = |key| tool.spec.iter().find(|call| call.method == key);
            if one != "writes" {
                if let Some(again) = of_writes("idempotent") {
                    errors.at(&again.method, messages::idempotent_without_writing(one));
                }
                if let Some(unknown) = of_writes("unknown_keys") {
                    errors.at(&unknown.method, messages::unknown_keys_without_writing());
                }
            }
        }
        several => {
            let names: Vec<String> = several.iter().map(plain).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for effect in several {
                errors.at(effect, messages::two_effects(&names));
            }
        }
    }
}

/// Checks that the tool and every argument are described: `/// Read a file's contents.`
fn described(tool: &Tool, errors: &Errors) {
    if tool.docs.is_empty() {
        errors.at(
            &tool.function.sig.ident,
            messages::undescribed("tool", &tool.name),
        );
    }
    for (param, _) in tool.arguments() {
        if param.docs.is_empty() {
            errors.at(
                &param.ident,
                messages::undescribed_argument(plain(&param.ident)),
            );
        }
    }
}

/// Checks that a tool is an async function with a body: `async fn read_file(..) { .. }`.
fn asynchronous(tool: &Tool, errors: &Errors) {
    let function = &tool.function;
    if !function.is_async() {
        errors.at(function.sig.fn_token, messages::not_async(&tool.name));
    }
    if !function.has_body() {
        errors.at(head(function), messages::no_body(&tool.name));
    }
}

/// Checks each `#[example(path = "a.txt")]`: every name is an argument of the tool, no name stands twice, and every
/// required argument is there.
fn examples(tool: &Tool, errors: &Errors) {
    let arguments = tool.arguments();
    let known: Vec<String> = arguments
        .iter()
        .map(|(param, _)| param.wire_name())
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let flattened = arguments.iter().any(|(_, attrs)| has_key(attrs, "flatten"));
    for Example { attribute, fields } in &tool.examples {
        if fields.is_empty() && !known.is_empty() {
            errors.at(attribute, messages::example_of_nothing(&tool.name));
            continue;
        }
        for (i, (name, _)) in fields.iter().enumerate() {
            if !known.contains(&plain(name).as_str()) && !flattened {
                errors.at(name, suggest::unknown("argument", plain(name), &known));
            } else if fields.iter().take(i).any(|(before, _)| before == name) {
                errors.at(name, messages::twice(name));
            }
        }
        for (param, attrs) in &arguments {
            let wanted = param.wire_name();
            let is_given = fields.iter().any(|(name, _)| plain(name) == wanted);
            if is_required(param, attrs) && !is_given {
                errors.at(attribute.path(), messages::example_leaves_out(wanted));
            }
        }
    }
}

/// Tells whether an example must name this argument. An argument with `#[serde(..)]` may be optional.
fn is_required(param: &Param, attrs: &[Attribute]) -> bool {
    matches!(param.kind, ParamKind::Argument(_))
        && last_name(&param.ty).is_some_and(|name| name != "Option")
        && attrs
            .iter()
            .all(|attribute| !attribute.path().is_ident("serde"))
}
