//! Prints agents that are an `impl` block with skills.

use super::{
    Step, asserts, hidden,
    implementation::{Work, built, implementation, outcome, unpacked, value},
};
use crate::{
    ast::{Impl, Member},
    messages,
    model::{Agent, Skill, ToolRef},
    names::plain,
    paths::here,
};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Meta, spanned::Spanned};

/// Prints the user's block without the attributes and macros of `#[agent]`, and the code that the runtime calls:
///
/// ```ignore
/// impl FileManager { /* methods with a body */ }
///
/// const _: () = {
///     use ::agents::__rt;
///     impl __rt::Agent for FileManager { .. }
///     impl FileManager where .. { fn __agent(&self) -> __rt::ModelAgent<'_, .., ..> { .. } }
/// };
/// ```
pub(super) fn agent(agent: &Agent, block: &Impl, skills: &[Skill]) -> TokenStream {
    let Agent { rt, cfgs, docs, .. } = agent;
    let kept = self::block(block);
    let ty = block.self_ty.to_token_stream();
    let items = if agent.broken {
        implementation(agent, &ty, &block.generics, &Work::none())
    } else {
        let printed: Vec<_> = skills.iter().map(|one| skill(agent, one)).collect();
        let implementation = implementation(agent, &ty, &block.generics, &Work::driven());
        let built = built(agent, &ty, &block.generics, printed);
        let none = without_skills(agent, skills);
        // The probe knows nothing of type parameters.
        let probes = skills
            .iter()
            .filter(|_| block.generics.params.is_empty())
            .filter_map(|skill| {
                let probe = asserts::no_hidden_result(&skill.returns)?;
                let cfgs = &skill.cfgs;
                Some(quote!(#(#cfgs)* #probe))
            });
        quote!(#implementation #built #none #(#probes)*)
    };
    let items = hidden(rt, cfgs, &items);
    quote!(#docs #kept #items)
}

/// Prints the user's block without `on_error!`, without `on_escalation!` and without functions that have no body.
pub(crate) fn block(block: &Impl) -> TokenStream {
    let mut members = TokenStream::new();
    for member in &block.members {
        match member {
            Member::Function(function, _) if function.has_body() => {
                function.to_tokens(&mut members);
            }
            Member::Function(..) | Member::OnError(_) | Member::OnEscalation(_) => {}
            Member::Other(tokens) => tokens.to_tokens(&mut members),
        }
    }
    block.with_members(&members)
}

/// Prints an error that rustc reports if `#[cfg]` leaves out every skill:
///
/// ```ignore
/// #[cfg(not(any(all(feature = "mail"), all(unix))))]
/// ::core::compile_error!("..");
/// ```
fn without_skills(agent: &Agent, skills: &[Skill]) -> Option<TokenStream> {
    if skills.iter().any(|skill| skill.cfgs.is_empty()) {
        return None;
    }
    let each = skills.iter().map(|skill| {
        let conditions = skill.cfgs.iter().filter_map(|cfg| match &cfg.meta {
            Meta::List(list) => Some(&list.tokens),
            _ => None,
        });
        quote!(all(#(#conditions),*))
    });
    let (at, message) = (agent.ident.span(), messages::no_skill(&agent.ident));
    let refused = quote_spanned!(at=> ::core::compile_error!(#message););
    Some(quote!(#[cfg(not(any(#(#each),*)))] #refused))
}

/// Prints the call that adds one skill, with a model or with a body:
///
/// ```ignore
/// __rt::Skill::<'_, .., _>::model("manage_files", "File management operations.")
///
/// __rt::Skill::native("root", "Answers without a model.", move |input: ..| async move {
///     __rt::Ok(__rt::ModelAnswer::pack(self.root(__rt::AgentData::unpack(input))))
/// })
/// .when(|r: &String| r.contains("where"))
/// ```
///
/// With `tools = [..]`, `.tools::<&str>([<ReadFile as __rt::ToolName>::NAME, "github_*"])` follows.
fn skill(agent: &Agent, skill: &Skill) -> Step {
    let Skill {
        cfgs,
        function,
        docs,
        when,
        tools,
        memory,
        purpose,
        unmarked: _,
        input,
        returns,
    } = skill;
    let ident = &function.sig.ident;
    let (name, description) = (plain(ident), docs.text());
    // What the condition takes is wrong where it stands.
    let when = when
        .as_ref()
        .map(|when| quote_spanned!(when.span()=> .when(#when)));
    let tools = tools.as_ref().map(|(key, listed)| {
        let names = listed.iter().map(tool_name);
        quote!(.#key::<&str>([#(#names),*]))
    });
    let memory = memory
        .as_ref()
        .map(|key| quote_spanned!(here(key.span())=> .with_memory()));
    let purpose = purpose.as_ref();
    let purpose = purpose.map(|(key, purpose)| quote!(.#key(#purpose)));
    let step = |skill: TokenStream| Step {
        attrs: cfgs.clone(),
        call: quote!(.skill(#skill)),
    };
    if !function.has_body() {
        // The types are said, so that a condition may leave that of its input out.
        let input = asserts::through(input, "AgentData");
        return step(
            quote!(__rt::Skill::<'_, #input, _>::model(#name, #description) #when #tools #memory #purpose),
        );
    }
    let value = value();
    let takes_input = function.sig.inputs.len() > 1;
    let (pattern, passed) = if takes_input {
        (quote!(#value), Some(unpacked()))
    } else {
        (quote!(_), None)
    };
    let input = asserts::through(input, "AgentData");
    let called = quote_spanned!(here(ident.span())=> self.#ident(#passed));
    let result = outcome(&called, function, returns, agent.output_bound());
    step(quote! {
        __rt::Skill::native(#name, #description, move |#pattern: #input| async move { #result }) #when
    })
}

/// Prints the name of a tool: `<ReadFile as __rt::ToolName>::NAME`, or `"github_*"`.
fn tool_name(tool: &ToolRef) -> TokenStream {
    match tool {
        ToolRef::Type(path) => quote_spanned!(here(path.span())=> <#path as __rt::ToolName>::NAME),
        ToolRef::Named(name) => name.to_token_stream(),
    }
}
