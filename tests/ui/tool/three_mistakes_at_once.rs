use agents::tool;

/// Reads a file.
#[tool(timeuot = std::time::Duration::from_secs(2))]
async fn read_file(path: String) -> String {
    path
}

fn main() {}
