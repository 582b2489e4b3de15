use agents::tool;

/// Finds.
#[tool(none, timeout = 3, version = 2)]
async fn find() {}

fn main() {}
