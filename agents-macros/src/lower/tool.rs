//! A tool, from its function and the keys of `#[tool(..)]`.

use super::{
    Of, cfgs,
    docs::Docs,
    keys::{Keys, pair, word},
    params::params,
    returns::{self, refuse_impl_trait, returns},
    strip_parameters, written,
};
use crate::{
    ast,
    check::{
        messages,
        names::{plain, type_name},
    },
    diag::Errors,
    model::{Call, Example, Returns, Tool},
    parse::{arguments, keys},
};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Expr, FnArg, Ident, LitStr, Meta, MetaList, Pat, Safety, Signature, Type,
    parse_quote,
};

/// What the user meant by `tool`.
pub(crate) fn tool(tool: ast::Tool, errors: &Errors) -> Tool {
    let ast::Tool {
        entries,
        mut function,
        on_error,
        in_doubt,
    } = tool;
    let mut keys = Keys::new("tool", entries, keys::TOOL, errors);
    let rt = keys.rt();
    let effects = keys::EFFECTS
        .iter()
        .filter_map(|effect| keys.flag(effect))
        .collect();
    let external = keys.flag("external");
    let Spec {
        calls: spec,
        when,
        deprecated,
        cached,
    } = spec(&mut keys, external.as_ref(), errors);

    let examples: Vec<Attribute> = function
        .attrs
        .extract_if(.., |attribute| attribute.path().is_ident("example"))
        .collect();
    let examples = examples
        .into_iter()
        .filter_map(|attribute| example(attribute, &function.sig.ident, errors))
        .collect();

    let wanted = function.sig.inputs.len();
    let params: Vec<_> = params(&function.sig, errors)
        .into_iter()
        .flatten()
        .collect();
    let returns = returns(&function.sig);
    let opaque = match &returns {
        Returns::Nothing(_) => false,
        Returns::Value(ty) | Returns::Result(ty) => {
            refuse_impl_trait(ty, "the result of a tool", errors)
        }
    };
    let generic =
        !function.sig.generics.params.is_empty() || function.sig.generics.where_clause.is_some();
    let special = !function.is_async()
        || !function.has_body()
        || matches!(function.sig.safety, Safety::Unsafe(_));
    let lent = returns::lent(&returns);
    if let Some(reference) = lent.as_ref().filter(|_| lends(&function.sig)) {
        let instead = returns::owned(reference);
        errors.at(
            reference,
            messages::borrowed("a tool", "its result", instead),
        );
    }
    // Nothing outside of the function can name what it takes as a parameter, or borrows from one.
    let returns = match generic || lent.is_some() {
        true => Returns::Nothing(function.sig.ident.span()),
        false => returns,
    };
    let broken = params.len() < wanted || opaque || generic || special || lent.is_some();

    strip_parameters(&mut function);
    let name = plain(&function.sig.ident);
    let ty = type_name(&function.sig.ident);
    let cfgs = cfgs(&function.attrs);
    let docs = Docs::take(&mut function.attrs);
    let injected = params.iter().filter(|param| param.is_injected());
    let injected: Vec<Ident> = injected.map(|param| param.ident.clone()).collect();
    let on_error =
        on_error.map(|arms| super::on_error::on_error(arms, Of::Tool(&injected), errors));
    let in_doubt = in_doubt.map(|doubt| super::in_doubt(doubt, errors));
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
        params,
        examples,
        returns,
        on_error,
        in_doubt,
        broken,
    }
}

/// Whether a result could borrow from a parameter. Where it could not, rustc says so.
fn lends(sig: &Signature) -> bool {
    let is_lent = |input: &FnArg| matches!(input, FnArg::Typed(typed) if matches!(&*typed.ty, Type::Reference(_)));
    sig.inputs.iter().any(is_lent)
}

/// What the keys say of a spec.
struct Spec {
    calls: Vec<Call>,
    when: Option<Expr>,
    deprecated: Option<LitStr>,
    cached: Option<Ident>,
}

