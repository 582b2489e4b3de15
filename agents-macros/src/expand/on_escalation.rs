//! The printer of what an agent says to escalations.

use super::agent::{Edges, edges};
use crate::model::{Agent, Handler};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// As a call on the agent's builder:
///
/// ```ignore
/// .on_escalation(move |escalation: __rt::Escalation| -> __rt::Resolution<String, Summary> {
///     use __rt::resolutions::*;
///     match escalation.severity { .. }
/// })
/// ```
pub(super) fn of_agent(agent: &Agent, handler: &Handler) -> TokenStream {
    let Handler {
        body,
        escalation,
        skills,
        keyword,
        ..
    } = handler;
    let Edges { input, output, .. } = edges(agent);
    // Named as methods, so that an editor finds the way to them.
    let named = skills
        .iter()
        .map(|skill| quote_spanned!(skill.span()=> let _ = #skill;));
    let output = quote_spanned!(keyword.span()=> __rt::Resolution<#input, #output>);
    quote! {
        .on_escalation(move |#[allow(unused_variables)] #escalation: __rt::Escalation| -> #output {
            #[allow(unused_imports)]
            use __rt::resolutions::*;
            #(#named)*
            #body
        })
    }
}
