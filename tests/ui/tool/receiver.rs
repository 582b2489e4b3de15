use agents::tool;

/// Reads a file.
#[tool(reads)]
async fn read_file(
    &self,
    /// Where it is.
    path: String,
) -> String {
    path
}

fn main() {}
