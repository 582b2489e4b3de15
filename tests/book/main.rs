//! Checks of the book: links have targets, shown output is what programs and the compiler print, and lists that are made
//! from the sources are up to date. `UPDATE_EXPECT=1 cargo test --test book` writes these lists.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod blocks;
mod links;
mod lists;
mod printed;
mod shown;

use std::{fs, path::Path};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
