use agents::tool;

/// A file.
#[tool(reads)]
#[example(path = "a.txt")]
struct ReadFile {
    path: String,
}

fn main() {}
