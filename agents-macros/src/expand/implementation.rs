//! Prints the `Agent` implementation, and the builder of an agent that a model drives.

use super::{
    Step, asserts,
    edges::{Edges, edges},
    settings,
};
use crate::{
    ast::Function,
    model::{Agent, Returns},
    paths::here,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Generics;

/// Prints the `Agent` implementation:
///
/// ```ignore
/// #[::agents::__rt::async_trait]
/// impl __rt::Agent for RegexFixer
/// where
///     String: __rt::AgentData,
/// {
///     type In = <String as __rt::AgentData>::Type;
///     type Out = <String as __rt::AgentData>::Type;
///     fn name(&self) -> &str { "regex_fixer" }
///     fn description(&self) -> &str { "Repairs JSON by string surgery." }
///     fn profile(&self) -> __rt::Profile { __rt::Profile::new().input_name("broken") }
///     async fn work(&self, cx: &__rt::RunContext, input: Self::In) -> __rt::Result<Self::Out, __rt::Error> { .. }
/// }
/// ```
pub(super) fn implementation(
    agent: &Agent,
    ty: &TokenStream,
    generics: &Generics,
    work: &Work,
) -> TokenStream {
    let Work { profile, work } = work;
    let rt = &agent.rt;
    let (name, description) = (&agent.name, settings::description(agent));
    let Edges {
        input,
        output,
        bounds,
    } = edges(agent);
    let (impl_generics, _, _) = generics.split_for_impl();
    let where_clause = asserts::with_bounds(generics, &bounds);
    let (cx, value) = (cx(), value());
    quote! {
        #[automatically_derived]
        #[#rt::async_trait]
        impl #impl_generics __rt::Agent for #ty #where_clause {
            type In = #input;
            type Out = #output;
            fn name(&self) -> &str { #name }
            fn description(&self) -> &str { #description }
            #profile
            async fn work(&self, #cx: &__rt::RunContext, #value: Self::In) -> __rt::Result<Self::Out, __rt::Error> {
                #work
            }
        }
    }
}

/// Prints the expression for the agent's input with its type: `__rt::AgentData::unpack(input)`.
pub(super) fn unpacked() -> TokenStream {
    let value = value();
    quote!(__rt::AgentData::unpack(#value))
}

/// Prints the result of a call of the user's function, converted to the result of an agent.
pub(super) fn outcome(
    called: &TokenStream,
    function: &Function,
    returns: &Returns,
    bound: &str,
) -> TokenStream {
    let awaited = function
        .is_async()
        .then(|| quote_spanned!(here(function.sig.ident.span())=> .await));
    let bound = Ident::new(bound, Span::call_site());
    if returns.is_result() {
        quote! {
            #called #awaited.map(__rt::#bound::pack).map_err(|error| {
                use __rt::NoSource as _;
                let source = (&__rt::SourceProbe(&error)).source();
                __rt::AgentFault::failed(error, source)
            })
        }
    } else {
        quote!(__rt::Ok(__rt::#bound::pack(#called #awaited)))
    }
}

/// The bodies of the methods `work` and `profile` of an agent's implementation.
pub(super) struct Work {
    profile: Option<TokenStream>,
    work: TokenStream,
}

impl Work {
    /// Returns bodies that are never run, for an agent that is printed only to avoid further errors.
    pub(super) fn none() -> Self {
        Work {
            profile: None,
            work: quote!(::core::unreachable!()),
        }
    }

    /// Returns method bodies that run the user's own code.
    pub(super) fn own(agent: &Agent, work: TokenStream) -> Self {
        let named = agent.input_name.as_ref();
        Work {
            profile: named.map(|name| {
                quote! {
                    fn profile(&self) -> __rt::Profile {
                        __rt::Profile::new().input_name(#name)
                    }
                }
            }),
            work,
        }
    }

    /// Returns bodies that ask the model-driven agent: `__rt::Agent::work(&self.__agent(), cx, input).await`.
    pub(super) fn driven() -> Self {
        let (cx, value) = (cx(), value());
        Work {
            profile: Some(quote! {
                fn profile(&self) -> __rt::Profile {
                    __rt::Agent::profile(&self.__agent())
                }
            }),
            work: quote!(__rt::Agent::work(&self.__agent(), #cx, #value).await),
        }
    }
}

/// Prints the method `__agent`, which builds the agent. `async_trait` does not rewrite this method, so the code in the
/// agent's attribute stays as the user wrote it.
///
/// ```ignore
/// impl JsonFixer where .. {
///     fn __agent(&self) -> __rt::ModelAgent<'_, .., ..> { __rt::AgentBuilder::.. }
/// }
/// ```
pub(super) fn built(
    agent: &Agent,
    ty: &TokenStream,
    generics: &Generics,
    skills: Vec<Step>,
) -> TokenStream {
    let Edges {
        input,
        output,
        bounds,
    } = edges(agent);
    let (impl_generics, _, _) = generics.split_for_impl();
    let where_clause = asserts::with_bounds(generics, &bounds);
    // With its types, since hand-offs and validators would settle them.
    let types = agent.settings.hand_off.is_some() || agent.settings.validate.is_some();
    let types = types.then(|| quote!(::<#input, #output>));
    let builder = settings::builder(agent, types, skills);
    quote! {
        impl #impl_generics #ty #where_clause {
            #[doc(hidden)]
            fn __agent(&self) -> __rt::ModelAgent<'_, #input, #output> {
                use __rt::{Listed as _, SpreadSource as _, SpreadTools as _};
                #builder
            }
        }
    }
}

/// Returns the parameter name `cx` in a form that cannot clash with a name of the user's: an agent may well be called
/// `cx`.
pub(super) fn cx() -> Ident {
    Ident::new("cx", Span::mixed_site())
}

pub(super) fn value() -> Ident {
    Ident::new("input", Span::mixed_site())
}
