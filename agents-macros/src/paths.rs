//! The one path through which generated code names the runtime.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{LitStr, Path};

/// `::agents::__rt`, or `path::__rt` where the user says `crate = path`.
#[derive(Clone)]
pub(crate) struct Rt {
    root: Option<Path>,
}

impl Rt {
    /// The runtime under `root`; under `::agents` where nothing is said.
    pub(crate) fn under(root: Option<Path>) -> Self {
        Rt { root }
    }

    /// The path of `item` in the runtime, as text: what `#[serde(crate = "..")]` wants.
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

/// `tokens` as if the user had written them at `span`.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens.into_iter().map(at).collect()
}

/// The place of `span`, the names of generated code: lints know it for generated.
pub(crate) fn here(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// `__rt::OF::NAME`, where the user wrote `NAME`. It begins with a word of the user's, for an arm that began in a
/// macro and ended outside is nowhere that rustc could add another behind; the rest is none, so that no lint
/// asks the user to leave it out.
pub(crate) fn qualified(of: &str, name: &Ident) -> TokenStream {
    let (rt, of) = (
        Ident::new("__rt", name.span()),
        Ident::new(of, here(name.span())),
    );
    quote!(#rt::#of::#name)
}

/// A name of the macro's own, as if the user had written it: what rustc says of a call with names from
/// elsewhere, it says of the whole macro.
pub(crate) fn cx(site: Span) -> Ident {
    Ident::new("__cx", site)
}

/// The place of the first token.
pub(crate) fn start(tokens: &impl ToTokens) -> Span {
    let first = tokens.to_token_stream().into_iter().next();
    first.map_or_else(Span::call_site, |token| token.span())
}

/// The place of the last token: what is made there ends where the user's tokens end.
pub(crate) fn end(tokens: &impl ToTokens) -> Span {
    match tokens.to_token_stream().into_iter().last() {
        Some(TokenTree::Group(group)) => group.span_close(),
        Some(token) => token.span(),
        None => Span::call_site(),
    }
}
