use agents::tool;

/// Reads.
#[tool(reads)]
#[example]
#[example({"path": "a.txt"})]
#[example(path: "a.txt")]
#[example("a.txt")]
async fn read(
    /// Where.
    path: String,
) -> String {
    path
}

fn main() {}
