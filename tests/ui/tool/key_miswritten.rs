use agents::tool;

/// Reads a file.
#[tool(reads = true, timeout, version("1.0.0"), strict(yes), crate = "agents")]
async fn read_file() -> String {
    String::new()
}

fn main() {}
