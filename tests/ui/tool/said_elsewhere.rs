use agents::tool;

/// Reads.
#[tool(reads, name = "look", description = "Looks.", retries = 3)]
async fn read() {}

/// Counts.
#[tool(effects = none)]
async fn count() {}

fn main() {}
