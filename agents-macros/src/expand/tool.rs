//! Prints tools.

use super::{
    arguments::{all_bounds, arguments, bounds, injected_bounds, passed, sent},
    asserts, fallback, generated_type, hidden, in_doubt, on_error, undo,
};
use crate::{
    ast::Example,
    model::{Call, Param, ParamKind, Tool},
    names::{plain, type_name},
    paths::{Rt, here},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// Prints all code of a tool: the function, its type, and the code that the runtime calls:
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
///     impl __rt::GeneratedType for ReadFile {}
///     pub struct ArgumentsOfReadFile where .. { path: .., lines: .. }
///     impl __rt::Tool for ReadFile { .. }
/// };
/// ```
pub(crate) fn tool(tool: &Tool) -> TokenStream {
    let Tool {
        rt,
        function,
        cfgs,
        docs,
        ..
    } = tool;
    // A method stands in an `impl`, where there can be nothing beside it.
    if tool.clashes() || function.sig.receiver().is_some() {
        return quote!(#docs #function);
    }
    let function = function.has_body().then(|| quote!(#docs #function));
    let definition = definition(tool);
    let items = if tool.broken {
        fallback::tool(tool)
    } else {
        let (arguments, implementation) = (arguments(tool), implementation(tool));
        let probe = asserts::no_hidden_result(&tool.returns);
        quote!(#arguments #implementation #probe)
    };
    let (marked, cloned) = (generated_type::marked(&tool.ty), cloned(tool));
    let items = quote!(#marked #cloned #items);
    let items = hidden(rt, cfgs, &items);
    // What warns its users does not warn itself.
    let silent = tool
        .deprecated
        .is_some()
        .then(|| quote!(#[allow(deprecated)]));
    quote!(#function #definition #silent #items)
}

/// Prints the type of a tool: a unit, or a struct with the injected values. A constant stands for a value of the
/// struct: its type tells whoever forgets the fields how the tool is written.
///
/// ```ignore
/// /// Search the shop.
/// pub struct Search { pub pool: PgPool }
/// #[doc(hidden)]
/// pub const Search: ::agents::__rt::Uninjected<Search> = ::agents::__rt::Uninjected::NEW;
/// ```
fn definition(tool: &Tool) -> TokenStream {
    let Tool {
        rt, cfgs, docs, ty, ..
    } = tool;
    let vis = &tool.function.vis;
    let deprecated = deprecated(tool);
    if tool.is_unit() {
        let attributes = quote! {
            #docs #(#cfgs)* #deprecated
            #[derive(Clone, Copy, Debug, Default)]
        };
        return generated_type::definition(rt, &attributes, vis, ty, None);
    }
    let fields = tool.fields().into_iter().map(
        |Param {
             ident, ty, docs, ..
         }| {
            let described = format!(" Handed to [`{}`] with every call.", tool.name);
            let docs = if docs.is_empty() {
                quote!(#[doc = #described])
            } else {
                quote!(#docs)
            };
            quote!(#docs #vis #ident: #ty)
        },
    );
    let fields = quote!(#(#fields),*);
    let attributes = quote!(#docs #(#cfgs)* #deprecated);
    let definition = generated_type::definition(rt, &attributes, vis, ty, Some(&fields));
    // Named by the macro: that nobody uses it is no news, and it does not make the struct one that is used.
    let bare = Ident::new(&ty.to_string(), here(ty.span()));
    quote! {
        #definition
        #[doc(hidden)] #(#cfgs)*
        #[allow(deprecated, non_upper_case_globals)]
        #vis const #bare: #rt::Uninjected<#ty> = #rt::Uninjected::NEW;
    }
}

/// Prints `Clone` for a tool with fields. A bound reports a type that cannot be cloned.
///
/// ```ignore
/// impl __rt::Clone for Search
/// where
///     PgPool: __rt::Injected,
/// {
///     fn clone(&self) -> Self { Search { pool: __rt::Injected::copied(&self.pool) } }
/// }
/// ```
fn cloned(tool: &Tool) -> Option<TokenStream> {
    let (ty, bounds) = (&tool.ty, injected_bounds(tool));
    let fields = tool.fields().into_iter().map(|field| &field.ident);
    (!tool.is_unit()).then(|| {
        quote! {
            #[automatically_derived]
            impl __rt::Clone for #ty where #(#bounds),* {
                fn clone(&self) -> Self {
                    #ty { #(#fields: __rt::Injected::copied(&self.#fields)),* }
                }
            }
        }
    })
}

/// Prints `#[deprecated(note = "use read_file 2")]`, which tells whoever names the tool.
fn deprecated(tool: &Tool) -> Option<TokenStream> {
    let note = tool.deprecated.as_ref()?;
    Some(quote!(#[deprecated(note = #note)]))
}

/// Prints the `Tool` implementation:
///
/// ```ignore
/// impl __rt::Tool for ReadFile
/// where
///     PathBuf: __rt::Argument,
///     <io::Result<String> as __rt::Returns>::Ok: __rt::ToolOutput,
///     <io::Result<String> as __rt::Returns>::Err: __rt::ToolFault,
/// {
///     type Args = ArgumentsOfReadFile;
///     type Ok = <<io::Result<String> as __rt::Returns>::Ok as __rt::ToolOutput>::Type;
///     type Err = <<io::Result<String> as __rt::Returns>::Err as __rt::ToolFault>::Type;
///     fn spec(&self) -> &__rt::ToolSpec { .. }
///     async fn call(&self, args: ArgumentsOfReadFile, cx: &__rt::ToolContext) -> __rt::Result<Self::Ok, Self::Err> { .. }
///     fn failure(error: &Self::Err) -> (__rt::Code, __rt::Option<__rt::Duration>) { .. }
///     fn on_error(&self, error: __rt::CallError<'_, Self::Err>, cx: &__rt::ErrorContext) -> __rt::Option<__rt::Plan> { .. }
///     fn fixers(&self) -> __rt::Vec<__rt::Arc<dyn __rt::Fixer>> { .. }
///     fn hash_instance(&self, state: &mut dyn __rt::Hasher) { .. }
///     async fn in_doubt(&self, args: ArgumentsOfReadFile, cx: &__rt::ToolContext) -> __rt::InDoubt<Self::Ok> { .. }
///     async fn undo(&self, args: ArgumentsOfReadFile, output: __rt::StoredOutput<Self::Ok>, cx: &__rt::ToolContext) -> __rt::Result<__rt::Undone, __rt::ToolError> { .. }
///     fn needs_approval(&self, args: &ArgumentsOfReadFile, cx: &__rt::ToolContext) -> bool { .. }
/// }
/// impl __rt::OnError for ReadFile { .. }
/// ```
fn implementation(tool: &Tool) -> TokenStream {
    let (ty, sent) = (&tool.ty, sent(tool));
    let (value, fault) = (asserts::value(&tool.returns), asserts::fault(&tool.returns));
    let bounds = all_bounds(tool);
    let ok = asserts::through(&value, "ToolOutput");
    let (err, with, unpacked) = match &fault {
        Some(fault) => (
            asserts::through(fault, "ToolFault"),
            fault.clone(),
            quote!(__rt::unpacked::<#fault>(error)),
        ),
        None => (
            quote!(__rt::Infallible),
            quote!(__rt::Infallible),
            quote!(error),
        ),
    };
    let (spec, call) = (spec(tool), call(tool));
    let (failure, needs_approval) = (failure(tool), needs_approval(tool));
    let hash_instance = hash_instance(tool);
    let (in_doubt, undo) = (asked(tool), undo::asked(tool));
    let arms = on_error::of_tool(tool);
    let (finds_out, undoes) = (in_doubt::of_tool(tool), undo::of_tool(tool));
    let effect = undo::effect_checked(tool);
    let beside = known_by_type(tool, &with);
    quote! {
        #[automatically_derived]
        impl __rt::Tool for #ty where #(#bounds),* {
            type Args = #sent;
            type Ok = #ok;
            type Err = #err;
            #spec
            #call
            fn on_error(
                &self,
                error: __rt::CallError<'_, Self::Err>,
                cx: &__rt::ErrorContext,
            ) -> __rt::Option<__rt::Plan> {
                use __rt::NoArms as _;
                (&__rt::ArmsProbe(self)).on_error(#unpacked, cx)
            }
            fn fixers(&self) -> __rt::Vec<__rt::Arc<dyn __rt::Fixer>> {
                use __rt::NoFixers as _;
                (&__rt::ArmsProbe(self)).fixers()
            }
            #failure
            #hash_instance
            #in_doubt
            #undo
            #needs_approval
        }
        #beside
        #arms
        #finds_out
        #undoes
        #effect
    }
}

/// Prints the `ToolSpec` of a tool, which describes it for models and for the runtime:
///
/// ```ignore
/// fn spec(&self) -> &__rt::ToolSpec {
///     static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
///     SPEC.get_or_init(|| {
///         __rt::ToolSpec::of::<ArgumentsOfReadFile>("read_file", "Read a file's contents.", __rt::Effects::Reads)
///             .timeout(Duration::from_secs(2))
///             .output_schema((&__rt::SchemaProbe::<<ReadFile as __rt::Tool>::Ok>::NEW).output_schema())
///     })
/// }
/// ```
fn spec(tool: &Tool) -> TokenStream {
    let (ty, name, description) = (&tool.ty, &tool.name, tool.docs.text());
    let effect = tool.effects.first().map_or_else(
        || quote!(None),
        |effect| {
            let variant = type_name(effect);
            quote!(#variant)
        },
    );
    let sent = sent(tool);
    let calls = tool
        .spec
        .iter()
        .map(|Call { method, argument }| quote!(.#method(#argument)));
    let examples = tool
        .examples
        .iter()
        .map(|example| worked(example, &tool.rt));
    let undoable = tool.undo.as_ref().map(|_| quote!(.undoable()));
    let spec = quote! {
        __rt::ToolSpec::of::<#sent>(#name, #description, __rt::Effects::#effect)
            #(#calls)*
            #(#examples)*
            #undoable
            .output_schema((&__rt::SchemaProbe::<<#ty as __rt::Tool>::Ok>::NEW).output_schema())
    };
    let is_undone_elsewhere = tool.may_be_undone() && tool.undo.is_none();
    let (scope, spec) = match is_undone_elsewhere {
        true => (
            quote!(
                use __rt::{HasNoUndo as _, NoSchema as _};
            ),
            quote!(__rt::with_undo(#spec, #ty::__HAS_UNDO)),
        ),
        false => (
            quote!(
                use __rt::NoSchema as _;
            ),
            spec,
        ),
    };
    quote! {
        fn spec(&self) -> &__rt::ToolSpec {
            #scope
            static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
            SPEC.get_or_init(|| { #spec })
        }
    }
}

/// Prints the call that adds an example: `.example(::agents::__rt::serde_json::json!({ "path": "a.txt" }))`.
fn worked(example: &Example, rt: &Rt) -> TokenStream {
    let Example { attribute, fields } = example;
    let names = fields.iter().map(|(name, _)| plain(name));
    let values = fields.iter().map(|(_, value)| value);
    quote_spanned! {here(attribute.span())=>
        .example(#rt::serde_json::json!({ #(#names: #values),* }))
    }
}

/// Prints the call of the user's function:
///
/// ```ignore
/// async fn call(&self, args: ArgumentsOfReadFile, cx: &__rt::ToolContext) -> __rt::Result<Self::Ok, Self::Err> {
///     read_file(__rt::Argument::unpack(args.path)).await.map(__rt::ToolOutput::pack).map_err(__rt::ToolFault::pack)
/// }
/// ```
fn call(tool: &Tool) -> TokenStream {
    let sent = sent(tool);
    // Names of the macro's own: a tool may well be called `args`.
    let args = Ident::new("args", Span::mixed_site());
    let cx = Ident::new("cx", Span::mixed_site());
    let passed = tool.params.iter().map(
        |param @ Param {
             ident, ty, kind, ..
         }| {
            let at = here(ty.span());
            match kind {
                ParamKind::Argument(_) => passed(param, &quote!(#args.#ident)),
                ParamKind::Injected { by_reference: true } => quote_spanned!(at=> &self.#ident),
                ParamKind::Injected {
                    by_reference: false,
                } => quote_spanned!(at=> __rt::Injected::copied(&self.#ident)),
                ParamKind::Context => quote!(#cx),
            }
        },
    );
    let function = &tool.function.sig.ident;
    let value = quote_spanned!(here(function.span())=> #function(#(#passed),*).await);
    let result = if tool.returns.is_result() {
        quote!(#value.map(__rt::ToolOutput::pack).map_err(__rt::ToolFault::pack))
    } else {
        quote!(__rt::Ok(__rt::ToolOutput::pack(#value)))
    };
    let args = if tool.arguments().is_empty() {
        quote!(_)
    } else {
        quote!(#args)
    };
    let cx = if tool.takes_context() {
        quote!(#cx)
    } else {
        quote!(_)
    };
    // The name of the tool may come from elsewhere than what is injected, and so `self`. The last names are no
    // names of the user's, of whom lints would want a shorter path.
    let this = quote!(&self);
    let at = here(function.span());
    let [context, given] = ["ToolContext", "Result"].map(|name| Ident::new(name, at));
    quote_spanned! {function.span()=>
        async fn call(#this, #args: #sent, #cx: &__rt::#context) -> __rt::#given<Self::Ok, Self::Err> {
            #result
        }
    }
}

/// Prints the conversions of an error, for a tool that returns a `Result`:
///
/// ```ignore
/// fn failure(error: &Self::Err) -> (__rt::Code, __rt::Option<__rt::Duration>) {
///     use __rt::NoFacts as _;
///     (&__rt::FailureProbe(error)).facts()
/// }
/// fn told(error: &Self::Err) -> __rt::String {
///     use __rt::{HoldsError as _, OnlyText as _};
///     (&__rt::ChainProbe(error)).said()
/// }
/// ```
fn failure(tool: &Tool) -> Option<TokenStream> {
    tool.returns.is_result().then(|| {
        quote! {
            fn failure(error: &Self::Err) -> (__rt::Code, __rt::Option<__rt::Duration>) {
                use __rt::NoFacts as _;
                (&__rt::FailureProbe(error)).facts()
            }

            fn told(error: &Self::Err) -> __rt::String {
                use __rt::{HoldsError as _, OnlyText as _};
                (&__rt::ChainProbe(error)).said()
            }
        }
    })
}

/// Prints the method that hashes the injected values for the cache key, as far as they implement `Hash`:
///
/// ```ignore
/// fn hash_instance(&self, state: &mut dyn __rt::Hasher) {
///     use __rt::NotHashed as _;
///     (&__rt::HashProbe(&self.root)).feed(state);
/// }
/// ```
fn hash_instance(tool: &Tool) -> Option<TokenStream> {
    let fields = tool.fields().into_iter().map(|field| &field.ident);
    (!tool.is_unit()).then(|| {
        quote! {
            fn hash_instance(&self, state: &mut dyn __rt::Hasher) {
                use __rt::NotHashed as _;
                #((&__rt::HashProbe(&self.#fields)).feed(state);)*
            }
        }
    })
}

/// Prints the condition of `approval = when(..)`:
///
/// ```ignore
/// fn needs_approval(&self, args: &ArgumentsOfReadFile, cx: &__rt::ToolContext) -> bool {
///     __rt::ask(args, cx, |args, cx| args.amount > 100)
/// }
/// ```
fn needs_approval(tool: &Tool) -> Option<TokenStream> {
    let (when, sent) = (tool.when.as_ref()?, sent(tool));
    Some(quote_spanned! {here(when.span())=>
        fn needs_approval(&self, args: &#sent, cx: &__rt::ToolContext) -> bool {
            __rt::ask(args, cx, #when)
        }
    })
}

/// Prints the method that finds out what became of an interrupted execution:
///
/// ```ignore
/// async fn in_doubt(&self, args: ArgumentsOfPay, cx: &__rt::ToolContext) -> __rt::InDoubt<Self::Ok> {
///     use __rt::SaysNothing as _;
///     __rt::found_out(self.__in_doubt(args, cx).await, cx)
/// }
/// ```
fn asked(tool: &Tool) -> Option<TokenStream> {
    let sent = sent(tool);
    // That it cannot wait among threads is said of what waits.
    let doubt = tool.in_doubt.as_ref();
    let at = doubt.map_or_else(Span::call_site, |doubt| here(doubt.keyword.span()));
    tool.may_be_in_doubt().then(|| {
        quote_spanned! {at=>
            async fn in_doubt(&self, args: #sent, cx: &__rt::ToolContext) -> __rt::InDoubt<Self::Ok> {
                use __rt::SaysNothing as _;
                __rt::found_out(self.__in_doubt(args, cx).await, cx)
            }
        }
    })
}

/// Prints the traits that tell of a tool by its type alone, whether or not rustc accepts its signature. `with` is the
/// type of its error.
///
/// ```ignore
/// impl __rt::ToolName for ReadFile { const NAME: &'static str = "read_file"; }
/// impl __rt::Fails for ReadFile { type With = <io::Result<String> as __rt::Returns>::Err; }
/// impl __rt::RetrySafe for ReadFile {} // if it does not write, or is `idempotent`
/// impl __rt::Fallible for ReadFile {}  // if it gives a `Result`
/// impl __rt::MayBeInDoubt for ReadFile { .. } // if it writes, and is not `idempotent` or only for a time
/// impl __rt::MayBeUndone for ReadFile { .. } // if it writes, and is not `irreversible`
/// impl ReadFile { pub fn __listed(self) -> __rt::SharedTool { .. } }
/// ```
fn known_by_type(tool: &Tool, with: &TokenStream) -> TokenStream {
    let (ty, name) = (&tool.ty, &tool.name);
    let retry_safe = tool
        .is_retry_safe()
        .then(|| quote!(#[automatically_derived] impl __rt::RetrySafe for #ty {}));
    let fallible = tool
        .returns
        .is_result()
        .then(|| quote!(#[automatically_derived] impl __rt::Fallible for #ty {}));
    let (in_doubt, undone) = (may_be_in_doubt(tool), undo::may_be_undone(tool));
    let listed = listed(tool);
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl __rt::ToolName for #ty {
            const NAME: &'static str = #name;
        }
        #[automatically_derived]
        impl __rt::Fails for #ty {
            type With = #with;
        }
        #retry_safe
        #fallible
        #in_doubt
        #undone
        #listed
    }
}

/// Prints the traits that an `in_doubt!` of its own looks for on the tool's type:
///
/// ```ignore
/// impl __rt::MayBeInDoubt for Pay
/// where
///     u32: __rt::Argument,
/// {
///     type Args = ArgumentsOfPay;
///     type Found = <Result<Receipt, BankError> as __rt::Returns>::Ok;
/// }
/// ```
fn may_be_in_doubt(tool: &Tool) -> Option<TokenStream> {
    let (ty, sent, bounds) = (&tool.ty, sent(tool), bounds(tool));
    let found = asserts::value(&tool.returns);
    tool.may_be_in_doubt().then(|| {
        quote! {
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl __rt::MayBeInDoubt for #ty where #(#bounds),* {
                type Args = #sent;
                type Found = #found;
            }
        }
    })
}

/// Prints the method that turns a value of the tool's type into an element of the `tools = [..]` of agents:
///
/// ```ignore
/// impl ReadFile {
///     pub fn __listed(self) -> __rt::SharedTool {
///         use __rt::Refused as _;
///         __rt::Listing(self).shared()
///     }
/// }
/// ```
fn listed(tool: &Tool) -> TokenStream {
    let (ty, vis) = (&tool.ty, &tool.function.vis);
    quote! {
        impl #ty {
            #[doc(hidden)]
            #vis fn __listed(self) -> __rt::SharedTool {
                use __rt::Refused as _;
                __rt::Listing(self).shared()
            }
        }
    }
}
