//! A tool, in its two spellings:
//!
//! ```text
//! #[tool(reads)]                              tool! {
//! /// Read a file's contents.                     /// Read a file's contents.
//! async fn read_file(..) -> .. { .. }             #[tool(reads)]
//!                                                 async fn read_file(..) -> .. { .. }
//!
//!                                                 on_error { .. }
//!                                                 in_doubt(key) => ..
//!                                                 undo(output) => ..
//!                                             }
//! ```

use super::{all, entries, function, in_doubt, on_error, rest, undo};
use crate::{
    ast::{Arms, Body, Entry, Example, Function, Tool},
    diag::Errors,
    messages,
    syntax::{pair, taken},
};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{
    Attribute, Ident, ImplItemFn, Meta, MetaList,
    parse::{ParseStream, Parser},
};

/// Reads the input of `#[tool(arguments)] item`.
pub(crate) fn tool_attribute(
    arguments: TokenStream,
    item: TokenStream,
    errors: &Errors,
) -> Option<Tool> {
    let entries = entries::entries("tool", arguments, errors);
    let mut tool = all(item, errors, |input| tool(input, entries, errors))??;
    tool.examples = examples(&mut tool.function, errors);
    Some(tool)
}

/// Reads the input of `tool!`: `tool! { item on_error { .. } in_doubt(key) => .. undo(output) => .. }`.
pub(crate) fn tool_block(tokens: TokenStream, errors: &Errors) -> Option<Tool> {
    all(tokens, errors, |input| {
        let mut tool = tool(input, Vec::new(), errors)?;
        let body = &mut tool.function.body;
        let misplaced = messages::DOUBT_IN_THE_BODY;
        tool.in_doubt = in_the_body(body, "in_doubt", misplaced, in_doubt::in_doubt, errors);
        tool.undo = in_the_body(body, "undo", messages::UNDO_IN_THE_BODY, undo::undo, errors);
        tool.on_error = arms_in_the_body(&mut tool.function.body, errors);
        while !input.is_empty() {
            if undo::is_next(input) {
                let undo = undo::undo(input, errors);
                match &tool.undo {
                    Some(first) => {
                        errors.at(&first.keyword, messages::undo_twice());
                        if let Some(second) = undo {
                            errors.at(&second.keyword, messages::undo_twice());
                        }
                    }
                    None => tool.undo = undo,
                }
            } else if in_doubt::is_next(input) {
                let doubt = in_doubt::in_doubt(input, errors);
                match &tool.in_doubt {
                    Some(first) => {
                        errors.at(&first.keyword, messages::in_doubt_twice());
                        if let Some(second) = doubt {
                            errors.at(&second.keyword, messages::in_doubt_twice());
                        }
                    }
                    None => tool.in_doubt = doubt,
                }
            } else if on_error::is_next(input) {
                let block = errors.ok(on_error::on_error(input, errors));
                match &tool.on_error {
                    Some(first) => {
                        errors.at(&first.keyword, messages::on_error_twice());
                        if let Some(second) = block {
                            errors.at(&second.keyword, messages::on_error_twice());
                        }
                    }
                    None => tool.on_error = block,
                }
            } else if input.peek(syn::Token![,]) || input.peek(syn::Token![;]) {
                errors.at(input.parse::<TokenTree>().ok(), messages::BEHIND_THE_BODY);
            } else {
                errors.push(after_the_tool(input));
                rest(input);
            }
        }
        tool.examples = examples(&mut tool.function, errors);
        Some(tool)
    })?
}

fn tool(input: ParseStream<'_>, mut entries: Vec<Entry>, errors: &Errors) -> Option<Tool> {
    let attrs = errors.ok(input.call(Attribute::parse_outer))?;
    if !function::is_next(input) {
        let message = if undo::is_next(input) {
            messages::UNDO_BEFORE_THE_TOOL
        } else if in_doubt::is_next(input) {
            messages::DOUBT_BEFORE_THE_TOOL
        } else if on_error::is_next(input) {
            messages::ARMS_BEFORE_THE_TOOL
        } else {
            messages::NOT_A_FUNCTION
        };
        errors.push(input.error(message));
        rest(input);
        return None;
    }
    let mut function = match function::function(input, attrs, errors) {
        Ok(function) => function,
        Err(error) => {
            errors.push(error);
            rest(input);
            return None;
        }
    };
    for attribute in taken(&mut function.attrs, &|attribute| is(attribute, "tool")) {
        entries.extend(entries::of_attribute(&attribute, errors));
    }
    Some(Tool {
        entries,
        function,
        examples: Vec::new(),
        on_error: None,
        in_doubt: None,
        undo: None,
    })
}

/// Takes an `on_error { .. }` out of the body of a tool's function. It is reported, and read as if it stood behind the
/// function.
fn arms_in_the_body(body: &mut Body, errors: &Errors) -> Option<Arms> {
    let Body::Block(block) = body else {
        return None;
    };
    let mut tokens: Vec<TokenTree> = block.stream().into_iter().collect();
    let begins = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(word), TokenTree::Group(arms)] => {
            word == "on_error" && arms.delimiter() == Delimiter::Brace
        }
        _ => false,
    };
    let at = tokens.windows(2).position(begins)?;
    errors.at(&tokens[at], messages::ARMS_IN_THE_BODY);
    let after = tokens.split_off(at + 2);
    let arms = tokens.split_off(at);
    tokens.extend(after);
    *block = with_tokens(block, tokens);
    let read = |input: ParseStream<'_>| on_error::on_error(input, errors);
    errors.ok(read.parse2(arms.into_iter().collect()))
}

