//! Tools.

use super::{cfgs, keys::Keys, params::params, strip_parameters};
use crate::{
    ast::{self, Element},
    keys,
    model::{Call, Docs, Param, Returns, Tool, placeholders},
    names::{plain, type_name},
    syntax::{borrow_in, is_generic, is_opaque, is_static, word},
};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, Ident, LitStr, Safety};

/// Turns the checked syntax of a tool into the model from which code is printed.
pub(crate) fn tool(tool: ast::Tool) -> Tool {
    let ast::Tool {
        entries,
        mut function,
        examples,
        on_error,
        in_doubt,
        undo,
    } = tool;
    let mut keys = Keys(entries);
    let rt = keys.rt();
    let effects = keys::EFFECTS
        .iter()
        .filter_map(|effect| keys.flag(effect))
        .collect();
    let external = keys.flag("external");
    let named = keys.name();
    let irreversible = keys.text("irreversible");
    let effect = keys.text("effect_description");
    let Spec {
        calls: mut spec,
        when,
        deprecated,
        cached,
    } = spec(&mut keys, external.as_ref());

    let wanted = function.sig.inputs.len();
    let params = params(&function.sig);
    let returns = Returns::of(&function.sig);
    let effect = effect.map(|(key, text)| {
        let argument = in_wire_names(&text, &params).into_token_stream();
        spec.push(Call {
            method: key,
            argument,
        });
        text
    });
    let irreversible = irreversible.map(|(key, why)| {
        spec.push(Call {
            method: key.clone(),
            argument: why.into_token_stream(),
        });
        key
    });
    let opaque = returns.ty().is_some_and(is_opaque);
    let generic = is_generic(&function.sig);
    let special = !function.is_async()
        || !function.has_body()
        || matches!(function.sig.safety, Safety::Unsafe(_));
    let borrowed = returns.ty().and_then(borrow_in);
    let lent = borrowed.is_some_and(|reference| !is_static(&reference));
    // Nothing outside of the function can name what it takes as a parameter, or borrows from one.
    let returns = match generic || lent {
        true => Returns::Nothing(function.sig.ident.span()),
        false => returns,
    };
    let broken = params.len() < wanted || opaque || generic || special || lent;

    strip_parameters(&mut function);
    let named = named.unwrap_or_else(|| function.sig.ident.clone());
    let (name, ty) = (plain(&named), type_name(&named));
    let cfgs = cfgs(&function.attrs);
    let docs = Docs::take(&mut function.attrs);
    let on_error = on_error.map(super::on_error::on_error);
    let in_doubt = in_doubt.map(super::in_doubt);
    let undo = undo.map(super::undo);
    Tool {
        rt,
        function,
        cfgs,
        docs,
        ty,
        name,
        effects,
        external,
        spec,
        when,
        deprecated,
        cached,
        irreversible,
        effect,
        params,
        examples,
        returns,
        on_error,
        in_doubt,
        undo,
        broken,
    }
}

/// The parts of a tool's `ToolSpec` that the keys of `#[tool(..)]` give.
struct Spec {
    calls: Vec<Call>,
    when: Option<Expr>,
    deprecated: Option<LitStr>,
    cached: Option<Ident>,
}

/// Takes the keys that describe the tool. The calls on `ToolSpec` come in an order in which none undoes another:
/// `external` asks for approval, so `approval` comes after it.
fn spec(keys: &mut Keys, external: Option<&Ident>) -> Spec {
    let mut calls = Vec::new();
    let mut call = |method: Ident, argument: TokenStream| calls.push(Call { method, argument });
    if let Some((key, version)) = keys.value("version") {
        call(key, version.into_token_stream());
    }
    if let Some((key, time)) = keys.flag_for("idempotent") {
        let method = Ident::new("idempotent_for", key.span());
        call(key, TokenStream::new());
        if let Some(time) = time {
            call(method, time.into_token_stream());
        }
    }
    if let Some(key) = external {
        call(key.clone(), TokenStream::new());
    }
    if let Some((key, value)) = keys.value("category")
        && let Some((word, _)) = word(&value)
    {
        let variant = variant(word);
        call(key, quote!(__rt::Category::#variant));
    }
    if let Some((key, timeout)) = keys.value("timeout") {
        call(key, timeout.into_token_stream());
    }
    let mut cached = None;
    if let Some((key, value)) = keys.value("cache")
        && let Some((word, lifetime)) = word(&value)
    {
        let variant = variant(word);
        let lifetime = lifetime.map(|lifetime| quote!((#lifetime)));
        cached = (word != "none").then(|| key.clone());
        call(key, quote!(__rt::Cache::#variant #lifetime));
    }
    let mut when = None;
    if let Some((key, value)) = keys.value("approval")
        && let Some((word, asked)) = word(&value)
    {
        let variant = variant(word);
        when = asked.cloned();
        call(key, quote!(__rt::NeedsApproval::#variant));
    }
    if let Some((key, value)) = keys.value("risk")
        && let Some((word, _)) = word(&value)
    {
        let variant = variant(word);
        call(key, quote!(__rt::Risk::#variant));
    }
    if let Some((key, value)) = keys.value("unknown_keys")
        && let Some((word, _)) = word(&value)
    {
        let variant = variant(word);
        call(key, quote!(__rt::UnknownKeys::#variant));
    }
    for flag in ["strict", "sequential", "polls"] {
        if let Some(key) = keys.flag(flag) {
            call(key, TokenStream::new());
        }
    }
    if let Some((key, names)) = keys.list("secrets") {
        let method = Ident::new("secret", key.span());
        for element in names {
            let (Element::One(name) | Element::Spread(_, name)) = element;
            call(method.clone(), name.into_token_stream());
        }
    }
    let deprecated = keys.text("deprecated").map(|(key, note)| {
        call(key, note.to_token_stream());
        note
    });
    Spec {
        calls,
        when,
        deprecated,
        cached,
    }
}

/// Returns an `effect_description` with the names that models use for the arguments, and without formats: `{amount:?}`
/// becomes `{amount}`.
fn in_wire_names(text: &LitStr, params: &[Param]) -> LitStr {
    let words = text.value();
    let (mut named, mut from) = (String::new(), 0);
    for placeholder in placeholders(&words) {
        let name = placeholder.name;
        let param = params.iter().find(|param| plain(&param.ident) == name);
        named.push_str(&words[from..placeholder.at.start]);
        named.push_str(&param.map_or_else(|| name.to_owned(), Param::wire_name));
        from = placeholder.at.end;
    }
    named.push_str(&words[from..]);
    LitStr::new(&named, text.span())
}

/// Returns the variant's name for a word, at the same place: `Forever` for `forever`.
fn variant(word: &Ident) -> Ident {
    let variant = type_name(word);
    format_ident!("{variant}", span = word.span())
}
