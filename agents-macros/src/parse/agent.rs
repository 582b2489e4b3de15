//! `#[agent(..)]` and its item:
//!
//! ```text
//! #[agent]                                         #[agent(prompt = "..", tools = [ReadFile])]
//! fn regex_fixer(broken: String) -> String {..}    impl FileManager {
//!                                                      #[skill]
//! #[agent(model = ollama("qwen2.5:7b"))]               async fn manage_files(&self, request: String) -> Summary;
//! async fn json_fixer(request: Repair) -> String;  }
//! ```

use super::{all, entries, function, on_error, rest, tool::is};
use crate::{
    ast::{Agent, Arms, Entry, Function, Handler, Impl, Mark, Member, Skill, Value},
    diag::Errors,
    keys, messages,
    names::is_one_of,
    paths::start,
    suggest::{self, colons},
    syntax::{is_own, taken, typed},
};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Expr, Generics, Ident, ImplItem, Path, Token, Type, braced,
    parse::{ParseStream, Parser},
    token,
};

/// An item below `#[agent]`, as it was read.
pub(crate) enum Item {
    /// A function, with a body or without.
    Function(Agent<Function>),
    /// An `impl` block with skills.
    Impl(Agent<Impl>),
}

/// Reads `#[agent(arguments)] item`.
pub(crate) fn agent(arguments: TokenStream, item: TokenStream, errors: &Errors) -> Option<Item> {
    let mut entries = entries::entries("agent", arguments, errors);
    let read = |input: ParseStream<'_>| {
        let mut attrs = input.call(Attribute::parse_outer)?;
        for again in taken(&mut attrs, &|attribute| is(attribute, "agent")) {
            entries.extend(entries::of_attribute(&again, errors));
        }
        if function::is_next(input) {
            let item = function::function(input, attrs, errors)?;
            return Ok(Item::Function(Agent { entries, item }));
        }
        if input.peek(Token![impl]) || (input.peek(Token![unsafe]) && input.peek2(Token![impl])) {
            let mut item = block(input, attrs, errors)?;
            if item.trait_.is_none() {
                one_job(&mut item.members, &entries);
            }
            return Ok(Item::Impl(Agent { entries, item }));
        }
        Err(input.error(messages::NOT_AN_AGENT))
    };
    all(item, errors, |input| {
        let item = errors.ok(read(input));
        if item.is_none() {
            rest(input);
        }
        item
    })?
}

fn block(input: ParseStream<'_>, attrs: Vec<Attribute>, errors: &Errors) -> syn::Result<Impl> {
    let unsafety = input.parse()?;
    let impl_token: Token![impl] = input.parse()?;
    let mut generics: Generics = input.parse()?;
    let first: Type = input.parse()?;
    let (trait_, self_ty) = match input.parse::<Option<Token![for]>>()? {
        Some(for_token) => (Some((as_path(first)?, for_token)), input.parse()?),
        None => (None, Box::new(first)),
    };
    generics.where_clause = input.parse()?;
    let inside;
    let brace = braced!(inside in input);
    let mut members = Vec::new();
    while !inside.is_empty() {
        match member(&inside, errors) {
            Ok(member) => members.push(member),
            Err(error) => {
                errors.push(error);
                skip_member(&inside);
            }
        }
    }
    Ok(Impl {
        attrs,
        unsafety,
        impl_token,
        generics,
        trait_,
        self_ty,
        brace,
        members,
    })
}

/// Makes the one method of an agent its job, if no method is marked `#[skill]`.
///
/// This is the only method without a body. If all methods have a body, there must be a single one, with exactly one
/// parameter besides `self`. Knowledge and functions without `self` do not count. A job without a body has the agent's
/// memory, if there is one.
fn one_job(members: &mut [Member], entries: &[Entry]) {
    let is_marked = |member: &Member| matches!(member, Member::Function(_, Some(Mark::Skill(_))));
    if members.iter().any(is_marked) {
        return;
    }
    let mut methods: Vec<_> = members
        .iter_mut()
        .filter_map(|member| match member {
            Member::Function(function, mark @ None) => Some((function, mark)),
            _ => None,
        })
        .filter(|(function, _)| function.sig.receiver().is_some())
        .collect();
    if methods.iter().any(|(function, _)| !function.has_body()) {
        methods.retain(|(function, _)| !function.has_body());
    } else if methods
        .iter()
        .any(|(function, _)| typed(&function.sig).len() != 1)
    {
        return;
    }
    let [(function, mark)] = &mut methods[..] else {
        return;
    };
    let memory = entries.iter().filter(|entry| entry.key == "memory");
    let memory = memory.filter(|_| !function.has_body()).map(|entry| Entry {
        key: entry.key.clone(),
        value: Value::Nothing,
    });
    **mark = Some(Mark::Skill(Skill {
        entries: memory.collect(),
        unmarked: true,
    }));
}

