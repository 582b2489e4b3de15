//! The macros of `agents`.
//!
//! Use them through the `agents` crate, which documents them. The macros hold no logic: they expand to calls on
//! builders that a person would write.
//!
//! A macro runs through four phases, a module each, with a barrier between syntax and meaning:
//!
//! ```text
//! tokens ─► parse ─► ast ─► check ─► lower ─► model ─┤├─► check ─► expand ─► tokens
//! ```
//!
//! - `parse` reads tokens, and reports what no macro can read.
//! - `check` has the rules. It checks each part of the code as written, and leaves out what it reports. `suggest` tells
//!   what was probably meant. Later `check` looks at the code as meant: what is missing, and what contradicts. That
//!   second check needs everything to have been read.
//! - `lower` translates what was checked, and reports nothing.
//! - `expand` prints calls on builders.
//!
//! Mistakes are collected along the way and reported all at once, each at its own token. The user's
//! item is printed beside them, so that one mistake is one error.
//!
//! # Layers
//!
//! A module imports those above it in this list or to its left, and no others (`src/tests/layers.rs`).
//!
//! ```text
//! messages diag keys names  texts of diagnostics; their collection; the words of the language; names of types
//! walk syntax paths         walks over the user's code; its tokens; spans, and paths to the runtime
//! ast                       the code as written
//! suggest                   the code as probably meant, where a mistake is typical
//! parse                     tokens to ast
//! model                     the code as meant
//! check                     the rules
//! lower                     ast to model
//! expand                    model to tokens
//! ```

mod ast;
mod check;
mod diag;
mod expand;
// The book's list of words is compared with this file.
mod keys;
mod lower;
mod messages;
mod model;
mod names;
mod parse;
mod paths;
mod suggest;
mod syntax;
#[cfg(test)]
mod tests;
mod walk;

use check::Of;
use diag::Errors;
use model::Make;
use parse::Item;
use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use std::path::Path;
use syn::Receiver;

#[doc = include_str!("docs/tool_attribute.md")]
#[proc_macro_attribute]
pub fn tool_attribute(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute_tool(arguments.into(), &item.into()).into()
}

#[doc = include_str!("docs/tool_block.md")]
#[proc_macro]
pub fn tool(tokens: TokenStream) -> TokenStream {
    block_tool(tokens.into()).into()
}

#[doc = include_str!("docs/agent.md")]
#[proc_macro_attribute]
pub fn agent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute_agent(arguments.into(), &item.into()).into()
}

#[doc = include_str!("docs/example.md")]
#[proc_macro_attribute]
pub fn example(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute_example(&arguments.into(), item.into()).into()
}

#[doc = include_str!("docs/on_error.md")]
#[proc_macro]
pub fn on_error(tokens: TokenStream) -> TokenStream {
    block_on_error(tokens.into()).into()
}

#[doc = include_str!("docs/in_doubt.md")]
#[proc_macro]
pub fn in_doubt(tokens: TokenStream) -> TokenStream {
    block_in_doubt(tokens.into()).into()
}

#[doc = include_str!("docs/undo.md")]
#[proc_macro]
pub fn undo(tokens: TokenStream) -> TokenStream {
    block_undo(tokens.into()).into()
}

#[doc = include_str!("docs/on_escalation.md")]
#[proc_macro]
pub fn on_escalation(tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    parse::on_escalation_outside(&tokens.into(), &errors);
    errors.finish().into()
}

#[doc = include_str!("docs/structure.md")]
#[proc_macro]
pub fn structure(tokens: TokenStream) -> TokenStream {
    expression_structure(tokens.into()).into()
}

#[doc = include_str!("docs/branch.md")]
#[proc_macro]
pub fn branch(tokens: TokenStream) -> TokenStream {
    expression_branch(tokens.into()).into()
}

#[doc = include_str!("docs/dir.md")]
#[proc_macro]
pub fn dir(tokens: TokenStream) -> TokenStream {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    expression_dir(tokens.into(), Path::new(&root)).into()
}

fn attribute_tool(arguments: Tokens, item: &Tokens) -> Tokens {
    let errors = Errors::new();
    match parse::tool_attribute(arguments, item.clone(), &errors) {
        Some(tool) => print_tool(tool, errors),
        None => expand::untouched(errors, &parse::without_examples(item.clone())),
    }
}

