//! An agent, and the agents that continue with its answer:
//!
//! ```text
//! branch!(Review, match verdict {
//!     Passed(p) => Deployer.run(p),
//!     Failed(f) => reporter.run(f),
//! })
//! ```

use super::{all, rest, rt, skip_to_comma};
use crate::{ast::Branch, diag::Errors, messages, paths::Rt, syntax::ungrouped};
use proc_macro2::TokenStream;
use syn::{
    Arm, Expr, Token, braced,
    parse::{Parse, ParseStream},
};

/// Reads the tokens of `branch!(agent, match value { arms })`. Returns them with the path to the runtime; `None` if
/// they cannot be read.
pub(crate) fn branch(tokens: TokenStream, errors: &Errors) -> Option<(Rt, Branch)> {
    let branch = |input: ParseStream<'_>| Ok((rt(input)?, read(input, errors)?));
    all(tokens, errors, |input| {
        let branch = errors.ok(branch(input));
        if branch.is_none() {
            rest(input);
        }
        branch
    })?
}

fn read(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Branch> {
    if input.is_empty() || input.peek(Token![match]) {
        return Err(input.error(messages::BRANCH_WANTS_AGENT));
    }
    let agent = ungrouped(input.parse()?);
    input.parse::<Token![,]>()?;
    if !input.peek(Token![match]) {
        return Err(input.error(messages::BRANCH_WANTS_MATCH));
    }
    let match_token = input.parse()?;
    let value = input.call(Expr::parse_without_eager_brace)?;
    let value = match &value {
        Expr::Path(path) if path.path.get_ident().is_some() => path.path.get_ident().cloned(),
        _ => None,
    }
    .ok_or_else(|| syn::Error::new_spanned(&value, messages::BRANCH_WANTS_NAME))?;
    let inside;
    braced!(inside in input);
    let mut arms = Vec::new();
    while !inside.is_empty() {
        match Arm::parse(&inside) {
            Ok(arm) => arms.push(arm),
            Err(error) => {
                errors.push(error);
                skip_to_comma(&inside);
                let _ = inside.parse::<Token![,]>();
            }
        }
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(Branch {
        agent,
        match_token,
        value,
        arms,
    })
}