/// The calls on `ToolSpec`, in an order in which none undoes another: `external` asks for approval,
/// so `approval` comes after it.
fn spec(keys: &mut Keys<'_>, external: Option<&Ident>, errors: &Errors) -> Spec {
    let mut calls = Vec::new();
    let mut call = |method: Ident, argument: TokenStream| calls.push(Call { method, argument });
    if let Some((key, version)) = keys.words("version") {
        call(key, version.into_token_stream());
    }
    if let Some((key, time)) = keys.flag_for("idempotent") {
        let method = Ident::new("idempotent_for", key.span());
        call(key, TokenStream::new());
        match &time {
            Some(Expr::Lit(number)) => errors.at(
                number,
                messages::duration_without_unit("a time", "for", &number.lit),
            ),
            Some(time) => call(method, time.into_token_stream()),
            None => {}
        }
    }
    if let Some(key) = external {
        call(key.clone(), TokenStream::new());
    }
    if let Some((key, value)) = keys.value("category")
        && let Some((word, _)) = word("category", value, keys::CATEGORIES, errors)
    {
        let variant = variant(&word);
        call(key, quote!(__rt::Category::#variant));
    }
    if let Some((key, timeout)) = keys.value("timeout") {
        match &timeout {
            Expr::Lit(number) => errors.at(
                number,
                messages::duration_without_unit("a timeout", "timeout", &number.lit),
            ),
            _ => call(key, timeout.into_token_stream()),
        }
    }
    let mut cached = None;
    let cache = keys
        .value("cache")
        .filter(|(_, value)| !is_lifetime(value, errors));
    if let Some((key, value)) = cache
        && let Some((word, argument)) = word("cache", value, keys::CACHES, errors)
    {
        let variant = variant(&word);
        cached = (word != "none").then(|| key.clone());
        match (word == "ttl", argument) {
            (true, Some(lifetime)) => call(key, quote!(__rt::Cache::#variant(#lifetime))),
            (false, None) => call(key, quote!(__rt::Cache::#variant)),
            (true, None) => errors.at(
                &word,
                "say for how long: `cache = ttl(Duration::from_secs(60))`",
            ),
            (false, Some(argument)) => errors.at(argument, messages::takes_nothing(&word)),
        }
    }
    let mut when = None;
    let approval = keys
        .value("approval")
        .filter(|(_, value)| !is_closure(value, errors));
    if let Some((key, value)) = approval
        && let Some((word, argument)) = word("approval", value, keys::APPROVALS, errors)
    {
        let variant = variant(&word);
        match (word == "when", argument) {
            (true, None) => errors.at(
                &word,
                "say when: `approval = when(|args, cx| args.amount > 100)`",
            ),
            (false, Some(argument)) => errors.at(argument, messages::takes_nothing(&word)),
            (_, argument) => {
                when = argument.map(|asked| asked_with_both(asked, errors));
                call(key, quote!(__rt::Approval::#variant));
            }
        }
    }
    for flag in ["strict", "sequential"] {
        if let Some(key) = keys.flag(flag) {
            call(key, TokenStream::new());
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

/// `forever` to `Forever`, at the same place.
fn variant(word: &Ident) -> Ident {
    let variant = type_name(word);
    format_ident!("{variant}", span = word.span())
}

/// `approval = |args, cx| ..`
fn is_closure(value: &Expr, errors: &Errors) -> bool {
    let is_closure = matches!(value, Expr::Closure(_));
    if is_closure {
        errors.at(value, messages::approval_by_closure());
    }
    is_closure
}

/// `cache = Duration::from_secs(60)`, `cache = 60`
fn is_lifetime(value: &Expr, errors: &Errors) -> bool {
    let is_of_a_type =
        |name: &Expr| matches!(name, Expr::Path(path) if path.path.segments.len() > 1);
    let lifetime = match value {
        Expr::Lit(number) => messages::seconds(&number.lit),
        Expr::Call(call) if is_of_a_type(&call.func) => Some(written(value)),
        _ => None,
    };
    if let Some(lifetime) = &lifetime {
        errors.at(value, messages::cache_for_a_time(lifetime));
    }
    lifetime.is_some()
}

/// `when(|args| ..)` as `when(|args, _| ..)`
fn asked_with_both(mut asked: Expr, errors: &Errors) -> Expr {
    if let Expr::Closure(closure) = &mut asked
        && let (Some(args), 1) = (closure.inputs.first(), closure.inputs.len())
    {
        errors.at(args, messages::approval_without_context(pattern(args)));
        closure.inputs.push(parse_quote!(_));
    }
    asked
}

/// `args` in `args: &_`
fn pattern(input: &Pat) -> String {
    match input {
        Pat::Type(typed) => pattern(&typed.pat),
        other => written(other),
    }
}

/// The example, if it can be read.
fn example(attribute: Attribute, tool: &Ident, errors: &Errors) -> Option<Example> {
    let is_list = matches!(&attribute.meta, Meta::List(list) if !is_json(list));
    if !is_list {
        errors.at(&attribute, messages::example_of_nothing(tool));
        return None;
    }
    let (mut fields, mut is_read) = (Vec::new(), true);
    for value in arguments(&attribute, errors) {
        match pair(value) {
            Ok(field) => fields.push(field),
            Err(other) => {
                is_read = false;
                errors.at(other, messages::EXAMPLE_WITHOUT_NAMES);
            }
        }
    }
    is_read.then_some(Example { attribute, fields })
}

/// `#[example({"path": "a.txt"})]`
fn is_json(list: &MetaList) -> bool {
    let first = list.tokens.clone().into_iter().next();
    matches!(first, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}
