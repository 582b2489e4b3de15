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
//!                                             }
//! ```

use super::{all, entries, function, in_doubt, on_error, rest};
use crate::{
    ast::{Arms, Body, Entry, InDoubt, Tool},
    diag::Errors,
    messages,
};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{
    Attribute, Ident,
    parse::{ParseStream, Parser},
};

/// `#[tool(arguments)] item`
pub(crate) fn tool_attribute(
    arguments: TokenStream,
    item: TokenStream,
    errors: &Errors,
) -> Option<Tool> {
    let entries = entries::entries("tool", arguments, errors);
    all(item, errors, |input| tool(input, entries, errors))?
}

/// `tool! { item on_error { .. } in_doubt(key) => .. }`
pub(crate) fn tool_block(tokens: TokenStream, errors: &Errors) -> Option<Tool> {
    all(tokens, errors, |input| {
        let mut tool = tool(input, Vec::new(), errors)?;
        tool.in_doubt = doubt_in_the_body(&mut tool.function.body, errors);
        tool.on_error = arms_in_the_body(&mut tool.function.body, errors);
        while !input.is_empty() {
            if in_doubt::is_next(input) {
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
        Some(tool)
    })?
}

fn tool(input: ParseStream<'_>, mut entries: Vec<Entry>, errors: &Errors) -> Option<Tool> {
    let attrs = errors.ok(input.call(Attribute::parse_outer))?;
    if !function::is_next(input) {
        let message = if in_doubt::is_next(input) {
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
    let own = |attribute: &mut Attribute| is(attribute, "tool");
    for attribute in function.attrs.extract_if(.., own) {
        entries.extend(entries::of_attribute(&attribute, errors));
    }
    Some(Tool {
        entries,
        function,
        on_error: None,
        in_doubt: None,
    })
}

/// Arms that stand in the body are reported, and read as what was meant.
fn arms_in_the_body(body: &mut Body, errors: &Errors) -> Option<Arms> {
    let Body::Block(block) = body else {
        return None;
    };
    let tokens: Vec<TokenTree> = block.stream().into_iter().collect();
    let begins = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(word), TokenTree::Group(arms)] => {
            word == "on_error" && arms.delimiter() == Delimiter::Brace
        }
        _ => false,
    };
    let at = tokens.windows(2).position(begins)?;
    errors.at(&tokens[at], messages::ARMS_IN_THE_BODY);
    let (before, rest) = tokens.split_at(at);
    let (arms, after) = rest.split_at(2);
    let mut without = Group::new(
        block.delimiter(),
        before.iter().chain(after).cloned().collect(),
    );
    without.set_span(block.span());
    *block = without;
    let read = |input: ParseStream<'_>| on_error::on_error(input, errors);
    errors.ok(read.parse2(arms.iter().cloned().collect()))
}

/// The same of `in_doubt(key) => ..`.
fn doubt_in_the_body(body: &mut Body, errors: &Errors) -> Option<InDoubt> {
    let Body::Block(block) = body else {
        return None;
    };
    let tokens: Vec<TokenTree> = block.stream().into_iter().collect();
    let begins = |three: &[TokenTree]| match three {
        [
            TokenTree::Ident(word),
            TokenTree::Group(_),
            TokenTree::Punct(arrow),
        ] => word == "in_doubt" && arrow.as_char() == '=',
        _ => false,
    };
    let at = tokens.windows(3).position(begins)?;
    errors.at(&tokens[at], messages::DOUBT_IN_THE_BODY);
    let (before, doubt) = tokens.split_at(at);
    let mut after = TokenStream::new();
    let read = |input: ParseStream<'_>| {
        let doubt = in_doubt::in_doubt(input, errors);
        after = rest(input);
        Ok(doubt)
    };
    let doubt = errors.ok(read.parse2(doubt.iter().cloned().collect()));
    let mut without = Group::new(
        block.delimiter(),
        before.iter().cloned().chain(after).collect(),
    );
    without.set_span(block.span());
    *block = without;
    doubt?
}

/// What is wrong with something that follows the function, and is neither `on_error` nor `in_doubt`.
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

/// Whether an attribute is `#[name]`, however it is qualified.
pub(super) fn is(attribute: &Attribute, name: &str) -> bool {
    attribute
        .path()
        .segments
        .last()
        .is_some_and(|segment| segment.ident == name)
}
