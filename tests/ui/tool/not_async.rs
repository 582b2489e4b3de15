use agents::tool;

/// Reads a file.
#[tool(reads)]
fn read_file(
    /// Where it is.
    path: String,
) -> String {
    path
}

fn main() {}
