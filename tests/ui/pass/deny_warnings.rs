#![deny(warnings, missing_docs, unreachable_pub, rust_2018_idioms)]
//! The expansion is silent under strict lints.

use agents::{prelude::*, tool};

/// Adds.
#[tool(none)]
pub async fn add(
    /// Left.
    left: i64,
    /// Right.
    right: i64,
    #[inject] more: i64,
) -> i64 {
    left + right + more
}

/// Fails.
#[tool(none)]
pub async fn fail() -> std::io::Result<()> {
    Ok(())
}

/// You are.
#[agent]
pub async fn think(question: String) -> String;

/// Counts.
#[agent]
pub fn count(text: String) -> usize {
    text.len()
}

fn main() {
    let _ = (Add { more: 1 }, Fail, Think, Count);
}