fn as_path(ty: Type) -> syn::Result<Path> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Ok(path.path),
        other => Err(syn::Error::new_spanned(other, "expected a trait")),
    }
}

fn member(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Member> {
    let ahead = input.fork();
    ahead.call(Attribute::parse_outer)?;
    if !function::is_next(&ahead) {
        if let Some(block) = block_without_macro(&ahead) {
            return Err(syn::Error::new(
                block.span(),
                messages::block_without_macro(&block),
            ));
        }
        return Ok(match input.parse::<ImplItem>()? {
            ImplItem::Macro(call) => match reserved(&call.mac.path) {
                Some(name) if name == "on_error" => {
                    let read = |input: ParseStream<'_>| {
                        on_error::matched(input, Some(name.clone()), errors)
                    };
                    let mut arms = read.parse2(call.mac.tokens)?;
                    let skill = arms.tool.take_if(|path| is_own(path));
                    Member::OnError(Arms {
                        attrs: call.attrs,
                        skill: skill.map(|path| path.segments[1].ident.clone()),
                        ..arms
                    })
                }
                Some(keyword) => {
                    let body = colons::replaced(call.mac.tokens, errors);
                    Member::OnEscalation(Handler {
                        attrs: call.attrs,
                        keyword,
                        body: handled.parse2(body)?,
                    })
                }
                None if let Some(name) = of_a_tool(&call.mac.path) => {
                    let message = match name == "undo" {
                        true => messages::undo_in_an_agent(),
                        false => messages::doubt_in_an_agent(),
                    };
                    errors.at(name, message);
                    Member::Other(TokenStream::new())
                }
                None => Member::Other(call.into_token_stream()),
            },
            other => Member::Other(other.into_token_stream()),
        });
    }
    let mut attrs = input.call(Attribute::parse_outer)?;
    let mut skill: Option<Skill> = None;
    for attribute in attrs.iter_mut() {
        suggest::mark(attribute, errors);
    }
    for attribute in taken(&mut attrs, &|attribute| is(attribute, "skill")) {
        let more = entries::of_attribute(&attribute, errors);
        skill
            .get_or_insert_with(|| Skill {
                entries: Vec::new(),
                unmarked: false,
            })
            .entries
            .extend(more);
    }
    let mut mark = skill.map(Mark::Skill);
    for attribute in taken(&mut attrs, &|attribute| is(attribute, "knowledge")) {
        match mark {
            None => mark = Some(Mark::Knowledge(Box::new(attribute))),
            Some(_) => errors.at(&attribute, messages::marked_twice()),
        }
    }
    let function = function::function(input, attrs, errors)?;
    Ok(Member::Function(Box::new(function), mark))
}

/// Returns the name of a block such as `on_error { .. }`, if one comes next. In an `impl` it has to be a macro call.
fn block_without_macro(input: ParseStream<'_>) -> Option<Ident> {
    let name: Ident = input.fork().parse().ok()?;
    let is_block = is_one_of(&name, keys::BLOCKS) && input.peek2(token::Brace);
    is_block.then_some(name)
}

/// Reads the body of `on_escalation!(..)`.
fn handled(input: ParseStream<'_>) -> syn::Result<Expr> {
    let body = input.parse()?;
    match input.is_empty() {
        true => Ok(body),
        false => Err(input.error(messages::ESCALATION_IS_A_MATCH)),
    }
}

/// Returns the name of a macro such as `on_error!`, if the path names one that an agent's `impl` may hold.
fn reserved(path: &Path) -> Option<Ident> {
    let name = &path.segments.last()?.ident;
    is_one_of(name, keys::BLOCKS).then(|| name.clone())
}

/// Returns the name of an `in_doubt!(..)` or an `undo!(..)`, which belong to a tool.
fn of_a_tool(path: &Path) -> Option<&Ident> {
    let name = &path.segments.last()?.ident;
    (name == "in_doubt" || name == "undo").then_some(name)
}

fn skip_member(input: ParseStream<'_>) {
    while !input.is_empty() {
        let ends = input.peek(token::Brace) || input.peek(Token![;]);
        if input.parse::<TokenTree>().is_err() || ends {
            return;
        }
    }
}

/// Reports an `on_escalation!` that stands in no `#[agent] impl`.
pub(crate) fn on_escalation_outside(tokens: &TokenStream, errors: &Errors) {
    // The first token in it is the user's own.
    errors.note(syn::Error::new(
        start(tokens),
        messages::escalation_outside(),
    ));
}
