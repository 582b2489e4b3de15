use agents::tool;

/// Reads.
#[tool("reads")]
async fn read() {}

/// Looks.
#[tool(reads, cache = ttl(), approval = when())]
async fn look() {}

/// Listens.
#[tool(reads, cache = forever(), approval = |args, cx| true)]
async fn listen() {}

/// Counts.
#[tool(none, version = 2, approval = "always")]
async fn count() {}

fn main() {}
