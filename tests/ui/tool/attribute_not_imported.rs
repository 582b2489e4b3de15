use agents::prelude::*;

/// Reads a file.
#[tool(reads)]
async fn read_file(
    /// Where it is.
    path: String,
) -> String {
    path
}

fn main() {}
