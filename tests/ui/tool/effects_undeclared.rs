/// Reads a file.
#[agents::tool]
async fn read_file(
    /// Where it is.
    path: String,
) -> String {
    path
}

/// The type is there all the same: one mistake is one error.
#[allow(dead_code)]
fn used() -> ReadFile {
    ReadFile
}

fn main() {}
