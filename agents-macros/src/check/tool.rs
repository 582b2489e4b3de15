//! The rules for tools.

use super::{head, is_plain, messages, named, names::plain, on_error};
use crate::{
    ast::InDoubt,
    diag::Errors,
    lower::last_name,
    model::{Example, Param, ParamKind, Tool},
};
use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Meta, Token, ext::IdentExt, parse::ParseStream};

/// Checks one tool.
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
        in_doubt(tool, doubt, errors);
    }
}

/// `in_doubt(key) => ..`, of a tool that is asked, and with a name that nothing else has.
fn in_doubt(tool: &Tool, doubt: &InDoubt, errors: &Errors) {
    if let [effect] = tool.effects.as_slice()
        && tool.is_never_in_doubt()
    {
        let why = match effect == "writes" {
            true => "idempotent".to_owned(),
            false => plain(effect),
        };
        errors.at(&doubt.keyword, messages::never_in_doubt(&tool.name, &why));
    }
    if let Some(key) = &doubt.key
        && tool
            .params
            .iter()
            .any(|param| plain(&param.ident) == plain(key))
    {
        errors.at(key, messages::key_is_a_parameter(key));
    }
}

/// `#[tool(reads)]`: exactly one of the three, and none that contradicts `external`, `cache` or `idempotent`.
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
            let mut calls = tool.spec.iter();
            if let Some(again) = calls.find(|call| call.method == "idempotent")
                && one != "writes"
            {
                errors.at(&again.method, messages::idempotent_without_writing(one));
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

/// `/// Read a file's contents.` above the function, and above every argument.
fn described(tool: &Tool, errors: &Errors) {
    if tool.docs.is_empty() {
        errors.at(
            &tool.function.sig.ident,
            messages::undescribed("tool", &tool.name),
        );
    }
    for (param, _) in tool.arguments().filter(|(param, _)| param.docs.is_empty()) {
        errors.at(
            &param.ident,
            messages::undescribed_argument(plain(&param.ident)),
        );
    }
}

/// `async fn read_file(..) { .. }`
fn asynchronous(tool: &Tool, errors: &Errors) {
    let function = &tool.function;
    if !function.is_async() {
        errors.at(function.sig.fn_token, messages::not_async(&tool.name));
    }
    if !function.has_body() {
        errors.at(head(function), messages::no_body(&tool.name));
    }
}

/// `#[example(path = "a.txt")]` names arguments, each once, and all that have to be there.
fn examples(tool: &Tool, errors: &Errors) {
    let known: Vec<String> = tool
        .arguments()
        .map(|(param, attrs)| wire_name(param, attrs))
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let flattened = tool.arguments().any(|(_, attrs)| says(attrs, "flatten"));
    for Example { attribute, fields } in &tool.examples {
        if fields.is_empty() && !known.is_empty() {
            errors.at(attribute, messages::example_of_nothing(&tool.name));
            continue;
        }
        for (i, (name, _)) in fields.iter().enumerate() {
            if !known.contains(&plain(name).as_str()) && !flattened {
                errors.at(name, messages::unknown("argument", plain(name), &known));
            } else if fields.iter().take(i).any(|(before, _)| before == name) {
                errors.at(name, messages::twice(name));
            }
        }
        let missing = tool
            .arguments()
            .filter(|(param, attrs)| is_required(param, attrs));
        for (param, attrs) in missing {
            let wanted = wire_name(param, attrs);
            if !fields.iter().any(|(name, _)| plain(name) == wanted) {
                errors.at(attribute.path(), messages::example_leaves_out(wanted));
            }
        }
    }
}

/// Whether a call cannot be read without it. In doubt it can.
fn is_required(param: &Param, attrs: &[Attribute]) -> bool {
    matches!(param.kind, ParamKind::Argument(_))
        && last_name(&param.ty).is_some_and(|name| name != "Option")
        && attrs
            .iter()
            .all(|attribute| !attribute.path().is_ident("serde"))
}

/// The name that the model is told: the parameter's, or what `#[serde(rename = "..")]` makes of it.
fn wire_name(param: &Param, attrs: &[Attribute]) -> String {
    let mut name = param.ident.unraw().to_string();
    for attribute in attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"))
    {
        let renamed = attribute.parse_args_with(|input: ParseStream<'_>| {
            let mut found = None;
            while !input.is_empty() {
                let key = input.parse::<TokenTree>()?.to_string();
                if key == "rename" && input.peek(Token![=]) {
                    input.parse::<Token![=]>()?;
                    found = input.parse::<Option<syn::LitStr>>()?;
                }
            }
            Ok(found)
        });
        if let Ok(Some(renamed)) = renamed {
            name = renamed.value();
        }
    }
    name
}

/// Whether a `#[serde(..)]` among `attrs` has the key.
pub(crate) fn says(attrs: &[Attribute], key: &str) -> bool {
    let has = |tokens: &TokenStream| {
        tokens
            .clone()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(ident) if ident == key))
    };
    attrs
        .iter()
        .any(|attribute| matches!(&attribute.meta, Meta::List(list) if has(&list.tokens)))
}
