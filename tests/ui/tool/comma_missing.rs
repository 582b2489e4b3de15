use agents::tool;

/// Reads a file.
#[tool(reads strict timeout = std::time::Duration::from_secs(1))]
async fn read_file() -> String {
    String::new()
}

fn main() {}
