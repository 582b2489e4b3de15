//! Prints agents.

use super::{
    asserts, hidden,
    settings::{self, Step},
    skills,
};
use crate::{
    ast::Function,
    model::{Agent, Make, Returns},
    paths::here,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Generics;

/// Prints one agent.
pub(crate) fn agent(agent: &Agent) -> TokenStream {
    match &agent.make {
        Make::Function(function, ty) => of_function(agent, function, ty),
        Make::Skills(block, skills) => skills::agent(agent, block, skills),
    }
}

/// Prints the function, if it has a body; its type; and the code that the runtime calls:
///
/// ```ignore
/// /// Repairs JSON by string surgery.
/// fn regex_fixer(broken: String) -> String { .. }
///
/// /// Repairs JSON by string surgery.
/// #[derive(Clone, Copy, Debug, Default)]
/// struct RegexFixer;
///
/// const _: () = {
///     use ::agents::__rt;
///     impl __rt::Agent for RegexFixer { .. }
/// };
/// ```
fn of_function(agent: &Agent, function: &Function, ty: &Ident) -> TokenStream {
    let Agent { rt, cfgs, docs, .. } = agent;
    // A method stands in an `impl`, where there can be nothing beside it.
    if agent.clashes() || function.sig.receiver().is_some() {
        return if function.has_body() {
            quote!(#docs #function)
        } else {
            TokenStream::new()
        };
    }
    let vis = &function.vis;
    // The type is defined where the function is named.
    let definition = quote_spanned!(ty.span()=> #vis struct #ty;);
    let kept = function.has_body().then(|| quote!(#docs #function));
    let (work, builder) = if agent.broken {
        (Work::own(quote!(::core::unreachable!())), None)
    } else if function.has_body() {
        (Work::own(native(agent, function)), None)
    } else {
        (
            Work::driven(),
            Some(built(
                agent,
                &ty.to_token_stream(),
                &Generics::default(),
                Vec::new(),
            )),
        )
    };
    let implementation = implementation(agent, &ty.to_token_stream(), &Generics::default(), &work);
    let probe = asserts::no_hidden_result(&agent.output);
    let items = hidden(rt, cfgs, &quote!(#implementation #builder #probe));
    quote! {
        #kept
        #docs #(#cfgs)*
        #[derive(Clone, Copy, Debug, Default)]
        #definition
        #items
    }
}

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
///     fn profile(&self) -> __rt::Profile { __rt::Agent::profile(&self.__agent()) } // of a model's agent
///     async fn work(&self, cx: &__rt::RunContext, input: Self::In) -> __rt::Result<Self::Out, __rt::Error> { .. }
/// }
/// impl __rt::ModelDriven for .. {} // if a model may be asked
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
    let (impl_generics, _, own) = generics.split_for_impl();
    let where_clause = asserts::with_bounds(generics, &bounds);
    let (cx, value) = (cx(), value());
    let model_driven = agent.asks_a_model().then(|| {
        quote! {
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl #impl_generics __rt::ModelDriven for #ty #own {}
        }
    });
    quote! {
        #model_driven
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

/// The input and output types of an agent, and their bounds.
pub(super) struct Edges {
    pub(super) input: TokenStream,
    pub(super) output: TokenStream,
    pub(super) bounds: Vec<TokenStream>,
}

pub(super) fn edges(agent: &Agent) -> Edges {
    let output = asserts::value(&agent.output);
    let bound = agent.output_bound();
    let mut bounds = vec![asserts::bound(&agent.input, "AgentData")];
    let given = asserts::bound(&output, bound);
    if given.to_string() != bounds[0].to_string() {
        bounds.push(given);
    }
    let faults = agent.returned().filter_map(asserts::fault);
    bounds.extend(faults.map(|fault| asserts::bound(&fault, "AgentFault")));
    Edges {
        input: asserts::through(&agent.input, "AgentData"),
        bounds,
        output: asserts::through(&output, bound),
    }
}

/// Prints the call of a function with a body:
/// `__rt::Ok(__rt::AgentData::pack(regex_fixer(__rt::AgentData::unpack(input))))`. An async function has an
/// `.await`, and a `Result` a `.map_err(..)` by `__rt::AgentFault::failed`.
fn native(agent: &Agent, function: &Function) -> TokenStream {
    let name = &function.sig.ident;
    let takes_input = !function.sig.inputs.is_empty();
    let input = takes_input.then(unpacked);
    let called = quote_spanned!(here(name.span())=> #name(#input));
    outcome(&called, function, &agent.output, agent.output_bound())
}

/// Prints `__rt::AgentData::unpack(input)`.
pub(super) fn unpacked() -> TokenStream {
    let value = value();
    quote!(__rt::AgentData::unpack(#value))
}

/// Returns the result of a call of the user's function, as that of an agent.
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

/// The body of `work`, and of `profile` for an agent that a model drives.
pub(super) struct Work {
    profile: Option<TokenStream>,
    work: TokenStream,
}

impl Work {
    /// Runs the user's own code, without a profile.
    pub(super) fn own(work: TokenStream) -> Self {
        Work {
            profile: None,
            work,
        }
    }

    /// Asks the model-driven agent: `__rt::Agent::work(&self.__agent(), cx, input).await`.
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

/// Prints the builder as a function of its own. `async_trait` leaves that alone, so the user's code in the attribute
/// stays as written.
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
    let builder = settings::builder(agent, skills);
    quote! {
        impl #impl_generics #ty #where_clause {
            #[doc(hidden)]
            fn __agent(&self) -> __rt::ModelAgent<'_, #input, #output> {
                use __rt::Listed as _;
                #builder
            }
        }
    }
}

/// Returns a name of the macro's own: an agent may well be called `input`.
pub(super) fn cx() -> Ident {
    Ident::new("cx", Span::mixed_site())
}

pub(super) fn value() -> Ident {
    Ident::new("input", Span::mixed_site())
}
