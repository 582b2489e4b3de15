use agents::tool;

/// Reads a file.
#[tool(reads, version = "1.0.0", strict, version = "2.0.0", strict)]
async fn read_file() -> String {
    String::new()
}

fn main() {}
