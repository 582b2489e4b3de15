//! An agent, and who goes on with what it gives:
//!
//! ```text
//! branch!(Review, match verdict {
//!     Passed(p) => Deployer.run(p),
//!     Failed(f) => reporter.run(f),
//! })
//! ```

use super::{all, rest, skip_to_comma};
use crate::{ast::Branch, check::messages, diag::Errors};
use proc_macro2::TokenStream;
use syn::{
    Arm, Expr, Token, braced,
    parse::{Parse, ParseStream},
};

/// `branch!(agent, match value { arms })`
pub(crate) fn branch(tokens: TokenStream, errors: &Errors) -> Option<Branch> {
    all(tokens, errors, |input| {
        let branch = errors.ok(read(input, errors));
        if branch.is_none() {
            rest(input);
        }
        branch
    })?
}

fn read(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Branch> {
    let agent = input.parse::<Expr>()?;
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
