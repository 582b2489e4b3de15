use agents::tool;

/// Finds.
#[tool(none, timeout = 3)]
async fn find() {}

/// Seeks.
#[tool(none, timeout = 30s)]
async fn seek() {}

/// Looks.
#[tool(none, timeout = 250ms)]
async fn look() {}

fn main() {}
