//! The expansions of macros, as a person reads them. `UPDATE_EXPECT=1` blesses.

mod agent;
mod dir;
mod layers;
mod names;
mod structure;
mod tool;

use expect_test::ExpectFile;
use proc_macro2::TokenStream;
use std::str::FromStr;

/// Returns the tokens of a piece of source.
fn tokens(source: &str) -> TokenStream {
    TokenStream::from_str(source).expect("the source of a test is made of tokens")
}

/// Compares the code that a macro has generated, formatted, with a file in `snapshots/`.
fn check(expansion: TokenStream, snapshot: ExpectFile) {
    let file = syn::parse2(expansion).expect("an expansion is made of items");
    snapshot.assert_eq(&prettyplease::unparse(&file));
}

/// Returns the error messages in generated code, in order.
fn messages(expansion: &TokenStream) -> Vec<String> {
    let text = expansion.to_string();
    text.split("compile_error ! {")
        .skip(1)
        .filter_map(|rest| Some(rest.split('}').next()?.trim().to_owned()))
        .collect()
}