/// Reports an `#[example(..)]` that no `#[tool]` above it has read.
fn attribute_example(arguments: &Tokens, item: Tokens) -> Tokens {
    let errors = Errors::new();
    let (is_method, item) = parse::example_above(arguments, item, &errors);
    let errors = match is_method {
        true => errors.bare(),
        false => errors.finish(),
    };
    quote!(#errors #item)
}

fn block_tool(tokens: Tokens) -> Tokens {
    let errors = Errors::new();
    match parse::tool_block(tokens, &errors) {
        Some(tool) => print_tool(tool, errors),
        None => errors.finish(),
    }
}

fn print_tool(mut tool: ast::Tool, errors: Errors) -> Tokens {
    let is_read = errors.is_whole();
    check::tool_as_written(&mut tool, &errors);
    let tool = lower::tool(tool);
    if is_read {
        check::tool(&tool, &errors);
    }
    let errors = beside(tool.function.sig.receiver(), errors);
    let tool = expand::tool(&tool);
    quote!(#errors #tool)
}

/// Prints the errors beside a function: in a constant, unless the function has `self` and so stands in an `impl`.
fn beside(receiver: Option<&Receiver>, errors: Errors) -> Tokens {
    match receiver {
        Some(_) => errors.bare(),
        None => errors.finish(),
    }
}

fn attribute_agent(arguments: Tokens, item: &Tokens) -> Tokens {
    let errors = Errors::new();
    let Some(parsed) = parse::agent(arguments, item.clone(), &errors) else {
        return expand::untouched(errors, item);
    };
    let is_read = errors.is_whole();
    let mut agent = match parsed {
        Item::Function(mut agent) => {
            check::function_as_written(&mut agent, &errors);
            lower::function_agent(agent)
        }
        Item::Impl(mut agent) => {
            check::skills_as_written(&mut agent, &errors);
            match lower::skill_agent(agent) {
                Ok(agent) => agent,
                Err(block) => return expand::untouched(errors, &expand::block(&block)),
            }
        }
    };
    if is_read {
        check::agent(&mut agent, &errors);
    }
    let errors = match &agent.make {
        Make::Function(function, _) => beside(function.sig.receiver(), errors),
        Make::Skills(..) => errors.finish(),
    };
    let agent = expand::agent(&agent);
    quote!(#errors #agent)
}

fn block_on_error(tokens: Tokens) -> Tokens {
    let errors = Errors::new();
    let Some((rt, mut arms)) = parse::on_error_block(tokens, &errors) else {
        return errors.finish();
    };
    check::arms_as_written(&mut arms, Of::Tool(&[]), &errors);
    let arms = lower::on_error(arms);
    check::on_error_alone(&arms.written, &errors);
    let (errors, arms) = (errors.finish(), expand::on_error(&arms, &rt));
    quote!(#errors #arms)
}

fn block_in_doubt(tokens: Tokens) -> Tokens {
    let errors = Errors::new();
    let Some((rt, mut doubt)) = parse::in_doubt_block(tokens, &errors) else {
        return errors.finish();
    };
    check::in_doubt_as_written(&mut doubt, &errors);
    let doubt = lower::in_doubt(doubt);
    let (errors, doubt) = (errors.finish(), expand::in_doubt(&doubt, &rt));
    quote!(#errors #doubt)
}

fn block_undo(tokens: Tokens) -> Tokens {
    let errors = Errors::new();
    let Some((rt, mut undo)) = parse::undo_block(tokens, &errors) else {
        return errors.finish();
    };
    check::undo_as_written(&mut undo, &errors);
    let undo = lower::undo(undo);
    let (errors, undo) = (errors.finish(), expand::undo(&undo, &rt));
    quote!(#errors #undo)
}

fn expression_structure(tokens: Tokens) -> Tokens {
    let errors = Errors::new();
    let Some((rt, mut root)) = parse::structure(tokens, &errors) else {
        return expand::no_expression(errors);
    };
    check::structure_as_written(&mut root, &errors);
    let root = lower::member(root);
    check::structure(&root, &errors);
    expand::expression(errors, &expand::structure(&root, &rt))
}

fn expression_branch(tokens: Tokens) -> Tokens {
    let errors = Errors::new();
    let Some((rt, mut branch)) = parse::branch(tokens, &errors) else {
        return expand::no_expression(errors);
    };
    let is_read = errors.is_whole();
    check::branch_as_written(&mut branch, &errors);
    let branch = lower::branch(branch);
    if is_read {
        check::branch(&branch, &errors);
    }
    if branch.targets.is_empty() {
        return expand::no_expression(errors);
    }
    expand::expression(errors, &expand::branch(&branch, &rt))
}

/// Prints the folders below a path, which is relative to `root`.
fn expression_dir(tokens: Tokens, root: &Path) -> Tokens {
    let errors = Errors::new();
    let Some((rt, dir)) = parse::dir(tokens, root, &errors) else {
        return expand::no_expression(errors);
    };
    check::dir(&dir, &errors);
    let folders = lower::dir(dir);
    expand::expression(errors, &expand::dir(&folders, &rt))
}
