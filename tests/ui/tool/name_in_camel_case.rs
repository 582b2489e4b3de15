use agents::tool;

/// Reads a file.
#[allow(non_snake_case)]
#[tool(reads)]
async fn ReadFile() -> String {
    String::new()
}

fn main() {}
