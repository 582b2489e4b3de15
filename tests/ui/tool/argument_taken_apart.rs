use agents::tool;

/// Adds.
#[tool(none)]
async fn add(
    /// The two.
    (left, right): (i64, i64),
    /// Nothing.
    _: u8,
) -> i64 {
    left + right
}

fn main() {}
