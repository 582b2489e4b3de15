use agents::tool;

/// Finds.
#[tool(none, timeout = 3)]
async fn find() {}

fn main() {}
