//! The printer of what an agent says to escalations.

use super::agent::{Edges, edges};
use crate::model::{Agent, Handler};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    Expr, ExprCall, PathArguments, Type, parse_quote, parse_quote_spanned,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

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
    let mut body = body.clone();
    Told(parse_quote!(#input), parse_quote!(#output)).visit_expr_mut(&mut body);
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

/// `reroute_to(agent)` is told what this agent takes and gives: otherwise rustc would find that out from the other one,
/// and complain of the whole.
struct Told(Type, Type);

impl VisitMut for Told {
    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        visit_mut::visit_expr_call_mut(self, call);
        let Expr::Path(path) = &mut *call.func else {
            return;
        };
        if path.path.is_ident("reroute_to")
            && let Some(verb) = path.path.segments.last_mut()
        {
            let Told(input, output) = self;
            let told = parse_quote_spanned!(verb.ident.span()=> ::<#input, #output>);
            verb.arguments = PathArguments::AngleBracketed(told);
        }
    }
}
