use agents::tool;

/// Reads a file.
#[tool(reads, category = serach, cache = ttl, approval = sometimes)]
async fn read_file() -> String {
    String::new()
}

/// Reads a file.
#[tool(reads, cache = forever(3), approval = when)]
async fn read_again() -> String {
    String::new()
}

fn main() {}
