//! Prints `on_escalation!`.

use super::{
    Step,
    edges::{Edges, edges},
    given,
};
use crate::{
    model::{Agent, Handler},
    paths::end,
    walk::{self, Look, Part},
};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, PathArguments, Token, Type, parse_quote, parse_quote_spanned, spanned::Spanned};

/// Prints one `on_escalation!` as a step of the agent's builder:
///
/// ```ignore
/// .on_escalation(move |escalation: __rt::Escalation| -> __rt::Resolution<String, Summary> {
///     use __rt::resolutions::*;
///     match escalation.severity {
///         Low => __rt::IntoResolution::<String, Summary>::into_resolution(inherit()),
///         ..
///     }
/// })
/// ```
pub(super) fn of_agent(agent: &Agent, handler: &Handler) -> Step {
    let Handler {
        attrs,
        body,
        escalation,
        skills,
        keyword,
        ..
    } = handler;
    let Edges { input, output, .. } = edges(agent);
    let mut body = body.clone();
    let mut told = Told(parse_quote!(#input), parse_quote!(#output));
    walk::rewrite(&mut body, &mut told);
    let body = resolved(&body, &input, &output);
    // Named as methods, so that an editor finds the way to them.
    let named = skills
        .iter()
        .map(|skill| quote_spanned!(skill.span()=> let _ = #skill;));
    let output = quote_spanned!(keyword.span()=> __rt::Resolution<#input, #output>);
    let call = quote! {
        .on_escalation(move |#escalation: __rt::Escalation| -> #output {
            use __rt::resolutions::*;
            #(#named)*
            #body
        })
    };
    Step {
        attrs: attrs.clone(),
        call,
    }
}

/// Prints the body of a handler, or each arm of its `match`, converted to a resolution.
fn resolved(body: &Expr, input: &TokenStream, output: &TokenStream) -> TokenStream {
    let into = |arm: &Expr| {
        let into =
            quote_spanned!(arm.span()=> __rt::IntoResolution::<#input, #output>::into_resolution);
        given(arm, &into)
    };
    let Expr::Match(matched) = body else {
        return into(body);
    };
    let mut matched = matched.clone();
    for arm in &mut matched.arms {
        let given = into(&arm.body);
        arm.comma.get_or_insert(Token![,](end(&arm.body)));
        arm.body = parse_quote!(#given);
    }
    matched.into_token_stream()
}

/// Adds the types of this agent to `reroute_to(agent)` and `return_partial_result(value)`. Otherwise rustc would infer
/// them from the arguments, and report the whole block.
struct Told(Type, Type);

impl Look for Told {
    fn enter(&mut self, _: Part<'_>) -> bool {
        true
    }

    fn leave(&mut self, part: Part<'_>) {
        let Part::Expr(Expr::Call(call)) = part else {
            return;
        };
        let Expr::Path(path) = &mut *call.func else {
            return;
        };
        if ["reroute_to", "return_partial_result"]
            .iter()
            .any(|verb| path.path.is_ident(verb))
            && let Some(verb) = path.path.segments.last_mut()
        {
            let Told(input, output) = self;
            let told = parse_quote_spanned!(verb.ident.span()=> ::<#input, #output>);
            verb.arguments = PathArguments::AngleBracketed(told);
        }
    }
}
