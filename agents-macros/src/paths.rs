//! The path through which generated code names the runtime, and the places of generated tokens.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::{LitStr, Path};

/// The path to the runtime in generated code: `::agents::__rt`, or `path::__rt` where the user says `crate = path`.
#[derive(Clone)]
pub(crate) struct Rt {
    root: Option<Path>,
}

impl Rt {
    /// Returns the runtime under `root`, or else under `::agents`.
    pub(crate) fn under(root: Option<Path>) -> Self {
        Rt { root }
    }

    /// Returns the path of `item` in the runtime as text, for `#[serde(crate = "..")]`.
    pub(crate) fn text(&self, item: &str) -> LitStr {
        let path = self.to_token_stream().to_string().replace(' ', "");
        LitStr::new(&format!("{path}::{item}"), Span::call_site())
    }
}

impl ToTokens for Rt {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.root {
            Some(root) => tokens.extend(quote!(#root::__rt)),
            None => tokens.extend(quote!(::agents::__rt)),
        }
    }
}

/// Gives each of `tokens` the span `span`, as if it stood there in the user's code. Tokens within brackets keep theirs.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let mut respanned = TokenStream::new();
    for mut token in tokens {
        token.set_span(span);
        respanned.append(token);
    }
    respanned
}

/// Returns a span at the place of `span` whose names belong to generated code. Lints recognise such code.
pub(crate) fn here(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// Returns `__rt::OF::NAME` for the user's `NAME`. The first word counts as the user's: rustc proposes another arm
/// only behind one that is all in or all outside of a macro. The rest counts as generated, so that no lint proposes
/// to leave it out.
pub(crate) fn qualified(of: &str, name: &Ident) -> TokenStream {
    let (rt, of) = (
        Ident::new("__rt", name.span()),
        Ident::new(of, here(name.span())),
    );
    quote!(#rt::#of::#name)
}

/// Returns the variable name `__cx` of the context, with the place and the hygiene of `site`, a token of the user.
/// About a call with names of a macro, rustc reports the whole macro.
pub(crate) fn cx(site: Span) -> Ident {
    Ident::new("__cx", site)
}

/// Returns the span of the first token; that of the macro call if there is no token.
pub(crate) fn start(tokens: &dyn ToTokens) -> Span {
    let first = tokens.to_token_stream().into_iter().next();
    first.map_or_else(Span::call_site, |token| token.span())
}

/// Returns the span of the last token, or of its closing bracket; that of the macro call if there is no token.
/// Generated code there ends where the user's tokens end.
pub(crate) fn end(tokens: &dyn ToTokens) -> Span {
    match tokens.to_token_stream().into_iter().last() {
        Some(TokenTree::Group(group)) => group.span_close(),
        Some(token) => token.span(),
        None => Span::call_site(),
    }
}
