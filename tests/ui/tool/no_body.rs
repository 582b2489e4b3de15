use agents::tool;

/// Reads a file.
#[tool(reads)]
async fn read_file(
    /// Where it is.
    path: String,
) -> String;

fn main() {}
