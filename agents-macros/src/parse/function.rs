//! A function, with a body or without:
//!
//! ```text
//! /// Docs.
//! pub async fn read_file(/** Path. */ path: PathBuf, #[inject] pool: &Pool) -> io::Result<String> { .. }
//! ```

use super::{list, skip_to_comma};
use crate::{
    ast::{Body, Function},
    diag::Errors,
    messages,
    paths::end,
    syntax::written,
};
use proc_macro2::{Delimiter, Group, TokenTree};
use syn::{
    Abi, Attribute, FnArg, Generics, Ident, Pat, ReturnType, Safety, Signature, Token, Visibility,
    ext::IdentExt, parenthesized, parse::ParseStream, token,
};

/// Returns `true` if a function comes next, without reading it. Its attributes must have been read already.
pub(super) fn is_next(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let Ok(_) = ahead.parse::<Visibility>() else {
        return false;
    };
    while ahead.peek(Token![const])
        || ahead.peek(Token![async])
        || ahead.peek(Token![unsafe])
        || ahead.peek(Token![extern])
        || ahead.peek(syn::LitStr)
    {
        let _ = ahead.parse::<TokenTree>();
    }
    ahead.peek(Token![fn])
}

/// Reads the function that stands behind the attributes `attrs`.
pub(super) fn function(
    input: ParseStream<'_>,
    attrs: Vec<Attribute>,
    errors: &Errors,
) -> syn::Result<Function> {
    let vis = input.parse()?;
    let constness: Option<Token![const]> = input.parse()?;
    let asyncness: Option<Token![async]> = input.parse()?;
    let unsafety: Option<Token![unsafe]> = input.parse()?;
    let abi: Option<Abi> = input.parse()?;
    let fn_token: Token![fn] = input.parse()?;
    let ident: Ident = input.parse()?;
    let mut generics: Generics = input.parse()?;

    let params;
    let paren_token = parenthesized!(params in input);
    let inputs = list(&params, errors, parameter).into_iter().collect();

    let output: ReturnType = input.parse()?;
    generics.where_clause = input.parse()?;
    let safety = unsafety.map_or(Safety::Default, Safety::Unsafe);
    let sig = Signature {
        constness,
        asyncness,
        safety,
        abi,
        fn_token,
        ident,
        generics,
        paren_token,
        inputs,
        variadic: None,
        output,
    };
    let body = body(input, &sig, errors)?;
    Ok(Function {
        attrs,
        vis,
        sig,
        body,
    })
}

fn parameter(input: ParseStream<'_>) -> syn::Result<FnArg> {
    let ahead = input.fork();
    ahead.call(Attribute::parse_outer)?;
    if ahead.peek(syn::Ident)
        && !ahead.peek2(Token![:])
        && !ahead.peek2(Token![::])
        && is_bare(&ahead)
    {
        let name: Ident = ahead.parse()?;
        skip_to_comma(input);
        return Err(syn::Error::new(
            name.span(),
            messages::parameter_without_type(&name),
        ));
    }
    let parameter = input.parse()?;
    if let FnArg::Typed(typed) = &parameter
        && let Pat::Ident(name) = &*typed.pat
        && input.peek(Token![=])
    {
        let error = input.error(messages::default_of_parameter(
            &name.ident,
            written(&typed.ty),
        ));
        skip_to_comma(input);
        return Err(error);
    }
    Ok(parameter)
}

/// Tells whether a name comes next, with nothing or a comma behind it.
fn is_bare(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Ident>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,]))
}

/// Returns a block without the invisible brackets that `macro_rules!` leaves.
fn block(tree: TokenTree) -> syn::Result<Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            syn::parse2::<TokenTree>(group.stream()).and_then(block)
        }
        TokenTree::Group(block) => Ok(block),
        other => Err(syn::Error::new(other.span(), "expected a block")),
    }
}

/// Reads the end of a function. If the next item or the end of the input comes at once, a missing `;` is reported and
/// assumed.
fn body(input: ParseStream<'_>, sig: &Signature, errors: &Errors) -> syn::Result<Body> {
    if input.peek(Token![;]) {
        return input.parse().map(Body::Semi);
    }
    if input.peek(token::Brace) {
        return block(input.parse()?).map(Body::Block);
    }
    let message = messages::no_end(&sig.ident);
    if !(input.is_empty() || input.peek(Token![#]) || input.peek(Ident::peek_any)) {
        return Err(input.error(message));
    }
    let end = match &sig.output {
        ReturnType::Type(_, ty) => end(ty),
        ReturnType::Default => sig.paren_token.span.close(),
    };
    errors.push(syn::Error::new(end, message));
    Ok(Body::Semi(Token![;](end)))
}
