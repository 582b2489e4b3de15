use agents::{prelude::*, tool};

/// Finds.
#[tool(none)]
async fn find() -> String {
    3
}

/// Counts.
#[agent]
fn count(text: String) -> usize {
    text
}

fn main() {}
