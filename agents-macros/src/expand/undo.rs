//! Prints `undo`, and the check of `effect_description`.

use super::{
    arguments::{all_bounds, sent},
    asserts, given, gives_nothing, hidden, in_doubt,
};
use crate::{
    ast::Undo,
    model::Tool,
    paths::{Rt, end, here},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// Prints an `undo!(Pay, |receipt| ..)` that stands alone:
///
/// ```ignore
/// const _: () = {
///     use ::agents::__rt;
///     impl Pay where <Pay as __rt::MayBeUndone>::Output: __rt::ReadBack {
///         pub(crate) async fn __undo(&self, args: .., output: &__rt::Json, cx: &__rt::ToolContext) -> .. { .. }
///     }
///     impl Pay { pub(crate) const __HAS_UNDO: bool = true; }
/// };
/// ```
pub(crate) fn alone(undo: &Undo, rt: &Rt) -> TokenStream {
    let Some(tool) = &undo.tool else {
        return TokenStream::new();
    };
    // The user writes `args.amount`.
    let args = Ident::new("args", Span::call_site());
    let of = |what: &str| {
        let what = Ident::new(what, end(tool));
        quote_spanned!(end(tool)=> <#tool as __rt::MayBeUndone>::#what)
    };
    let (given, output) = (of("Args"), of("Output"));
    let undoes = undoes(undo, &quote!(#args: #given), &output, &TokenStream::new());
    let bound = undo
        .output
        .as_ref()
        .map(|_| asserts::bound(&output, "ReadBack"))
        .into_iter();
    let items = quote! {
        impl #tool where #(#bound),* { #undoes }
        impl #tool {
            #[doc(hidden)]
            pub(crate) const __HAS_UNDO: bool = true;
        }
    };
    hidden(rt, &[], &items)
}

/// Prints an `undo` beside its tool. Its code sees the parameters of the function.
pub(super) fn of_tool(tool: &Tool) -> Option<TokenStream> {
    let undo = tool.undo.as_ref()?;
    let (ty, sent) = (&tool.ty, sent(tool));
    // Names of the macro's own: a tool may well be called `args`.
    let args = Ident::new("args", Span::mixed_site());
    let seen = in_doubt::seen(tool, &args, "not everything undoes a call");
    let output = asserts::value(&tool.returns);
    let undoes = undoes(undo, &quote!(#args: #sent), &output, &seen);
    let mut bounds = all_bounds(tool);
    if undo.output.is_some() {
        bounds.push(asserts::bound(&output, "ReadBack"));
    }
    Some(quote! {
        impl #ty where #(#bounds),* {
            #undoes
        }
    })
}

/// Prints the method that undoes a call:
///
/// ```ignore
/// pub(crate) async fn __undo(&self, args: ArgumentsOfPay, output: &__rt::Json, cx: &__rt::ToolContext) -> __rt::Result<__rt::Undone, __rt::CannotUndo> {
///     let cx = cx;
///     let amount: u32 = __rt::Argument::unpack(args.amount);
///     let bank = __rt::Injected::copied(&self.bank);
///     let receipt: Receipt = __rt::ReadBack::read_back(output)?;
///     use __rt::{Said as _, undos::*};
///     __rt::Undoing(bank.refund(receipt.id).await).said()
/// }
/// ```
fn undoes(
    undo: &Undo,
    args: &TokenStream,
    output: &TokenStream,
    seen: &TokenStream,
) -> TokenStream {
    let Undo {
        keyword,
        output: pattern,
        body,
        ..
    } = undo;
    let own = |name: &str| Ident::new(name, Span::mixed_site());
    let (cx, stored) = (own("cx"), own("stored"));
    // The one that the user may name.
    let named = Ident::new("cx", Span::call_site());
    let read = pattern
        .as_ref()
        .map(|pattern| quote!(let #pattern: #output = __rt::ReadBack::read_back(#stored)?;));
    let undone = match gives_nothing(body) {
        true => quote!(#body),
        false => {
            let value = given(body, &quote!(__rt::Undoing));
            quote_spanned!(end(body)=> #value.said())
        }
    };
    let scope = quote! {
        #[allow(unused_imports, reason = "not every value has to be converted")]
        use __rt::{Said as _, undos::*};
    };
    let this = quote!(&self);
    let at = here(keyword.span());
    let [context, given] = ["ToolContext", "Result"].map(|name| Ident::new(name, at));
    quote_spanned! {keyword.span()=>
        pub(crate) async fn __undo(
            #this,
            #args,
            #stored: &__rt::Json,
            #cx: &__rt::#context,
        ) -> __rt::#given<__rt::Undone, __rt::CannotUndo> {
            #[allow(unused_variables, reason = "not everything undoes a call")]
            let (#named, #stored) = (#cx, #stored);
            #seen
            #read
            #scope
            #undone
        }
    }
}

/// Prints the method by which the runtime undoes a call:
///
/// ```ignore
/// async fn undo(&self, args: ArgumentsOfPay, output: __rt::StoredOutput<Self::Ok>, cx: &__rt::ToolContext) -> __rt::Result<__rt::Undone, __rt::ToolError> {
///     use __rt::HasNoUndo as _;
///     __rt::undoing(self.__undo(args, output.json(), cx).await)
/// }
/// ```
pub(super) fn asked(tool: &Tool) -> Option<TokenStream> {
    let sent = sent(tool);
    // That it cannot wait among threads is said of what waits.
    let undo = tool.undo.as_ref();
    let at = undo.map_or_else(Span::call_site, |undo| here(undo.keyword.span()));
    tool.may_be_undone().then(|| {
        quote_spanned! {at=>
            async fn undo(
                &self,
                args: #sent,
                output: __rt::StoredOutput<Self::Ok>,
                cx: &__rt::ToolContext,
            ) -> __rt::Result<__rt::Undone, __rt::ToolError> {
                use __rt::HasNoUndo as _;
                __rt::undoing(self.__undo(args, output.json(), cx).await)
            }
        }
    })
}

/// Prints the traits that an `undo!` of its own looks for on the tool's type:
///
/// ```ignore
/// impl __rt::MayBeUndone for Pay
/// where
///     u32: __rt::Argument,
/// {
///     type Args = ArgumentsOfPay;
///     type Output = <Result<Receipt, BankError> as __rt::Returns>::Ok;
/// }
/// ```
pub(super) fn may_be_undone(tool: &Tool) -> Option<TokenStream> {
    let (ty, sent) = (&tool.ty, sent(tool));
    let bounds = super::arguments::bounds(tool);
    let output = asserts::value(&tool.returns);
    tool.may_be_undone().then(|| {
        quote! {
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl __rt::MayBeUndone for #ty where #(#bounds),* {
                type Args = #sent;
                type Output = #output;
            }
        }
    })
}

/// Prints the check of `effect_description = "pay {amount} cents"`, whose names rustc looks up among the arguments:
///
/// ```ignore
/// const _: fn() = || {
///     let (amount,) = (__rt::Shown,);
///     let _ = ::core::format_args!("pay {amount} cents");
/// };
/// ```
pub(super) fn effect_checked(tool: &Tool) -> Option<TokenStream> {
    let effect = tool.effect.as_ref()?;
    let shown = tool.arguments().into_iter().map(|(param, _)| {
        let name = &param.ident;
        quote! {
            #[allow(unused_variables, reason = "not every argument is in the text")]
            let #name = __rt::Shown;
        }
    });
    Some(quote! {
        const _: fn() = || {
            #(#shown)*
            let _ = ::core::format_args!(#effect);
        };
    })
}
