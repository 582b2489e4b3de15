//! Prints `in_doubt`.

use super::{
    arguments::{all_bounds, passed, sent},
    asserts, gives_nothing, hidden,
};
use crate::{
    ast::InDoubt,
    model::{Param, ParamKind, Tool},
    paths::{Rt, end, here},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// Prints an `in_doubt!(Pay, |key| ..)` that stands alone:
///
/// ```ignore
/// const _: () = {
///     use ::agents::__rt;
///     impl Pay { pub(crate) async fn __in_doubt(&self, args: .., cx: &__rt::ToolContext) -> .. { .. } }
/// };
/// ```
pub(crate) fn alone(doubt: &InDoubt, rt: &Rt) -> TokenStream {
    let Some(tool) = &doubt.tool else {
        return TokenStream::new();
    };
    // The user writes `args.amount`.
    let args = Ident::new("args", Span::call_site());
    let of = |what: &str| {
        let what = Ident::new(what, end(tool));
        quote_spanned!(end(tool)=> <#tool as __rt::MayBeInDoubt>::#what)
    };
    let (given, found) = (of("Args"), of("Found"));
    let finds_out = finds_out(doubt, &quote!(#args: #given), &found, &TokenStream::new());
    hidden(rt, &[], &quote!(impl #tool { #finds_out }))
}

/// Prints an `in_doubt` beside its tool. Its code sees the parameters of the function.
pub(super) fn of_tool(tool: &Tool) -> Option<TokenStream> {
    let doubt = tool.in_doubt.as_ref()?;
    let (ty, sent, bounds) = (&tool.ty, sent(tool), all_bounds(tool));
    // Names of the macro's own: a tool may well be called `args`.
    let args = Ident::new("args", Span::mixed_site());
    let seen = seen(
        tool,
        &args,
        "not everything tells what became of an execution",
    );
    let found = asserts::value(&tool.returns);
    let finds_out = finds_out(doubt, &quote!(#args: #sent), &found, &seen);
    Some(quote! {
        impl #ty where #(#bounds),* {
            #finds_out
        }
    })
}

/// Prints the parameters of the tool's function as variables, for the code of its `in_doubt` or `undo`. Arguments are
/// taken from `args`, injected values from the tool. `unused` says why not all of the variables have to be used.
pub(super) fn seen(tool: &Tool, args: &Ident, unused: &str) -> TokenStream {
    let cx = cx();
    let seen = tool.params.iter().map(|param| {
        let Param {
            ident, ty, kind, ..
        } = param;
        let at = here(ty.span());
        let value = match kind {
            ParamKind::Argument(_) => {
                let value = passed(param, &quote!(#args.#ident));
                quote!(: #ty = #value)
            }
            ParamKind::Injected { by_reference: true } => quote_spanned!(at=> = &self.#ident),
            ParamKind::Injected {
                by_reference: false,
            } => quote_spanned!(at=> = __rt::Injected::copied(&self.#ident)),
            ParamKind::Context => quote!(= #cx),
        };
        quote! {
            #[allow(unused_variables, reason = #unused)]
            let #ident #value;
        }
    });
    quote!(#(#seen)*)
}

/// Prints the method that finds out what became of an execution:
///
/// ```ignore
/// pub(crate) async fn __in_doubt(&self, args: ArgumentsOfPay, cx: &__rt::ToolContext) -> __rt::Result<__rt::InDoubt<Receipt>, __rt::CannotTell> {
///     let cx = cx;
///     let amount: u32 = __rt::Argument::unpack(args.amount);
///     let bank = __rt::Injected::copied(&self.bank);
///     let key = cx.idempotency_key();
///     use __rt::doubts::*;
///     let known: __rt::InDoubt<Receipt> = match bank.find(key).await? { .. };
///     __rt::Ok(known)
/// }
/// ```
fn finds_out(
    doubt: &InDoubt,
    args: &TokenStream,
    found: &TokenStream,
    seen: &TokenStream,
) -> TokenStream {
    let InDoubt {
        keyword, key, body, ..
    } = doubt;
    let (cx, known) = (cx(), Ident::new("known", Span::mixed_site()));
    // The one that the user may name.
    let named = Ident::new("cx", Span::call_site());
    let key = key
        .as_ref()
        .map(|key| quote!(let #key = #cx.idempotency_key();));
    let known = match gives_nothing(body) {
        true => quote!(#body),
        false => quote! {
            let #known: __rt::InDoubt<#found> = #body;
            __rt::Ok(#known)
        },
    };
    let scope = quote!(
        use __rt::doubts::*;
    );
    let this = quote!(&self);
    let at = here(keyword.span());
    let [context, given] = ["ToolContext", "Result"].map(|name| Ident::new(name, at));
    quote_spanned! {keyword.span()=>
        pub(crate) async fn __in_doubt(
            #this,
            #args,
            #cx: &__rt::#context,
        ) -> __rt::#given<__rt::InDoubt<#found>, __rt::CannotTell> {
            #[allow(unused_variables, reason = "not everything tells what became of an execution")]
            let #named = #cx;
            #seen
            #key
            #scope
            #known
        }
    }
}

/// Returns the parameter name `cx` in a form that cannot clash with a name of the user's.
fn cx() -> Ident {
    Ident::new("cx", Span::mixed_site())
}
