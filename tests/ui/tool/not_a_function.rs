use agents::tool;

/// A file.
#[tool(reads)]
struct ReadFile {
    path: String,
}

fn main() {}
