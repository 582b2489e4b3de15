//! Prints the builder of an agent that a model drives.

use super::Step;
use crate::{
    ast::Element,
    model::{Agent, Budget, Call, Context, Knowledge, Make, Settings},
    names::plain,
    paths::here,
    syntax::deferring,
};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprCall, ExprLit, Ident, Lit, spanned::Spanned};

/// Prints the settings of an agent as calls on its builder:
///
/// ```ignore
/// __rt::AgentBuilder::new("json_fixer")
///     .prompt("You are a JSON repair tool. Return ONLY the fixed JSON.")
///     .model(ollama("qwen2.5:7b").temperature(0.0))
///     .tools(__rt::ToolSet::new().with({ let tool = ReadFile; tool.__listed() }).with_all((more).__spread()))
///     .budget(__rt::Budget::new().max_turns(1))
///     /* skills */
///     .build()
/// ```
pub(super) fn builder(agent: &Agent, types: Option<TokenStream>, skills: Vec<Step>) -> TokenStream {
    let Settings {
        prompt,
        description,
        model,
        purpose,
        tools,
        budget,
        context,
        memory,
        knowledge: folders,
        policies,
        strict,
        on_tool_use,
        validate,
        hand_off,
        fixers,
    } = &agent.settings;
    let name = &agent.name;
    let input = agent.input_name.as_ref();
    let input = input.map(|input| quote!(.input_name(#input)));
    let description = description.as_ref().map(|(key, text)| quote!(.#key(#text)));
    let is_prompt = !agent.docs.is_empty() && matches!(agent.make, Make::Function(..));
    let prompt = match prompt {
        Some((key, prompt)) => Some(quote!(.#key(#prompt))),
        // What is said of an `impl` is said to people; a function's doc comment is its prompt.
        None => is_prompt
            .then(|| agent.docs.text())
            .map(|text| quote!(.prompt(#text))),
    };
    let model = model.as_ref().map(|(key, model)| quote!(.#key(#model)));
    let purpose = purpose.as_ref();
    let purpose = purpose.map(|(key, purpose)| quote!(.#key(#purpose)));
    let tools = tools.as_ref().map(|(key, elements)| {
        let elements = elements.iter().map(element);
        quote!(.#key(__rt::ToolSet::new() #(#elements)*))
    });
    let budget = budget.as_ref().map(|(key, budget)| match budget {
        Budget::Value(value) => quote!(.#key(#value)),
        Budget::Bounds(bounds) => {
            let bounds = bounds
                .iter()
                .map(|Call { method, argument }| quote!(.#method(#argument)));
            quote!(.#key(__rt::Budget::new() #(#bounds)*))
        }
    });
    let context = context.as_ref().map(|(key, context)| match context {
        Context::Value(value) => quote!(.#key(#value)),
        Context::Policy { verb, by, calls } => {
            let calls = calls
                .iter()
                .map(|Call { method, argument }| quote!(.#method(#argument)));
            quote!(.#key(__rt::#verb(#by) #(#calls)*))
        }
    });
    let memory = memory.as_ref().map(|(key, memory)| quote!(.#key(#memory)));
    let folders = folders.as_ref().map(|(key, folders)| {
        let method = Ident::new("knowledge_from", here(key.span()));
        quote!(.#method(#folders))
    });
    let policies = policies.as_ref().map(|(_, policies)| {
        let policies = policies
            .iter()
            .map(|(pattern, policy)| quote!(.policy(#pattern, #policy)));
        quote!(#(#policies)*)
    });
    let strict = strict.as_ref().map(|key| quote!(.#key()));
    let on_tool_use = on_tool_use.as_ref().map(|(key, hook)| quote!(.#key(#hook)));
    let validate = validate.as_ref().map(|(key, check)| quote!(.#key(#check)));
    let hand_off = hand_off
        .as_ref()
        .map(|(key, agents)| each(&key.to_string(), agents));
    let fixers = fixers.as_ref().map(|(_, fixers)| each("fixer", fixers));
    let begun = quote! {
        __rt::AgentBuilder #types::new(#name)
            #input #description #prompt #model #purpose #tools #budget #context #memory #folders #strict #on_tool_use #validate
            #policies #hand_off #fixers
    };
    let mut steps: Vec<Step> = agent.knowledge.iter().map(knowledge).collect();
    for arms in &agent.on_error {
        steps.extend(super::on_error::of_agent(agent, arms));
    }
    for handler in &agent.on_escalation {
        steps.push(super::on_escalation::of_agent(agent, handler));
    }
    steps.extend(skills);
    built(begun, steps)
}

/// Prints one chain of calls, which ends at each step that has attributes and begins anew:
///
/// ```ignore
/// let builder = __rt::AgentBuilder::new("clerk").skill(..);
/// #[cfg(feature = "mail")]
/// let builder = builder.skill(..);
/// builder.skill(..).build()
/// ```
fn built(mut chain: TokenStream, steps: Vec<Step>) -> TokenStream {
    // A name of the macro's own.
    let builder = Ident::new("builder", Span::mixed_site());
    let mut said = TokenStream::new();
    for Step { attrs, call } in steps {
        if attrs.is_empty() {
            chain.extend(call);
        } else {
            said.extend(quote! {
                let #builder = #chain;
                #(#attrs)*
                let #builder = #builder #call;
            });
            chain = builder.to_token_stream();
        }
    }
    quote!(#said #chain.build())
}

/// Prints the call for one element of a list of tools: `.with({ let tool = ReadFile; tool.__listed() })`, or
/// `.with_all((more).__spread())` for `..more`.
fn element(element: &Element) -> TokenStream {
    match element {
        Element::One(tool) if element.tool_type().is_some() => {
            let with = quote_spanned!(here(tool.span())=> .with);
            // By a name of its own: of a value that lacks fields rustc says how it is written.
            let listed = quote_spanned!(tool.span()=> { let tool = #tool; tool.__listed() });
            quote!(#with(#listed))
        }
        Element::One(tool) => quote_spanned!(here(tool.span())=> .with(#tool)),
        Element::Spread(dots, tools) => {
            let with_all = quote_spanned!(here(dots.span())=> .with_all);
            let spread = spread(tools);
            quote!(#with_all(#spread))
        }
    }
}

/// Prints `(more).__spread()`, or `(deferred((more).__spread())).__spread()`. A source of tools is borrowed, so that it
/// may be a static.
fn spread(tools: &Expr) -> TokenStream {
    match deferring(tools) {
        Some(ExprCall { func, args, .. }) => {
            let inner = args.iter().map(spread);
            quote_spanned!(tools.span()=> (#func(#(#inner),*)).__spread())
        }
        None => quote_spanned!(tools.span()=> (#tools).__spread()),
    }
}

/// Prints a call for each element of a list of agents: `.fixer(SqlFixer)`, or `.hand_off(Refunds)`.
fn each(method: &str, elements: &[Element]) -> TokenStream {
    let calls = elements.iter().map(|element| {
        let (Element::One(agent) | Element::Spread(_, agent)) = element;
        let at = here(agent.span());
        let method = Ident::new(method, at);
        quote_spanned!(at=> .#method(#agent))
    });
    quote!(#(#calls)*)
}

/// Prints the description of an agent for other agents: the key `description`, else the doc comment, else the prompt if
/// it is a string literal. Without these and without a prompt, it is the doc comment of the only skill. In all other
/// cases it is empty.
pub(super) fn description(agent: &Agent) -> TokenStream {
    let literal = |prompt: &Expr| {
        matches!(
            prompt,
            Expr::Lit(ExprLit {
                lit: Lit::Str(_),
                ..
            })
        )
    };
    match &agent.settings {
        Settings {
            description: Some((_, description)),
            ..
        } => description.to_token_stream(),
        _ if !agent.docs.is_empty() => agent.docs.text(),
        Settings {
            prompt: Some((_, prompt)),
            ..
        } if literal(prompt) => prompt.to_token_stream(),
        Settings { prompt: None, .. } => match agent.only_skill() {
            Some(skill) => skill.docs.text(),
            None => quote!(""),
        },
        _ => quote!(""),
    }
}

/// Prints the call that adds knowledge: `.knowledge("style_guide", "House style.", || self.style_guide())`.
fn knowledge(knowledge: &Knowledge) -> Step {
    let Knowledge {
        cfgs,
        function,
        docs,
        ty,
    } = knowledge;
    let ident = &function.sig.ident;
    let (name, description) = (plain(ident), docs.text());
    // What cannot be a text is wrong where its type is written.
    let method = quote_spanned!(ty.span()=> .knowledge);
    Step {
        attrs: cfgs.clone(),
        call: quote!(#method(#name, #description, || self.#ident())),
    }
}
