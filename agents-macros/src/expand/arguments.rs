//! Prints the arguments that a model sends to a tool.

use super::asserts;
use crate::{
    model::{Asked, Param, Tool},
    names::plain,
    paths::here,
    syntax::has_key,
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, ExprPath, LitStr, Meta, spanned::Spanned};

/// Prints the struct whose fields are the arguments that a model sends:
///
/// ```ignore
/// #[derive(::agents::__rt::serde::Deserialize, ::agents::__rt::schemars::JsonSchema)]
/// #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
/// #[schemars(crate = "::agents::__rt::schemars")]
/// pub struct ArgumentsOfReadFile
/// where
///     PathBuf: __rt::Argument,
/// {
///     /// Path, relative to the workspace.
///     path: <PathBuf as __rt::Argument>::Type,
/// }
/// ```
pub(super) fn arguments(tool: &Tool) -> TokenStream {
    let rt = &tool.rt;
    let (serde, schemars) = (rt.text("serde"), rt.text("schemars"));
    let arguments = tool.arguments();
    // serde knows no way to have both.
    let flattened = arguments.iter().any(|(_, attrs)| has_key(attrs, "flatten"));
    let strictly = (!flattened).then(|| quote!(, deny_unknown_fields));
    let (mut fields, mut defaults) = (Vec::new(), TokenStream::new());
    for (param, attrs) in arguments {
        let Param { ident, docs, .. } = param;
        let (ty, described) = field(param);
        let (attrs, default) = with_default(param, attrs);
        fields.push(quote!(#docs #(#attrs)* #described #ident: #ty));
        defaults.extend(default);
    }
    let (bounds, sent) = (bounds(tool), sent(tool));
    quote! {
        #[derive(#rt::serde::Deserialize, #rt::schemars::JsonSchema)]
        #[serde(crate = #serde #strictly)]
        #[schemars(crate = #schemars)]
        pub struct #sent where #(#bounds),* { #(#fields),* }
        #defaults
    }
}

/// Returns the name of the arguments' struct, such as `ArgumentsOfReadFile`. A closure in `approval = when(..)` takes
/// this type, so that messages name it.
pub(super) fn sent(tool: &Tool) -> Ident {
    format_ident!("ArgumentsOf{}", tool.ty, span = Span::call_site())
}

/// Returns a bound such as `PathBuf: __rt::Argument` for each argument whose type needs a trait.
pub(super) fn bounds(tool: &Tool) -> Vec<TokenStream> {
    let bound = |param: &Param| Some(asserts::bound(&param.ty, trait_of(param.asked())?));
    tool.arguments()
        .into_iter()
        .filter_map(|(param, _)| bound(param))
        .collect()
}

/// Prints the expression that passes an argument to the user's function: `__rt::Argument::unpack(args.path)` for
/// `args.path`.
pub(super) fn passed(param: &Param, sent: &TokenStream) -> TokenStream {
    let at = here(param.ty.span());
    match param.asked() {
        Asked::Both => quote_spanned!(at=> __rt::Argument::unpack(#sent)),
        Asked::Reading => quote_spanned!(at=> __rt::Readable::unpack(#sent)),
        Asked::Description | Asked::Nothing => sent.clone(),
    }
}

/// Returns the type of a field of the arguments' struct, and the type that schemars uses instead. A field with a reader
/// of the user's has its type as written.
fn field(param: &Param) -> (TokenStream, Option<TokenStream>) {
    let ty = &param.ty;
    match param.asked() {
        Asked::Both => (asserts::through(ty, "Argument"), None),
        Asked::Reading => (asserts::through(ty, "Readable"), None),
        Asked::Description => {
            let described = asserts::through(ty, "Described").to_string();
            (
                ty.to_token_stream(),
                Some(quote!(#[schemars(with = #described)])),
            )
        }
        Asked::Nothing => (ty.to_token_stream(), None),
    }
}

fn trait_of(asked: Asked) -> Option<&'static str> {
    match asked {
        Asked::Both => Some("Argument"),
        Asked::Reading => Some("Readable"),
        Asked::Description => Some("Described"),
        Asked::Nothing => None,
    }
}

/// Returns the attributes of an argument. If they have a `default = "path"`, they name a function of the macro's
/// instead, which is returned as well. It calls the user's function and has the argument's type, since schemars calls a
/// default's function without a hint at its type.
///
/// ```ignore
/// fn __default_of_words() -> Vec<String> { Vec::new() }
/// ```
fn with_default(param: &Param, attrs: &[Attribute]) -> (Vec<Attribute>, TokenStream) {
    let (ty, mut functions) = (&param.ty, TokenStream::new());
    let name = format_ident!(
        "__default_of_{}",
        plain(&param.ident),
        span = Span::call_site()
    );
    let mut typed = |attribute: &Attribute| {
        let mut attribute = attribute.clone();
        if let Meta::List(list) = &mut attribute.meta
            && list.path.is_ident("serde")
            && let Some((tokens, given)) = renamed(&list.tokens, &name)
        {
            list.tokens = tokens;
            functions.extend(quote!(fn #name() -> #ty { #given() }));
        }
        attribute
    };
    (attrs.iter().map(&mut typed).collect(), functions)
}

/// Replaces `default = "Vec::new"` by `default = "name"`, and returns the old path; `None` if there is no such default.
fn renamed(tokens: &TokenStream, name: &Ident) -> Option<(TokenStream, ExprPath)> {
    let mut tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let at = tokens.windows(3).position(|three| {
        matches!(three, [TokenTree::Ident(key), TokenTree::Punct(set), TokenTree::Literal(_)]
            if key == "default" && set.as_char() == '=')
    })? + 2;
    let path: LitStr = syn::parse2(tokens[at].clone().into()).ok()?;
    let given = path.parse().ok()?;
    let mut name = proc_macro2::Literal::string(&name.to_string());
    name.set_span(path.span());
    tokens[at] = name.into();
    Some((tokens.into_iter().collect(), given))
}

/// Returns a bound such as `PgPool: __rt::Injected` for each injected field.
pub(super) fn injected_bounds(tool: &Tool) -> Vec<TokenStream> {
    tool.fields()
        .into_iter()
        .map(|field| asserts::bound(&field.ty, "Injected"))
        .collect()
}

/// Returns all bounds of a tool's code: on arguments, on injected values, and on the result.
pub(super) fn all_bounds(tool: &Tool) -> Vec<TokenStream> {
    let (value, fault) = (asserts::value(&tool.returns), asserts::fault(&tool.returns));
    let mut bounds = bounds(tool);
    bounds.extend(injected_bounds(tool));
    bounds.push(asserts::bound(&value, "ToolOutput"));
    bounds.extend(fault.iter().map(|fault| asserts::bound(fault, "ToolFault")));
    bounds
}
