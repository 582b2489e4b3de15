use agents::tool;

/// Reads.
#[tool(reads, rename = "look", description = "Looks.", retries = 3)]
async fn read() {}

/// Counts.
#[tool(effects = none)]
async fn count() {}

fn main() {}
