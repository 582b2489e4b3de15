use agents::tool;

/// Reads a file.
#[tool(reads, writes, timeout = std::time::Duration::from_secs(1))]
async fn read_file(
    /// Where it is.
    path: String,
) -> String {
    path
}

/// Rolls a die.
#[tool(none, external)]
async fn roll() -> u8 {
    4
}

/// Tells the time.
#[tool(reads, idempotent)]
async fn clock() -> u64 {
    0
}

fn main() {}