/// Takes an `in_doubt(key) => ..` or an `undo(output) => ..` out of the body of a tool's function. It is reported as
/// `misplaced`, and read as if it stood behind the function.
fn in_the_body<T>(
    body: &mut Body,
    keyword: &str,
    misplaced: &str,
    read: fn(ParseStream<'_>, &Errors) -> Option<T>,
    errors: &Errors,
) -> Option<T> {
    let Body::Block(block) = body else {
        return None;
    };
    let mut tokens: Vec<TokenTree> = block.stream().into_iter().collect();
    let begins = |three: &[TokenTree]| match three {
        [
            TokenTree::Ident(word),
            TokenTree::Group(_),
            TokenTree::Punct(arrow),
        ] => word == keyword && arrow.as_char() == '=',
        _ => false,
    };
    let at = tokens.windows(3).position(begins)?;
    errors.at(&tokens[at], misplaced);
    let found = tokens.split_off(at);
    let mut after = TokenStream::new();
    let read = |input: ParseStream<'_>| {
        let found = read(input, errors);
        after = rest(input);
        Ok(found)
    };
    let found = errors.ok(read.parse2(found.into_iter().collect()));
    tokens.extend(after);
    *block = with_tokens(block, tokens);
    found?
}

/// Returns a body with other tokens, at the same place.
fn with_tokens(block: &Group, tokens: Vec<TokenTree>) -> Group {
    let mut with = Group::new(block.delimiter(), tokens.into_iter().collect());
    with.set_span(block.span());
    with
}

/// Returns the error about an item behind the function that is no `on_error`, `in_doubt` or `undo`.
fn after_the_tool(input: ParseStream<'_>) -> syn::Error {
    let ahead = input.fork();
    let _ = ahead.call(Attribute::parse_outer);
    if function::is_next(&ahead) {
        while !ahead.is_empty() && !ahead.peek(syn::Token![fn]) {
            let _ = ahead.parse::<TokenTree>();
        }
        let _ = ahead.parse::<syn::Token![fn]>();
        if let Ok(name) = ahead.parse::<Ident>() {
            return syn::Error::new(name.span(), messages::second_tool(&name));
        }
    }
    let ahead = input.fork();
    match ahead.parse::<Ident>() {
        Ok(word) if word == "on_error" => ahead.error(messages::ARMS_IN_BRACES),
        _ => input.error(messages::AFTER_THE_TOOL),
    }
}

/// Tells whether an attribute is `#[name]`, with or without a path.
pub(super) fn is(attribute: &Attribute, name: &str) -> bool {
    attribute
        .path()
        .segments
        .last()
        .is_some_and(|segment| segment.ident == name)
}

/// Takes the examples from the attributes of a function.
fn examples(function: &mut Function, errors: &Errors) -> Vec<Example> {
    let is_example = |attribute: &Attribute| attribute.path().is_ident("example");
    let attributes = taken(&mut function.attrs, &is_example).into_iter();
    let name = &function.sig.ident;
    attributes
        .filter_map(|attribute| example(attribute, name, errors))
        .collect()
}

/// Reads `#[example(path = "a.txt")]`.
fn example(attribute: Attribute, tool: &Ident, errors: &Errors) -> Option<Example> {
    let is_list = matches!(&attribute.meta, Meta::List(list) if !is_json(list));
    if !is_list {
        errors.at(&attribute, messages::example_of_nothing(tool));
        return None;
    }
    let (mut fields, mut is_read) = (Vec::new(), true);
    for value in entries::arguments(&attribute, errors) {
        match pair(value) {
            Ok(field) => fields.push(field),
            Err(other) => {
                is_read = false;
                errors.at(other, messages::EXAMPLE_WITHOUT_NAMES);
            }
        }
    }
    is_read.then_some(Example { attribute, fields })
}

/// Tells whether an example is written as JSON: `#[example({"path": "a.txt"})]`.
fn is_json(list: &MetaList) -> bool {
    let first = list.tokens.clone().into_iter().next();
    matches!(first, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

/// Reports an example that no `#[tool]` above it reads, and moves it below a `#[tool]` that follows. Also returns
/// `true` if the item is a method.
pub(crate) fn example_above(
    arguments: &TokenStream,
    item: TokenStream,
    errors: &Errors,
) -> (bool, TokenStream) {
    errors.note(syn::Error::new(Span::call_site(), messages::EXAMPLE_ABOVE));
    let function = syn::parse2::<ImplItemFn>(item.clone());
    let is_method = function.is_ok_and(|function| function.sig.receiver().is_some());
    let (attributes, rest) = apart(item);
    let is_tool = |attribute: &Attribute| {
        let name = attribute.path().segments.last();
        name.is_some_and(|name| name.ident == "tool")
    };
    let example = attributes.iter().any(is_tool).then(|| match arguments {
        nothing if nothing.is_empty() => quote!(#[example]),
        given => quote!(#[example(#given)]),
    });
    (is_method, quote!(#(#attributes)* #example #rest))
}

/// Returns `item` without its examples, which show nothing without a tool.
pub(crate) fn without_examples(item: TokenStream) -> TokenStream {
    let (mut attributes, rest) = apart(item);
    taken(&mut attributes, &|attribute| {
        attribute.path().is_ident("example")
    });
    quote!(#(#attributes)* #rest)
}

/// Splits an item into its attributes and the rest.
fn apart(item: TokenStream) -> (Vec<Attribute>, TokenStream) {
    let parser = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        Ok((attributes, input.parse()?))
    };
    let whole = item.clone();
    parser.parse2(item).unwrap_or((Vec::new(), whole))
}
