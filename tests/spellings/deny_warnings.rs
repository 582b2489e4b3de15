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

tool! {
    /// Reads.
    #[tool(reads)]
    pub async fn read(#[inject] root: String) -> std::io::Result<String> {
        Ok(root)
    }

    on_error {
        execution_error(_) => retry(max_attempts = 3),
    }
}

/// Reads files.
pub struct Clerk;

#[agent(prompt = "You read.", tools = [Read { root: String::new() }])]
impl Clerk {
    /// Reads.
    #[skill]
    pub async fn work_hard(&self, request: String) -> String;

    on_error!(
        Read,
        match error {
            execution_error(_) => retry(max_attempts = 3),
        }
    );
    on_error!(match error {
        invalid_output(raw, error) => fix(format!("{raw} {error}")),
    });
}

pub(super) fn main() {
    let _ = Clerk;
    let _ = (Add { more: 1 }, Fail, Think, Count);
}
