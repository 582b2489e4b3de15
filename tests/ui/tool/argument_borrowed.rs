use std::path::Path;

/// Reads a file.
#[agents::tool(reads)]
async fn read_file(
    /// Where it is.
    path: &Path,
    /// What to look for.
    words: &[String],
    /// In which encoding.
    encoding: &str,
    /// Since when.
    since: Option<&str>,
) -> usize {
    path.as_os_str().len() + words.len() + encoding.len() + since.map_or(0, str::len)
}

fn main() {}
