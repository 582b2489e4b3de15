use agents::tool;

/// Reads a file.
#[tool(reads)]
#[example(pth = "a.txt", lines = 3)]
#[example("a.txt")]
#[example(path = "a.txt", path = "b.txt")]
async fn read_file(
    /// Where it is.
    path: String,
    /// How many lines.
    #[serde(default)]
    lines: Option<u32>,
) -> String {
    format!("{path} {lines:?}")
}

fn main() {}
