use agents::tool;

/// Writes a file.
#[tool(writes, cache = forever, deprecated = 3, sequential = true)]
async fn write_file() -> String {
    String::new()
}

fn main() {}
