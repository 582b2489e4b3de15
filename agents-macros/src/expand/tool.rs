//! The printer of tools.

use super::{asserts, fallback, hidden};
use crate::{
    check::{names::plain, says},
    model::{Call, Example, Param, ParamKind, Tool},
    paths::here,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// The function, its type, and what the runtime calls:
///
/// ```ignore
/// /// Read a file's contents.
/// pub async fn read_file(path: PathBuf, lines: Option<u32>) -> io::Result<String> { .. }
///
/// /// Read a file's contents.
/// #[derive(Clone, Copy, Debug, Default)]
/// pub struct ReadFile;
///
/// const _: () = {
///     use ::agents::__rt;
///     pub struct __Args { path: PathBuf, lines: Option<u32> }
///     impl __rt::Tool for ReadFile { .. }
/// };
/// ```
pub(crate) fn tool(tool: &Tool) -> TokenStream {
    let Tool { rt, function, cfgs, docs, .. } = tool;
    let definition = definition(tool);
    let items = if tool.broken {
        fallback::tool(&tool.ty)
    } else {
        let (arguments, implementation) = (arguments(tool), implementation(tool));
        let probe = asserts::no_hidden_result(&tool.returns);
        quote!(#arguments #implementation #probe)
    };
    let items = hidden(rt, cfgs, &items);
    quote!(#docs #function #definition #items)
}

/// A unit, or a struct with what is injected:
///
/// ```ignore
/// /// Search the shop.
/// #[derive(Clone)]
/// pub struct Search { pub pool: PgPool }
/// ```
fn definition(tool: &Tool) -> TokenStream {
    let Tool { cfgs, docs, ty, .. } = tool;
    let vis = &tool.function.vis;
    if tool.is_unit() {
        return quote! {
            #docs #(#cfgs)*
            #[derive(Clone, Copy, Debug, Default)]
            #vis struct #ty;
        };
    }
    let fields = tool.fields().map(|Param { ident, ty, docs, .. }| {
        let described = format!(" Handed to [`{}`] with every call.", tool.name);
        let docs = if docs.is_empty() { quote!(#[doc = #described]) } else { quote!(#docs) };
        quote!(#docs #vis #ident: #ty)
    });
    quote! {
        #docs #(#cfgs)*
        #[derive(Clone)]
        #vis struct #ty { #(#fields),* }
    }
}

/// What the model has to send:
///
/// ```ignore
/// #[derive(__rt::serde::Deserialize, __rt::schemars::JsonSchema)]
/// #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
/// #[schemars(crate = "::agents::__rt::schemars")]
/// pub struct __Args {
///     /// Path, relative to the workspace.
///     path: <PathBuf as __rt::Argument>::Type,
/// }
/// ```
fn arguments(tool: &Tool) -> TokenStream {
    let (serde, schemars) = (tool.rt.text("serde"), tool.rt.text("schemars"));
    // serde knows no way to have both.
    let flattened = tool.arguments().any(|(_, attrs)| says(attrs, "flatten"));
    let strictly = (!flattened).then(|| quote!(, deny_unknown_fields));
    let fields = tool.arguments().map(|(Param { ident, ty, docs, .. }, attrs)| {
        let ty = asserts::argument(ty);
        quote!(#docs #(#attrs)* #ident: #ty)
    });
    quote! {
        #[derive(__rt::serde::Deserialize, __rt::schemars::JsonSchema)]
        #[serde(crate = #serde #strictly)]
        #[schemars(crate = #schemars)]
        pub struct __Args { #(#fields),* }
    }
}

/// ```ignore
/// impl __rt::Tool for ReadFile {
///     type Args = __Args;
///     type Ok = <io::Result<String> as __rt::Returns>::Ok;
///     type Err = <io::Result<String> as __rt::Returns>::Err;
///     fn spec(&self) -> &__rt::ToolSpec { .. }
///     async fn call(&self, args: __Args, cx: &__rt::ToolContext) -> __rt::Result<Self::Ok, Self::Err> { .. }
///     fn failure(error: &Self::Err) -> (__rt::Code, __rt::Option<__rt::Duration>) { .. }
///     fn needs_approval(&self, args: &__Args, cx: &__rt::ToolContext) -> bool { .. }
/// }
/// ```
fn implementation(tool: &Tool) -> TokenStream {
    let ty = &tool.ty;
    let (ok, err) = (asserts::tool_output(&tool.returns), asserts::tool_fault(&tool.returns));
    let (spec, call) = (spec(tool), call(tool));
    let (failure, needs_approval) = (failure(tool), needs_approval(tool));
    quote! {
        #[automatically_derived]
        impl __rt::Tool for #ty {
            type Args = __Args;
            type Ok = #ok;
            type Err = #err;
            #spec
            #call
            #failure
            #needs_approval
        }
    }
}

/// ```ignore
/// fn spec(&self) -> &__rt::ToolSpec {
///     static SPEC: __rt::LazyLock<__rt::ToolSpec> = __rt::LazyLock::new(|| {
///         __rt::ToolSpec::of::<__Args>("read_file", "Read a file's contents.", __rt::Effects::Reads)
///             .timeout(Duration::from_secs(2))
///             .output_schema((&__rt::SchemaProbe::<<ReadFile as __rt::Tool>::Ok>::NEW).output_schema())
///     });
///     &SPEC
/// }
/// ```
fn spec(tool: &Tool) -> TokenStream {
    let (ty, name, description) = (&tool.ty, &tool.name, tool.docs.text());
    let effect = tool.effects.first().map_or_else(
        || quote!(None),
        |effect| {
            let variant = crate::check::names::type_name(effect);
            quote!(#variant)
        },
    );
    let calls = tool.spec.iter().map(|Call { method, argument }| quote!(.#method(#argument)));
    let examples = tool.examples.iter().map(example);
    quote! {
        fn spec(&self) -> &__rt::ToolSpec {
            #[allow(unused_imports)]
            use __rt::NoSchema as _;
            static SPEC: __rt::LazyLock<__rt::ToolSpec> = __rt::LazyLock::new(|| {
                __rt::ToolSpec::of::<__Args>(#name, #description, __rt::Effects::#effect)
                    #(#calls)*
                    #(#examples)*
                    .output_schema((&__rt::SchemaProbe::<<#ty as __rt::Tool>::Ok>::NEW).output_schema())
            });
            &SPEC
        }
    }
}

/// `.example(__rt::serde_json::json!({ "path": "a.txt" }))`
fn example(example: &Example) -> TokenStream {
    let Example { attribute, fields } = example;
    let names = fields.iter().map(|(name, _)| plain(name));
    let values = fields.iter().map(|(_, value)| value);
    quote_spanned! {here(attribute.span())=>
        .example(__rt::serde_json::json!({ #(#names: #values),* }))
    }
}

/// ```ignore
/// async fn call(&self, args: __Args, cx: &__rt::ToolContext) -> __rt::Result<Self::Ok, Self::Err> {
///     read_file(args.path, args.lines).await
/// }
/// ```
fn call(tool: &Tool) -> TokenStream {
    // Names of the macro's own: a tool may well be called `args`.
    let args = Ident::new("args", Span::mixed_site());
    let cx = Ident::new("cx", Span::mixed_site());
    let passed = tool.params.iter().map(|Param { ident, ty, kind, .. }| {
        let at = here(ty.span());
        match kind {
            ParamKind::Argument(_) => quote_spanned!(at=> #args.#ident),
            ParamKind::Injected { by_reference: true } => quote_spanned!(at=> &self.#ident),
            ParamKind::Injected { by_reference: false } => quote_spanned!(at=> __rt::Clone::clone(&self.#ident)),
            ParamKind::Context => quote!(#cx),
        }
    });
    let function = &tool.function.sig.ident;
    let value = quote_spanned!(here(function.span())=> #function(#(#passed),*).await);
    let result = if tool.returns.is_result() { value } else { quote!(__rt::Ok(#value)) };
    let args = if tool.arguments().next().is_some() { quote!(#args) } else { quote!(_) };
    let cx = if tool.takes_context() { quote!(#cx) } else { quote!(_) };
    quote_spanned! {here(function.span())=>
        async fn call(&self, #args: __Args, #cx: &__rt::ToolContext) -> __rt::Result<Self::Ok, Self::Err> {
            #result
        }
    }
}

/// ```ignore
/// fn failure(error: &Self::Err) -> (__rt::Code, __rt::Option<__rt::Duration>) {
///     use __rt::NoFacts as _;
///     (&__rt::FailureProbe(error)).facts()
/// }
/// ```
fn failure(tool: &Tool) -> Option<TokenStream> {
    tool.returns.is_result().then(|| {
        quote! {
            fn failure(error: &Self::Err) -> (__rt::Code, __rt::Option<__rt::Duration>) {
                #[allow(unused_imports)]
                use __rt::NoFacts as _;
                (&__rt::FailureProbe(error)).facts()
            }
        }
    })
}

/// ```ignore
/// fn needs_approval(&self, args: &__Args, cx: &__rt::ToolContext) -> bool {
///     __rt::ask(args, cx, |args, cx| args.amount > 100)
/// }
/// ```
fn needs_approval(tool: &Tool) -> Option<TokenStream> {
    let when = tool.when.as_ref()?;
    Some(quote_spanned! {here(when.span())=>
        fn needs_approval(&self, args: &__Args, cx: &__rt::ToolContext) -> bool {
            __rt::ask(args, cx, #when)
        }
    })
}
