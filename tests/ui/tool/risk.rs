use agents::tool;

/// One.
#[tool(writes, risk = hihg)]
async fn one() {}

/// Two.
#[tool(writes, risk = dangerous)]
async fn two() {}

/// Three.
#[tool(writes, risk = "high")]
async fn three() {}

/// Four.
#[tool(writes, risk)]
async fn four() {}

/// Five.
#[tool(writes, risk = high, risk = low)]
async fn five() {}

/// Six.
#[tool(writes, irreversible)]
async fn six() {}

/// Seven.
#[tool(writes, irreversible = "  ")]
async fn seven() {}

/// Eight.
#[tool(writes, risk = low(3))]
async fn eight() {}

fn main() {}
