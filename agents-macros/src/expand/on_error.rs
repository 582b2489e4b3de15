//! Prints arms.

use super::{Step, given, hidden};
use crate::{
    model::{Agent, Arm, Arms, Tool, Under},
    names::plain,
    paths::{Rt, end, here, respan},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

/// Prints an `on_error!(ReadFile, match error { .. })` that stands alone:
///
/// ```ignore
/// const _: () = {
///     use ::agents::__rt;
///     impl __rt::OnError for ReadFile { .. }
/// };
/// ```
pub(crate) fn alone(arms: &Arms, rt: &Rt) -> TokenStream {
    let Some(tool) = &arms.tool else {
        return TokenStream::new();
    };
    let items = implementation(&tool.to_token_stream(), arms, &TokenStream::new());
    hidden(rt, &[], &items)
}

/// Prints the arms that stand beside their tool; they see the injected values.
pub(super) fn of_tool(tool: &Tool) -> Option<TokenStream> {
    let arms = tool.on_error.as_ref()?;
    let injected = tool.fields().into_iter().map(|param| {
        let name = &param.ident;
        quote! {
            #[allow(unused_variables, reason = "arms need not look at what is injected")]
            let #name = &self.#name;
        }
    });
    Some(implementation(
        &tool.ty.to_token_stream(),
        arms,
        &quote!(#(#injected)*),
    ))
}

/// Prints the `OnError` implementation of a tool:
///
/// ```ignore
/// impl __rt::OnError for ReadFile
/// where
///     for<'e> &'e <ReadFile as __rt::Fails>::With: __rt::Display,
/// {
///     fn decide_by_arms(&self, error: __rt::CallError<'_, <Self as __rt::Fails>::With>, cx: &__rt::ErrorContext) -> __rt::Option<__rt::Plan> {
///         <ReadFile as __rt::RetrySafe>::check(); // for each `retry`, and each `fix` after a timeout or a panic
///         <ReadFile as __rt::Fallible>::check(); // for each `Returned`
///         use __rt::vocabulary::*;
///         match error { .. }
///     }
/// }
/// ```
///
/// The bound reports an error type without text once, at the type, and not in each arm that shows it.
fn implementation(tool: &TokenStream, arms: &Arms, injected: &TokenStream) -> TokenStream {
    let (error, cx) = (error(), cx());
    let matched = matched(arms, &error);
    let checked = checked(tool, arms);
    // Named as the arm names them: an agent that is no repair agent is one mistake, not two.
    let named = arms.fixers.iter().map(|Under { cfgs, it: fixer }| {
        let fixer = quote_spanned!(fixer.span()=> __rt::fix_with::<__rt::kinds::Execution>(#fixer));
        quote!(#(#cfgs)* #fixer)
    });
    let fixers = (!arms.fixers.is_empty()).then(|| {
        quote! {
            fn fixers_of_arms(&self) -> __rt::Vec<__rt::Arc<dyn __rt::Fixer>> {
                #injected
                __rt::fixers_of::<__rt::kinds::Execution, _>([#(#named),*])
            }
        }
    });
    // Two for one tool are a conflict, and it is said of this.
    quote_spanned! {here(end(tool))=>
        impl __rt::OnError for #tool
        where
            for<'e> &'e <#tool as __rt::Fails>::With: __rt::Display,
        {
            #fixers
            fn decide_by_arms(
                &self,
                #error: __rt::CallError<'_, <Self as __rt::Fails>::With>,
                #cx: &__rt::ErrorContext,
            ) -> __rt::Option<__rt::Plan> {
                #checked
                #injected
                #matched
            }
        }
    }
}

/// Prints `<ReadFile as __rt::RetrySafe>::check();` at each verb that would run the tool again, and `Fallible` at
/// each `Returned`. rustc then reports the verb or the pattern.
fn checked(tool: &TokenStream, arms: &Arms) -> TokenStream {
    let mut asserts = TokenStream::new();
    for (what, all) in [("RetrySafe", &arms.reruns), ("Fallible", &arms.returned)] {
        for Under { cfgs, it: at } in all {
            let (tool, what) = (respan(tool.clone(), at.span()), Ident::new(what, at.span()));
            let check = quote_spanned!(at.span()=> <#tool as __rt::#what>::check(););
            asserts.extend(quote!(#(#cfgs)* #check));
        }
    }
    asserts
}

/// Prints the arms of an agent, as steps of its builder:
///
/// ```ignore
/// .on_error(|error, cx| match error { .. })
/// .on_error_of::<<DeleteFile as __rt::Fails>::With>(<DeleteFile as __rt::ToolName>::NAME, |error, cx| match error { .. })
/// .on_error_of_named("github_*", |error, cx| match error { .. })
/// .on_error_of_skill("data_ops", |error, cx| match error { .. })
/// .fixer(JsonFixer)
/// ```
pub(super) fn of_agent(agent: &Agent, arms: &Arms) -> Vec<Step> {
    let (error, cx, attrs) = (error(), cx(), &arms.written.attrs);
    let matched = matched(arms, &error);
    let any = quote! {
        move |#error: __rt::CallError<'_, __rt::AnyError>, #cx: &__rt::ErrorContext|
    };
    let call = match &arms.tool {
        None if let Some(pattern) = &arms.written.named => {
            quote!(.on_error_of_named(#pattern, #any { #matched }))
        }
        None => {
            let skill = arms.written.skill.as_ref();
            let mut reruns = TokenStream::new();
            for cfgs in arms.reruns_by_cfgs() {
                for tool in agent.rerun_by_default(skill) {
                    let check = quote_spanned!(tool.span()=> <#tool as __rt::RetrySafe>::check(););
                    reruns.extend(quote!(#(#cfgs)* #check));
                }
            }
            match skill.map(plain) {
                None => quote!(.on_error(#any { #reruns #matched })),
                Some(skill) => quote!(.on_error_of_skill(#skill, #any { #reruns #matched })),
            }
        }
        Some(tool) => {
            let name = quote_spanned!(tool.span()=> <#tool as __rt::ToolName>::NAME);
            let fault = quote_spanned!(tool.span()=> <#tool as __rt::Fails>::With);
            let checked = checked(&tool.to_token_stream(), arms);
            quote! {
                .on_error_of::<#fault>(
                    #name,
                    move |#error: __rt::CallError<'_, #fault>, #cx: &__rt::ErrorContext| { #checked #matched },
                )
            }
        }
    };
    let mut steps = vec![Step {
        attrs: attrs.clone(),
        call,
    }];
    for Under { cfgs, it: fixer } in &arms.fixers {
        steps.push(Step {
            attrs: [attrs.as_slice(), cfgs].concat(),
            call: quote!(.fixer(#fixer)),
        });
    }
    steps
}

/// Prints the `match` over the arms:
///
/// ```ignore
/// use __rt::vocabulary::*;
/// #[deny(unreachable_patterns)]
/// match error {
///     __rt::CallError::InvalidArgs(raw, _) => __rt::IntoDecision::<__rt::kinds::InvalidArgs>::into_plan(fix(my_cleanup(raw))),
///     _ => __rt::None,
/// }
/// ```
fn matched(arms: &Arms, error: &Ident) -> TokenStream {
    let deny = quote_spanned!(arms.written.keyword.span()=> #[deny(unreachable_patterns)]);
    let arms = arms.arms.iter().map(
        |Arm {
             attrs,
             variant,
             patterns,
             guard,
             body,
         }| {
            let guard = guard.as_ref().map(|guard| quote!(if #guard));
            let into_plan = quote_spanned!(body.span()=> __rt::IntoDecision::<__rt::kinds::#variant>::into_plan);
            let decided = given(body, &into_plan);
            // The user's own place: rustc lints patterns that people wrote, and no others.
            let pattern = quote_spanned!(variant.span()=> __rt::CallError::#variant(#patterns));
            quote!(#(#attrs)* #pattern #guard => #decided,)
        },
    );
    quote! {
        use __rt::vocabulary::*;
        #deny
        match #error {
            #(#arms)*
            #[allow(unreachable_patterns, reason = "arms may leave nothing over")]
            _ => __rt::None,
        }
    }
}

/// Returns the variable name `error` in a form that cannot clash with a name of the user's.
fn error() -> Ident {
    Ident::new("error", Span::mixed_site())
}

/// Returns the variable name `cx`, which the user's arms may use.
fn cx() -> Ident {
    Ident::new("cx", Span::call_site())
}
