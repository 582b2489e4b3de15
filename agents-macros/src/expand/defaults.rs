//! `#[serde(default = "Vec::new")]`: a function whose type nobody says.

use crate::{model::Param, names::plain};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{Attribute, ExprPath, LitStr, Meta};

/// The attributes of an argument, and the function that gives its default, with its type: schemars calls the one that
/// is named without saying what is wanted of it.
///
/// ```ignore
/// fn __default_of_words() -> Vec<String> { Vec::new() }
/// ```
pub(super) fn of(param: &Param, attrs: &[Attribute]) -> (Vec<Attribute>, TokenStream) {
    let (ty, mut functions) = (&param.ty, TokenStream::new());
    let name = format_ident!(
        "__default_of_{}",
        plain(&param.ident),
        span = Span::call_site()
    );
    let mut typed = |attribute: &Attribute| {
        let mut attribute = attribute.clone();
        if let Meta::List(list) = &mut attribute.meta
            && list.path.is_ident("serde")
            && let Some((tokens, given)) = renamed(&list.tokens, &name)
        {
            list.tokens = tokens;
            functions.extend(quote!(fn #name() -> #ty { #given() }));
        }
        attribute
    };
    (attrs.iter().map(&mut typed).collect(), functions)
}

/// `default = "Vec::new"` to `default = "name"`, and what stood there.
fn renamed(tokens: &TokenStream, name: &Ident) -> Option<(TokenStream, ExprPath)> {
    let mut tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let at = tokens.windows(3).position(|three| {
        matches!(three, [TokenTree::Ident(key), TokenTree::Punct(set), TokenTree::Literal(_)]
            if key == "default" && set.as_char() == '=')
    })? + 2;
    let path: LitStr = syn::parse2(tokens[at].clone().into()).ok()?;
    let given = path.parse().ok()?;
    let mut name = proc_macro2::Literal::string(&name.to_string());
    name.set_span(path.span());
    tokens[at] = name.into();
    Some((tokens.into_iter().collect(), given))
}
