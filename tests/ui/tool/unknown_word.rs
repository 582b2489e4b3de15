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

/// Reads a file.
#[tool(reads, cache = std::time::Duration::from_secs(60), approval = when(|_| true))]
async fn read_often() -> String {
    String::new()
}

/// Reads a file.
#[tool(reads, cache = 60, approval = when(|args| args.amout > 100))]
async fn read_first(
    /// How much.
    amount: u32,
) -> u32 {
    amount
}

fn main() {}
