use agents::tool;

/// One.
#[tool(writes, unknown_keys = droped)]
async fn one() {}

/// Two.
#[tool(writes, unknown_keys)]
async fn two() {}

/// Three.
#[tool(reads, unknown_keys = dropped)]
async fn three() {}

/// Four.
#[tool(writes, unknown_keys = dropped(1))]
async fn four() {}

fn main() {}
