//! Prints teams and branches, which are expressions.

use crate::{
    model::{Branch, Member, Said, ToolRef},
    paths::{Rt, cx, here},
};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// Prints the builder calls of a team, from its root down:
///
/// ```ignore
/// ::agents::__rt::Member::new(Project::new(db))
///     .budget(tokens(500_000))
///     .and_below(::agents::__rt::Member::below(Coder).grant::<WriteFile>())
///     .build()
/// ```
pub(crate) fn structure(root: &Member, rt: &Rt) -> TokenStream {
    let member = member(root, "new", rt);
    quote!(#member.build())
}

fn member(member: &Member, new: &str, rt: &Rt) -> TokenStream {
    let agent = &member.agent;
    let new = Ident::new(new, here(agent.span()));
    let said = member.said.iter().map(|said| one(said, rt));
    quote!(#rt::Member::#new(#agent) #(#said)*)
}

fn one(said: &Said, rt: &Rt) -> TokenStream {
    match said {
        Said::Grants(at, tools) if tools.is_empty() => {
            let nothing = Ident::new("grant_nothing", here(at.span()));
            quote!(.#nothing())
        }
        Said::Grants(at, tools) => each(tools, "grant", at),
        Said::Confirm(at, tools) => each(tools, "confirm", at),
        Said::Budget(at, budget) => quote!(.#at(#budget)),
        Said::Background(at) => quote!(.#at()),
        Said::Delegates(at, members) => {
            let below = Ident::new("and_below", here(at.span()));
            let members = members.iter().map(|one| member(one, "below", rt));
            quote!(#(.#below(#members))*)
        }
    }
}

fn each(tools: &[ToolRef], verb: &str, at: &Ident) -> TokenStream {
    let calls = tools.iter().map(|tool| named(tool, verb, at));
    quote!(#(#calls)*)
}

/// Prints the call that names a tool of a place: `.grant::<ReadFile>()`, or `.grant_named("mcp_*")`.
fn named(tool: &ToolRef, verb: &str, at: &Ident) -> TokenStream {
    match tool {
        ToolRef::Type(path) => {
            let verb = Ident::new(verb, here(at.span()));
            quote!(.#verb::<#path>())
        }
        ToolRef::Named(name) => {
            let verb = Ident::new(&format!("{verb}_named"), here(at.span()));
            quote!(.#verb(#name))
        }
    }
}

/// Prints the code of a `branch!`:
///
/// ```ignore
/// {
///     use ::agents::__rt;
///     __rt::branch(Review, (Deployer, reporter,), move |__cx, verdict, (__target0, __target1,)| match verdict {
///         Passed(p) => __rt::go_on(__target0, __target0, __cx, p),
///         Failed(f) => __rt::go_on(__target0, __target1, __cx, f),
///     })
/// }
/// ```
pub(crate) fn branch(branch: &Branch, rt: &Rt) -> TokenStream {
    let Branch {
        agent,
        match_token,
        value,
        targets,
        arms,
    } = branch;
    let cx = cx(match_token.span);
    // Where no value stands: what is moved is moved at the agent, and not bound there.
    let names = targets.iter().map(|(name, _)| {
        let mut name = name.clone();
        name.set_span(match_token.span);
        name
    });
    let agents = targets.iter().map(|(_, agent)| agent);
    let deny = quote_spanned!(match_token.span=> #[deny(unreachable_patterns)]);
    quote! {{
        use #rt;
        __rt::branch(#agent, (#(#agents,)*), move |#cx, #value, (#(#names,)*)| {
            #deny
            #match_token #value { #(#arms)* }
        })
    }}
}
