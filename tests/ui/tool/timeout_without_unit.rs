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

/// Searches.
#[tool(none, timeout = 2h)]
async fn search() {}

/// Waits.
#[tool(none, timeout = 2fortnights)]
async fn wait() {}

fn main() {}
