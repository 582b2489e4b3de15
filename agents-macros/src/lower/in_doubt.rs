//! Lowers `in_doubt`: `return done(x)` becomes `return __rt::known(done(x))`.

use super::{handed_out, returns};
use crate::ast::InDoubt;
use syn::parse_quote_spanned;

/// Rewrites the code of one `in_doubt`, so that its `return`s are converted as its value is.
pub(crate) fn in_doubt(mut doubt: InDoubt) -> InDoubt {
    returns(&mut doubt.body, |out| {
        let known = parse_quote_spanned!(out.return_token.span=> __rt::known);
        handed_out(out, known);
    });
    doubt
}
