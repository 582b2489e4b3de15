//! Prints agents.

use super::{
    asserts, generated_type, hidden,
    implementation::{Work, built, implementation, outcome, unpacked},
    skills,
};
use crate::{
    ast::Function,
    model::{Agent, Make},
    paths::here,
};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Generics;

/// Prints all code that the macro generates for one agent.
pub(crate) fn agent(agent: &Agent) -> TokenStream {
    match &agent.make {
        Make::Function(function, ty) => of_function(agent, function, ty),
        Make::Skills(block, skills) => skills::agent(agent, block, skills),
    }
}

/// Prints an agent that is a function: the function, if it has a body; its type; and the code that the runtime calls:
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
///     impl __rt::GeneratedType for RegexFixer {}
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
    let attributes = quote! {
        #docs #(#cfgs)*
        #[derive(Clone, Copy, Debug, Default)]
    };
    let definition = generated_type::definition(rt, &attributes, vis, ty, None);
    let marked = generated_type::marked(ty);
    let kept = function.has_body().then(|| quote!(#docs #function));
    let (work, builder) = if agent.broken {
        (Work::none(), None)
    } else if function.has_body() {
        (Work::own(agent, native(agent, function)), None)
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
    let items = hidden(rt, cfgs, &quote!(#marked #implementation #builder #probe));
    quote! {
        #kept
        #definition
        #items
    }
}

/// Prints the call of an agent's own function:
/// `__rt::Ok(__rt::AgentData::pack(regex_fixer(__rt::AgentData::unpack(input))))`. An async function has an `.await`,
/// and a `Result` a `.map_err(..)` by `__rt::AgentFault::failed`.
fn native(agent: &Agent, function: &Function) -> TokenStream {
    let name = &function.sig.ident;
    let takes_input = !function.sig.inputs.is_empty();
    let input = takes_input.then(unpacked);
    let called = quote_spanned!(here(name.span())=> #name(#input));
    outcome(&called, function, &agent.output, agent.output_bound())
}
