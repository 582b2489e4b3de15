use agents::tool;

const LIMIT: u64 = 3;

/// Finds.
#[tool(none, timeout = LIMIT)]
async fn find() {}

fn main() {}
